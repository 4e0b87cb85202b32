package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lasting"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// maxTrace bounds the trace of one run, in bytes, below the size limit of
	// the Pod's volume for it.
	maxTrace = 768 << 20
	// lastLines limits how long the tracer may take to write the end of its trace after
	// the last process of the server has gone.
	lastLines = 5 * time.Second
)

// Launcher starts the server of an audit Pod: it waits for the shim, attaches
// the tracer to the process that becomes the server, and opens the barrier.
type Launcher struct {
	// Socket is the path of the unix socket on the volume that both containers
	// share; TraceDir is a directory of the runner alone.
	Socket, TraceDir string
	// Tracer is the backend to use; for Auto and "" trace.Choose decides.
	Tracer plan.Tracer
	// Env is added to the server's environment besides the decoys, for names that are not set.
	Env []string

	// Decoys were planted for the server.
	Decoys decoy.Set
	// Sinkhole, when set, answers the server's connections.
	Sinkhole *sinkhole.Config

	link *Link
	runs int
}

// Launch starts the server. Later launches use the same shim, and find the
// container's files as earlier ones left them.
func (l *Launcher) Launch(ctx context.Context, how audit.Start) (audit.Process, error) {
	if l.link == nil {
		link, err := Accept(ctx, l.Socket)
		if err != nil {
			return nil, err
		}
		l.link = link
	}
	if how.Decoys == nil {
		how.Decoys = &l.Decoys
	}
	if l.runs > 0 {
		if err := how.Decoys.Replant(l.Decoys.Home, decoy.Shared); err != nil {
			return nil, err
		}
	}
	runSinkhole, err := l.serve(how)
	if err != nil {
		return nil, err
	}
	p, err := l.start(ctx, how)
	if err != nil {
		runSinkhole.close()
		return nil, err
	}
	p.runSinkhole = runSinkhole
	return p, nil
}

func (l *Launcher) start(ctx context.Context, how audit.Start) (*process, error) {
	env := l.Env
	if how.Untold {
		env = sinkhole.Untold(env)
	}
	setup := NewSetup(how)
	setup.Env, setup.Home = slices.Concat(how.Decoys.Env(), env), l.Decoys.Home
	if len(how.StandIns) > 0 {
		program, err := l.shim()
		if err != nil {
			return nil, err
		}
		setup.StandIns = &StandIns{Program: program, Names: how.StandIns}
	}
	run, err := l.link.Setup(ctx, setup)
	if errors.Is(err, errGone) && l.runs > 0 {
		return nil, fmt.Errorf("%w: %w", audit.ErrSupervisorKilled, err)
	}
	if err != nil {
		return nil, err
	}
	tracer := trace.Choose(ctx, l.Tracer, how.Clock)
	session, err := l.attach(ctx, tracer, run, how)
	if err != nil {
		l.link.abandon(run)
		return nil, err
	}
	watch, err := how.Decoys.Watch(ctx, "/")
	if err != nil {
		l.link.abandon(run)
		session.Stop()
		return nil, err
	}
	stops := ptrace.AtNone
	if tracer == plan.TracerPtrace {
		stops = ptrace.StopsFor(how.Clock)
	}
	changes := lasting.Begin(fmt.Sprintf("/proc/%d/root", l.link.peer), l.Decoys.Home, false)
	if err := l.link.Go(ctx, stops); err != nil {
		l.link.abandon(run)
		session.Stop()
		_ = watch.End()
		return nil, err
	}
	return &process{Traced: Traced{run, session, watch, changes}, link: l.link}, nil
}

func (l *Launcher) attach(ctx context.Context, tracer plan.Tracer, run *Run, how audit.Start) (*trace.Session, error) {
	if err := l.link.verifyPeer(run.PID); err != nil {
		return nil, err
	}
	_ = os.Remove(l.file()) // the last run's trace was read; the volume has room for one
	l.runs++
	cfg := trace.Config{
		Backend: tracer, Clock: how.Clock, File: l.file(),
		Names: how.Names, Stdin: run.StdinInode, Stdout: run.StdoutInode, Loads: inputs.Planted, MaxBytes: maxTrace,
	}
	if how.Listens {
		cfg.Stdout = 0
	}
	return trace.Attach(ctx, run.PID, cfg)
}

