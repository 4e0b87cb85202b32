// Package sandbox runs a server on the local machine, for the command line, in
// namespaces of its own:
//
//	mcpaudit                        the machine
//	└─ outer    PID, mount, network, IPC and UTS namespaces (and a user
//	   │        namespace where we are not root): every address is local, the
//	   │        server's root is built, and the sinkhole answers
//	   └─ the tracer
//	      └─ enter
//	         └─ init                PID and mount namespaces once more, whose first
//	            └─ supervise        process is no server's parent: the shim's
//	               └─ the server    supervisor, then the server without a capability
//
// The server sees the machine's files with its own changes on top, which are
// gone afterwards; its home has decoys where secrets are; neither the tracer
// nor any process of the machine exists for it. All stages are this same
// program (Stage). The outermost ends when the command line does, however that
// happens, and its end is the end of all: no process or mount stays. An empty directory
// does when the command line was killed; the next one removes it (package scratch).
package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/image"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lasting"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/scratch"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// endDeadline bounds how long the namespaces may take to go.
const endDeadline = 10 * time.Second

// notePrefix marks a stage's messages that are not failures.
const notePrefix = "note: "

// maxSaid bounds the kept end of the stages' messages, in bytes.
const maxSaid = 8192

// maxTrace bounds the trace of one run, in bytes.
const maxTrace = 1 << 30

// Launcher starts a command in a sandbox.
type Launcher struct {
	// Network says what becomes of connections: Sinkhole unless it is set.
	Network report.Network
	// Tracer is the backend to use; Auto and "" choose one.
	Tracer plan.Tracer
	// Env is set in the server's environment ("NAME=value").
	Env []string
	// Keep has the traces kept whole after the audit.
	Keep bool
	// Named are the words that the user wrote for the command: the files that they name are shown. Nil: the command.
	Named []string
	// Memory bounds the memory of each run, in bytes; 0 is DefaultMemory.
	Memory int64

	// bindOnly has the sandbox act as if the kernel refused overlays.
	bindOnly bool
	// image has the files that the server sees; nil for the machine's.
	image    *image.Image
	command  []string
	dir      string
	home     string
	host     string
	person   person
	decoys   decoy.Set
	traceDir string
	runs     int
	// view belongs to the latest run.
	view view
	// scratch is where the server's root is built, state what the last run has left
	// there; nil before the first.
	scratch *scratch.Dir
	state   *os.File
}

// New makes a launcher for a command that is to run in the current directory,
// with decoys in the user's home. The traces are written to traceDir, as
// trace.txt; a second run's as trace-2.txt.
func New(command []string, traceDir string) (*Launcher, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	home := homeOf(os.Environ())
	decoys, err := decoy.New(home, true)
	if err != nil {
		return nil, err
	}
	if traceDir, err = filepath.Abs(traceDir); err != nil {
		return nil, err
	}
	host := newHost()
	return &Launcher{
		Network: report.NetworkSinkhole, command: command, dir: dir, home: home, host: host, person: newPerson(host, home), decoys: decoys, traceDir: traceDir,
	}, nil
}

// Decoys returns those that the sandbox plants.
func (l *Launcher) Decoys() decoy.Set { return l.decoys }

// Dir is the working directory of the server.
func (l *Launcher) Dir() string { return l.dir }

// Launch starts the server. The error wraps trace.ErrUnavailable when it was the
// tracer that could not be had.
func (l *Launcher) Launch(ctx context.Context, how audit.Start) (audit.Process, error) {
	l.runs++
	name := "trace.txt"
	if l.runs > 1 {
		name = fmt.Sprintf("trace-%d.txt", l.runs)
	}
	if err := os.Remove(filepath.Join(l.traceDir, name)); err != nil && !errors.Is(err, os.ErrNotExist) { // a link could lead to any file of the user's
		return nil, fmt.Errorf("remove an earlier trace: %w", err)
	}
	tracer := trace.Choose(ctx, l.Tracer, how.Clock)
	if tracer == plan.TracerStrace {
		if _, err := trace.Version(ctx); err != nil {
			return nil, err
		}
	}
	cfg := trace.Config{Backend: tracer, Clock: how.Clock, Home: l.home, File: filepath.Join(l.traceDir, name), Reexec: self, Loads: inputs.Planted,
		MaxBytes: maxTrace, Keep: l.Keep}
	var err error
	if cfg.Shim, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find our own program: %w", err)
	}
	var as person
	if how.Person {
		as = l.person
	}
	how.Env = slices.Concat(l.imageEnv(how), l.Env, how.Env, as.env(l.Env))
	if as.Home != l.home {
		cfg.Alias = as.Home
	}
	if how.Decoys == nil {
		how.Decoys = &l.decoys
	}
	b, err := l.begin(cfg, how)
	if err != nil {
		return nil, err
	}
	p, err := b.start(ctx, cfg, l, how)
	if err != nil {
		b.end()
		close(b.abandoned)
		return nil, b.explain(err)
	}
	return p, nil
}

