package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// stageBox runs this program as the first process of a server's namespaces.
const stageBox = "bench-box"

// The box's descriptors besides the standard ones. A byte on the gate starts the server, and
// closing the gate ends the box; the box writes a byte to ready once the namespaces are set up.
const (
	gateFD  = 3
	readyFD = 4
)

// maxSaid bounds the kept end of stderr in bytes; endDeadline bounds the server's exit after its
// stdin is closed.
const (
	maxSaid     = 4096
	endDeadline = 10 * time.Second
)

// boxPlan says what the box runs.
type boxPlan struct {
	Command []string
	// Attach traces by attaching to the process that becomes the command; nil if the command is a
	// tracer's or is not traced.
	Attach *trace.Config
}

// box sets up the namespaces, waits for the gate and runs the command. Only the command is
// measured.
func box(args []string) error {
	var plan boxPlan
	if err := json.Unmarshal([]byte(args[0]), &plan); err != nil {
		return err
	}
	unix.CloseOnExec(gateFD)
	unix.CloseOnExec(readyFD)
	gate, ready := os.NewFile(gateFD, "gate"), os.NewFile(readyFD, "ready")
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	// strace looks up its tracees in /proc, which must be our namespace's.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	server, err := prepareServer(plan)
	if err != nil {
		return err
	}
	if _, err := ready.Write([]byte{1}); err != nil {
		return err
	}
	if _, err := gate.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for the gate: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, gate) // ends with the parent
		os.Exit(1)
	}()
	return server()
}

// boxed is the parent's side of a box.
type boxed struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	gate   *os.File
	said   *audit.Tail
	gone   chan struct{}
}

// enclose starts a box and waits until it is ready. The box has no network, not even a loopback
// device that is up. It ends with ctx.
func enclose(ctx context.Context, l launch, pipes *stdio, plan boxPlan) (*boxed, error) {
	encoded, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", stageBox, string(encoded))
	b := &boxed{
		cmd: cmd, stdin: pipes.stdin.write, stdout: pipes.stdout.read, gate: pipes.gate.write,
		said: audit.NewTail(maxSaid), gone: make(chan struct{}),
	}
	cmd.Dir = l.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "LANG=C.UTF-8"}, l.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.stdin.read, pipes.stdout.write, b.said
	cmd.ExtraFiles = []*os.File{pipes.gate.read, pipes.ready.write}
	cmd.SysProcAttr = namespaces(os.Getuid(), os.Getgid())
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("make the namespaces: %w", err)
	}
	pipes.closeTheirs()
	go func() {
		_ = cmd.Wait() // explain adds stderr
		close(b.gone)
	}()
	if _, err := pipes.ready.read.Read(make([]byte, 1)); err != nil {
		return nil, b.explain(err)
	}
	return b, nil
}

// namespaces returns the namespaces of the product's sandbox, with a user namespace unless the
// user is root.
func namespaces(uid, gid int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Setsid:     true,
	}
	if uid == 0 {
		return attr
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE}
	return attr
}

// end closes the server's stdin, waits for it, and kills what is left.
func (b *boxed) end() {
	_ = b.stdin.Close()
	select {
	case <-b.gone:
	case <-time.After(endDeadline):
	}
	_ = b.gate.Close() // what is left in the namespaces is killed
	<-b.gone
}

// explain adds the output of the box and the server to an error.
func (b *boxed) explain(err error) error {
	b.end()
	if said := strings.TrimSpace(b.said.String()); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// pipe has both ends of a pipe.
type pipe struct{ read, write *os.File }

// stdio has the pipes of a box. They are created first: the reader of the trace identifies the
// conversation by their inodes.
type stdio struct{ stdin, stdout, gate, ready pipe }

func newStdio() (*stdio, error) {
	s := &stdio{}
	for _, p := range []*pipe{&s.stdin, &s.stdout, &s.gate, &s.ready} {
		var err error
		if p.read, p.write, err = os.Pipe(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// closeTheirs closes the ends that the box has inherited.
func (s *stdio) closeTheirs() {
	for _, f := range []*os.File{s.stdin.read, s.stdout.write, s.gate.read, s.ready.write} {
		_ = f.Close() // nothing was written
	}
}

// close closes all pipes.
func (s *stdio) close() {
	for _, p := range []pipe{s.stdin, s.stdout, s.gate, s.ready} {
		_, _ = p.read.Close(), p.write.Close() // an os.File may be closed twice, and be nil
	}
}
