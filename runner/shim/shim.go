// Package shim connects the server under audit with the runner that watches it.
// It has two ends.
//
// In the server's container (or sandbox) Supervise is the entrypoint. It holds a
// connection to the runner, takes the server's standard streams from it, and
// starts the real command only when told to:
//
//	runner                            shim
//	  setup{env} + 3 descriptors  ->    makes the server's process, which blocks
//	  <-  ready{pid}                    ... the runner attaches its tracer ...
//	  go{stops}                   ->    the process executes the real command
//	  <-  started | failed{text}
//	  <-  exited{status}
//	  stop                        ->    ends the whole tree: SIGTERM, soon SIGKILL
//	  <-  stopped                       ... setup may follow: a second run ...
//	  (end of the connection)     ->    kills the whole tree and exits
//
// So the first observed system call of the server is its own execve, and when the
// runner dies in any way the server's processes die too.
//
// In the runner Link is the other end; Accept makes it in an audit Pod. Messages are
// JSON after a length. A hostile server may kill or imitate the peer once it runs, so
// both ends treat the other as untrusted: lengths are bounded and order is checked.
package shim

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/counters"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

// maxMessage bounds one message, in bytes. The largest is setup, with the planted files (TestFilesAreSmall of
// package inputs).
const maxMessage = 128 << 10

// kind says what a message is for.
type kind string

const (
	kindSetup   kind = "setup"
	kindReady   kind = "ready"
	kindGo      kind = "go"
	kindStarted kind = "started"
	kindFailed  kind = "failed"
	kindExited  kind = "exited"
	kindStop    kind = "stop"
	kindStopped kind = "stopped"
)

// message is one message in either direction; each kind uses its own fields.
type message struct {
	Kind kind `json:"kind"`
	// Setup says how the server is started.
	Setup *Setup `json:"setup,omitempty"`
	// Stops of go says where the process stops for the attached tracer
	// (ptrace.Install); none for strace.
	Stops ptrace.Stops `json:"stops,omitempty"`
	// PID of ready is the process that becomes the server.
	PID int `json:"pid,omitempty"`
	// Text of failed says why the command could not be started; that of ready, what
	// could not be set up fully.
	Text string `json:"text,omitempty"`
	// Status of exited, as wait(2) reports it.
	Status syscall.WaitStatus `json:"status,omitempty"`
}

// Setup says how the server is started.
type Setup struct {
	// Names are what the server sees in place of the names in the rest.
	Names *pseudonym.Names `json:"names,omitempty"`
	// Env has "NAME=value" for the server's environment, for names that are not set.
	// Set has the same, in place of set ones.
	Env []string `json:"env,omitempty"`
	Set []string `json:"set,omitempty"`
	// Home is the server's home, in place of ImageHome, that of its user in the image; "" leaves HOME as it is. Without
	// ImageHome it is that of the shim's user.
	Home      string `json:"home,omitempty"`
	ImageHome string `json:"imageHome,omitempty"`
	// Arguments come after those of the command.
	Arguments []string `json:"arguments,omitempty"`
	// Files are put below /tmp and each existing one of Dirs, unless they exist. Dirs
	// are absolute.
	Files []inputs.File `json:"files,omitempty"`
	// StandIns are programs to provide; nil for none.
	StandIns *StandIns `json:"standIns,omitempty"`
	Dirs     []string  `json:"dirs,omitempty"`
	// Lures are directories that get a link and a sibling (inputs.LinkName, inputs.Sibling).
	// If there are any, inputs.OutsideFilesOf Outside are put where the links lead.
	Lures   []string `json:"lures,omitempty"`
	Outside []string `json:"outside,omitempty"`
	// Project: inputs.Project is put in the working directory and in inputs.ProjectDir.
	Project bool `json:"project,omitempty"`
	// Aged are files of the server's that get the content that they would have after long use.
	Aged []counters.File `json:"aged,omitempty"`
	// Parting are the signals by which the server is ended, one after the other; nil for SIGTERM.
	Parting []syscall.Signal `json:"parting,omitempty"`
	// Sockets: the streams are socket pairs in place of pipes.
	Sockets bool `json:"-"`
}

// NewSetup returns what both launchers pass on of a start.
func NewSetup(how audit.Start) Setup {
	return Setup{
		Names: how.Names, Set: how.Env, Arguments: how.Arguments, Files: inputs.Files(), Dirs: how.Dirs, Lures: how.Lures, Outside: how.Outside,
		Project: how.Project, Aged: how.Aged, Sockets: how.Sockets, Parting: how.Parting,
	}
}

// send writes m, with the descriptors of files.
func send(conn *net.UnixConn, m message, files ...*os.File) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Kind, err)
	}
	if len(body) > maxMessage {
		return fmt.Errorf("send %s: %d bytes are more than %d", m.Kind, len(body), maxMessage)
	}
	packet := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(fds...)
	}
	n, _, err := conn.WriteMsgUnix(packet, rights, nil)
	if err == nil && n < len(packet) {
		_, err = conn.Write(packet[n:])
	}
	if err != nil {
		return fmt.Errorf("send %s: %w", m.Kind, err)
	}
	return nil
}

// receive reads one message and its descriptors, which are close-on-exec. io.EOF
// means that the peer is gone.
func receive(conn *net.UnixConn) (message, []*os.File, error) {
	header, oob := make([]byte, 4), make([]byte, syscall.CmsgSpace(3*4))
	n, oobn, flags, _, err := conn.ReadMsgUnix(header, oob)
	if err != nil {
		return message{}, nil, err
	}
	files, err := descriptors(oob[:oobn], flags)
	if err != nil {
		return message{}, nil, err
	}
	m, err := receiveBody(conn, header, n)
	if err != nil {
		closeAll(files)
		return message{}, nil, err
	}
	return m, files, nil
}

func receiveBody(conn *net.UnixConn, header []byte, n int) (message, error) {
	if n == 0 {
		return message{}, io.EOF
	}
	if _, err := io.ReadFull(conn, header[n:]); err != nil {
		return message{}, fmt.Errorf("receive a message's length: %w", err)
	}
	length := binary.BigEndian.Uint32(header)
	if length > maxMessage {
		return message{}, fmt.Errorf("receive a message: %d bytes are more than %d", length, maxMessage)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(conn, body); err != nil {
		return message{}, fmt.Errorf("receive a message: %w", err)
	}
	return decode(body)
}

func decode(body []byte) (message, error) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return message{}, fmt.Errorf("decode a message: %w", err)
	}
	return m, nil
}

// descriptors returns the files of control messages: all of them, or none with an
// error.
func descriptors(oob []byte, flags int) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	controls, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("receive descriptors: %w", err)
	}
	var files []*os.File
	for i := range controls {
		fds, err := syscall.ParseUnixRights(&controls[i])
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("receive descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "stdio"))
		}
	}
	if flags&syscall.MSG_CTRUNC != 0 {
		closeAll(files)
		return nil, errors.New("receive descriptors: more than 3 came")
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // not yet read or written
	}
}