// box is the namespaces and what leads into them.
type box struct {
	cmd      *exec.Cmd
	mount    string
	lifeline *os.File
	link     *shim.Link
	dialer   dialer
	// state is where the outer stage sends the server's file system.
	state *net.UnixConn
	said  *audit.Tail
	gone  chan struct{}
	// limits are the control groups; starved is whether memory ran out in them.
	limits *confinement
	// view holds the machine's files that the server sees, without what is mounted over them.
	view    view
	starved bool
	// image: the server sees none of the machine's files.
	image bool
	// captures come from the outer stage; nil where it has no sinkhole.
	captures  chan sinkhole.Capture
	abandoned chan struct{}
	// deaf: the outer stage could not be told of a call.
	deaf bool
}

// begin starts the outer stage.
func (l *Launcher) begin(cfg trace.Config, how audit.Start) (*box, error) {
	mount, err := l.mountpoint()
	if err != nil {
		return nil, err
	}
	b := &box{mount: mount, said: audit.NewTail(maxSaid), gone: make(chan struct{}), abandoned: make(chan struct{})}
	if err := b.run(cfg, l, how); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *box) run(cfg trace.Config, l *Launcher, how audit.Start) error {
	network := l.Network
	if how.Refuse {
		network = report.NetworkDeny
	}
	e, err := newEnds()
	if err != nil {
		return err
	}
	b.cmd = exec.Command(cfg.Shim, stageOuter)
	b.cmd.Env = environment(l.environ(), l.home, append(how.Decoys.Env(), l.networkEnv(how)...))
	b.cmd.Stdout, b.cmd.Stderr = b.said, b.said
	b.cmd.ExtraFiles = e.theirs
	if l.state != nil {
		b.cmd.ExtraFiles = append(e.theirs, l.state)
	}
	b.cmd.SysProcAttr = namespaces(os.Getuid(), os.Getgid(), network)
	err = b.cmd.Start()
	e.closeTheirs() // the stage has copies
	if err != nil {
		e.closeOurs()
		return refused(err)
	}
	if b.limits, err = confine(b.cmd.Process.Pid, cmp.Or(l.Memory, DefaultMemory)); err != nil { // it has no child yet: it waits for its plan
		b.limits = &confinement{unbounded: []string{fmt.Sprintf("nothing bounds what the server uses: %v", err)}}
	}
	b.catch(e.captures, network)
	b.lifeline, b.link, b.dialer, b.state = e.spec, shim.NewLink(e.link), dialer{e.dials}, e.state
	go func() {
		_ = b.cmd.Wait() // its state says more
		close(b.gone)
	}()
	kept := l.kept()
	command, dir := l.command, l.dir
	if how.Script != nil {
		command, dir = how.Script.Command, how.Script.Dir
	}
	plan := spec{
		Names: how.Names,
		Mount: b.mount, Private: []string{b.mount, l.traceDir}, Dir: dir, Home: l.home, Decoys: *how.Decoys, Command: command,
		Keep: kept, Homes: homesOf(kept, os.Getenv("SUDO_UID")), Network: network, Tracer: l.tracerOf(trace.Wrap(cfg, nil)), Image: l.image, Again: l.state != nil,
		BindOnly: l.bindOnly, StandIns: len(how.StandIns) > 0, Clock: how.Clock, Parent: cmp.Or(how.Parent, noParent), Host: l.host,
	}
	if how.Person {
		plan.Person = l.person
	}
	b.view, b.image = plan.view(nil), l.image != nil
	l.view = b.view
	if table, err := os.ReadFile("/proc/net/unix"); err == nil {
		plan.Sockets = sockets(string(table))
	}
	if err := json.NewEncoder(b.lifeline).Encode(plan); err != nil && !errors.Is(err, syscall.EPIPE) {
		b.end()
		return fmt.Errorf("tell the sandbox its plan: %w", err)
	}
	return nil
}

