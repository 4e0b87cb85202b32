package shim

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

// ExitOrphaned is the exit code of the shim when the runner went away while the
// server was running: our fault, not the server's. Shells and runtimes use 127 for
// "not found" and 126 for "not executable".
const ExitOrphaned = 125

// treeDeadline bounds how long killing the server's tree may take; a process in
// an uninterruptible sleep must not hold up the deletion of the Pod.
const treeDeadline = 4 * time.Second

// termGrace is the time that the server has to act on SIGTERM. As in an MCP session
// (lifecycle, shutdown of stdio), that comes after the end of stdin.
const termGrace = 500 * time.Millisecond

// orphanGrace is the time that processes which the server has left behind have to act undisturbed.
const orphanGrace = 300 * time.Millisecond

// StartBarrier holds a server's process just before its exec.
type StartBarrier struct {
	// PID is the process to attach to; 0 if there is none yet, because the tracer
	// is a parent of ours already.
	PID int
	// Open starts the real command, with the stops that the tracer needs. It returns the
	// server's pid once the exec succeeded, or an error in words for people.
	Open func(stops ptrace.Stops) (int, error)
	// Abandon ends the process instead.
	Abandon func()
}

// Spawn makes the barrier for one run of the server, with its standard streams,
// its environment, and arguments after those of its command.
type Spawn func(stdio []*os.File, env, arguments []string) (*StartBarrier, error)

// Supervise serves one runner on conn until it hangs up, and returns the shim's
// exit code: 0 if no run was left, the server's own status (128 + signal if it was
// killed) if it ended by itself, else ExitOrphaned. The caller is a child subreaper
// or the first process of a PID namespace.
func Supervise(conn *net.UnixConn, spawn Spawn) int {
	s := &supervisor{conn: conn, spawn: spawn, terminated: make(chan os.Signal, 1)}
	signal.Notify(s.terminated, syscall.SIGTERM, syscall.SIGINT)
	orders := make(chan order)
	go func() {
		defer close(orders)
		for {
			m, files, err := receive(conn)
			if err != nil {
				return
			}
			orders <- order{m, files}
		}
	}()
	return s.serve(orders)
}

type order struct {
	message
	files []*os.File
}

type supervisor struct {
	conn       *net.UnixConn
	spawn      Spawn
	barrier    *StartBarrier
	parting    []syscall.Signal
	run        *run
	last       syscall.WaitStatus
	terminated chan os.Signal
}

type run struct {
	// exited yields the status of the server's own process, once.
	exited chan syscall.WaitStatus
	// empty is closed when no descendant is left.
	empty chan struct{}
	// parting are the signals that ask it to end, in order.
	parting []syscall.Signal
}

func (s *supervisor) serve(orders <-chan order) int {
	for {
		var exited <-chan syscall.WaitStatus
		if s.run != nil {
			exited = s.run.exited
		}
		select {
		case o, ok := <-orders:
			if !ok {
				return s.end()
			}
			if err := s.obey(o); err != nil {
				fmt.Fprintln(os.Stderr, "mcpaudit shim:", err)
				return s.end()
			}
		case status := <-exited:
			s.last = status
			s.run.exited = nil
			_ = send(s.conn, message{Kind: kindExited, Status: status}) // a lost runner shows as the end of orders
		case <-s.terminated:
			return s.end()
		}
	}
}

// obey carries out one order. An error is a breach of the protocol: the peer is not
// our runner, and the run must end.
func (s *supervisor) obey(o order) error {
	switch o.Kind {
	case kindSetup:
		return s.setup(o)
	case kindGo:
		return s.open(o.Stops)
	case kindStop:
		s.terminate()
		s.stop()
		return send(s.conn, message{Kind: kindStopped})
	default:
		closeAll(o.files)
		return fmt.Errorf("got message %q", o.Kind)
	}
}