// file returns the path of the latest run's trace.
func (l *Launcher) file() string {
	return filepath.Join(l.TraceDir, fmt.Sprintf("trace-%d.txt", l.runs))
}

// Close hangs up on the shim, which kills whatever is left of the server.
func (l *Launcher) Close() error {
	if l.link == nil {
		return nil
	}
	return l.link.Close()
}

// verifyPeer makes sure that a pid from the shim is its child: without a shared PID
// namespace it could be one of our own processes.
func (l *Link) verifyPeer(pid int) error {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err == nil {
		if parent, ok := parentOf(stat); ok && parent == l.peer && parent > 0 {
			return nil
		}
	}
	return fmt.Errorf("process %d is not a child of the shim %d: the containers have to share a PID namespace (shareProcessNamespace)", pid, l.peer)
}

// Traced is a run with its trace, and with the watches on the files beside it: what is the same in a sandbox and in a Pod.
type Traced struct {
	*Run
	Session *trace.Session
	Watch   *decoy.Watch
	Lasting *lasting.Watch
}

// Streams returns our ends of the server's streams.
func (t *Traced) Streams() (io.WriteCloser, io.ReadCloser, io.ReadCloser) {
	return t.Stdin, t.Stdout, t.Stderr
}

// Trace returns the trace.
func (t *Traced) Trace() *trace.Session { return t.Session }

// Opened returns the decoys that were opened.
func (t *Traced) Opened() []string { return t.Watch.End() }

// Changed returns the changed files among those that other programs run or obey. It is called after Stop.
func (t *Traced) Changed() ([]string, error) { return t.Lasting.Changed() }

// process is a server in an audit Pod; it implements audit.Process.
type process struct {
	Traced
	link        *Link
	runSinkhole *runSinkhole
}

// Dial connects within the network namespace that the Pod's containers share.
func (p *process) Dial(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", at.String())
}

// Stop kills the server's tree. The tracer ends with its last process; if that does
// not die, the tracer is told to end.
func (p *process) Stop(ctx context.Context) {
	defer p.runSinkhole.close() // no sender is left then
	if err := p.link.Stop(ctx); err != nil {
		_ = p.link.Close() // the shim is gone, or does not listen: the container runtime ends the server
		p.Session.Stop()
		return
	}
	p.Lasting.End()
	time.AfterFunc(lastLines, p.Session.Stop)
}

// runSinkhole is the sinkhole of one run; nil for none.
type runSinkhole struct{ *sinkhole.Server }

// serve answers the server's connections. Without a sinkhole the closed network of the Pod
// refuses them.
func (l *Launcher) serve(how audit.Start) (*runSinkhole, error) {
	if l.Sinkhole == nil || how.Refuse {
		return nil, nil
	}
	config := *l.Sinkhole
	config.Names, config.Now = how.Names, how.Clock.From(time.Now())
	server, err := sinkhole.Serve(config)
	if err != nil {
		return nil, err
	}
	return &runSinkhole{server}, nil
}

func (h *runSinkhole) close() {
	if h != nil {
		h.Close()
	}
}

// Captures returns the captures of the run's sinkhole.
func (p *process) Captures() <-chan sinkhole.Capture {
	if p.runSinkhole == nil {
		return nil
	}
	return p.runSinkhole.Captures()
}

// Call tells the run's sinkhole about a call.
func (p *process) Call(c sinkhole.Call) {
	if p.runSinkhole != nil {
		p.runSinkhole.Call(c)
	}
}

// Notes returns those of the shim and the sinkhole: the manager made the rest of
// the Pod.
func (p *process) Notes() []string {
	notes := p.Run.Notes()
	if p.runSinkhole != nil {
		notes = append(notes, p.runSinkhole.Notes()...)
	}
	return notes
}