// start lets the server run in the box.
func (b *box) start(ctx context.Context, cfg trace.Config, l *Launcher, how audit.Start) (*process, error) {
	setup := shim.NewSetup(how)
	if len(how.StandIns) > 0 {
		setup.StandIns = &shim.StandIns{Program: how.Names.Out(standInProgram), Names: how.StandIns}
	}
	if l.image != nil && l.image.Home != "" && l.image.Home != l.home { // else the image's files are there
		setup.Home, setup.ImageHome = l.home, l.image.Home
	}
	run, err := b.link.Setup(ctx, setup)
	if err != nil {
		l.salvage(b)
		return nil, err
	}
	if err := l.keepState(b); err != nil {
		run.Close()
		return nil, err
	}
	cfg.Names, cfg.Stdin, cfg.Stdout = how.Names, run.StdinInode, run.StdoutInode
	if how.Listens {
		cfg.Stdout = 0
	}
	session, err := trace.Follow(cfg)
	if err != nil {
		run.Close()
		return nil, err
	}
	go func() {
		<-b.gone
		session.Ended()
	}()
	// The server's files lie where only the box has them mounted.
	root := fmt.Sprintf("/proc/%d/root%s/root", b.cmd.Process.Pid, b.mount)
	watch, err := how.Decoys.Watch(ctx, root)
	if err != nil {
		run.Close()
		return nil, err
	}
	changes := lasting.Begin(root, l.home, true)
	if err := b.link.Go(ctx, ptrace.AtNone); err != nil {
		run.Close()
		_ = watch.End()
		return nil, err
	}
	return &process{Traced: shim.Traced{Run: run, Session: session, Watch: watch, Lasting: changes}, box: b}, nil
}

// end takes everything down: gently, so that the tracer can write its last line,
// and then by closing the lifeline, which nothing inside survives.
func (b *box) end() {
	_ = b.dialer.conn.Close() // nobody asks any more
	_ = b.link.Close()        // the supervisor sees the end of the link and exits
	_ = b.state.Close()       // nothing comes any more
	select {
	case <-b.gone:
	case <-time.After(endDeadline):
	}
	_ = b.lifeline.Close() // outer exits at once
	select {
	case <-b.gone:
	case <-time.After(endDeadline):
		_ = b.cmd.Process.Kill() // the first process of a namespace takes all others along
		<-b.gone
	}
	b.starved = b.limits.killed()
	b.limits.remove()
}

// explain says what went wrong in the box, from its stages' messages.
func (b *box) explain(err error) error {
	if errors.Is(err, shim.ErrNotStarted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	said := strings.TrimSpace(b.said.String())
	switch code := b.cmd.ProcessState.ExitCode(); {
	case said == "":
		return fmt.Errorf("start the sandbox: %w (exit code %d)", err, code)
	case code == exitBroken:
		return fmt.Errorf("start the sandbox: %s", said)
	default:
		return trace.Unavailable(said)
	}
}

// namespaces returns the namespaces of the outer stage. Someone who is not root needs a user
// namespace, in which the ids stay the same and the capabilities are ambient, so
// that they survive every exec up to the server's.
func namespaces(uid, gid int, network report.Network) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Setsid:     true, // Ctrl-C is for the command line alone
	}
	if network != report.NetworkAllow {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	if uid == 0 {
		return attr
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = allCapabilities()
	return attr
}

// refused explains why the namespaces could not be had (clone(2), ERRORS).
func refused(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EUSERS):
		return fmt.Errorf("make the namespaces: %w: raise user.max_user_namespaces (sysctl)", err)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("make the namespaces: %w: allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "+
			"kernel.apparmor_restrict_unprivileged_userns=0), or run as root; in a container, add CAP_SYS_ADMIN", err)
	default:
		return fmt.Errorf("make the namespaces: %w", err)
	}
}