func (s *supervisor) setup(o order) error {
	defer closeAll(o.files)
	if s.barrier != nil || s.run != nil || len(o.files) != 3 || o.Setup == nil {
		return fmt.Errorf("got a setup with %d descriptors out of turn", len(o.files))
	}
	env, err := o.Setup.environment()
	if err != nil {
		return send(s.conn, message{Kind: kindFailed, Text: err.Error()})
	}
	var notes []string
	plant := planter{o.Setup.Names}
	if in := o.Setup.StandIns; in != nil {
		dir := plant.Out(standInDir)
		if err := in.plant(dir); err != nil {
			notes = append(notes, fmt.Sprintf("no stand-ins for programs that are missing: %v", err))
		}
		env = searched(env, dir)
	}
	barrier, err := s.spawn(o.files, env, o.Setup.Arguments)
	if err != nil {
		return send(s.conn, message{Kind: kindFailed, Text: err.Error()})
	}
	s.barrier, s.parting = barrier, o.Setup.Parting
	if s.parting == nil {
		s.parting = []syscall.Signal{syscall.SIGTERM}
	}
	ready := message{Kind: kindReady, PID: barrier.PID}
	if err := plant.ordinary("/", o.Setup.Files); err != nil {
		notes = append(notes, fmt.Sprintf("no ordinary files for tools to read: %v", err))
	}
	for _, dir := range o.Setup.Dirs {
		plant.below(dir, o.Setup.Files)
	}
	if len(o.Setup.Lures) > 0 {
		_ = os.Symlink(plant.Out(inputs.OutsideDir), inputs.OutsideDir) // for payloads in Base64, whose names are not replaced
		archives := inputs.ArchiveFiles(plant.Names)
		plant.below(inputs.OutsideDir, slices.Concat(archives, inputs.OutsideFilesOf(o.Setup.Outside)))
		for _, dir := range o.Setup.Lures {
			plant.lures(dir, archives, o.Setup.Outside)
		}
	}
	plant.age(o.Setup.Aged)
	if o.Setup.Project {
		plant.project(".")
		open := plant.Out(filepath.Join("/tmp", inputs.ProjectDir))
		_ = os.Mkdir(open, 0o755) // it may exist from an earlier launch
		plant.project(open)
	}
	ready.Text = strings.Join(notes, "; ")
	return send(s.conn, ready)
}

func (s *supervisor) open(stops ptrace.Stops) error {
	if s.barrier == nil {
		return errors.New("got a go without a setup")
	}
	pid, err := s.barrier.Open(stops)
	s.barrier = nil
	if err != nil {
		return send(s.conn, message{Kind: kindFailed, Text: err.Error()})
	}
	s.run = &run{exited: make(chan syscall.WaitStatus, 1), empty: make(chan struct{}), parting: s.parting}
	go s.run.reap(pid)
	return send(s.conn, message{Kind: kindStarted})
}

// reap collects every dead descendant until none is left. Orphans become our
// children, whatever sessions and groups they made.
func (r *run) reap(server int) {
	exited := r.exited
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			close(r.empty)
			return
		case pid == server:
			exited <- status
		}
	}
}

// terminate asks the server to end, so that the trace shows what it does then.
func (s *supervisor) terminate() {
	if s.run == nil {
		return
	}
	if s.run.emptied(0) {
		return
	}
	if s.run.exited == nil && s.run.emptied(orphanGrace) {
		return
	}
	for _, signal := range s.run.parting {
		signalDescendants(signal)
		if s.run.emptied(termGrace) {
			return
		}
	}
}

// emptied waits for the end of all descendants, and reports whether it came in time.
func (r *run) emptied(within time.Duration) bool {
	select {
	case <-r.empty:
		return true
	case <-time.After(within):
		return false
	}
}

// stop kills the run and forgets it.
func (s *supervisor) stop() {
	if s.barrier != nil {
		s.barrier.Abandon()
		s.barrier = nil
	}
	if s.run == nil {
		return
	}
	deadline := time.After(treeDeadline)
	for done := false; !done; {
		signalDescendants(syscall.SIGKILL)
		select {
		case <-s.run.empty:
			done = true
		case <-deadline:
			done = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	select {
	case status := <-s.run.exited:
		_ = send(s.conn, message{Kind: kindExited, Status: status}) // a lost runner shows as the end of orders
	default:
	}
	s.run = nil
}

// end kills the run and returns the shim's exit code.
func (s *supervisor) end() int {
	if s.run == nil && s.barrier == nil {
		return 0
	}
	alive := s.barrier != nil || s.run.exited != nil
	s.stop()
	switch {
	case alive:
		return ExitOrphaned
	case s.last.Signaled():
		return 128 + int(s.last.Signal())
	default:
		return s.last.ExitStatus()
	}
}
