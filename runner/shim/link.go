package shim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

// ErrNotStarted is wrapped by the shim's error when the server's command could not
// be executed; the rest of the text is the reason.
var ErrNotStarted = errors.New("server did not start")

// errGone: the shim has ended, or hung up.
var errGone = errors.New("the shim is gone")

// Link is the runner's end of the connection to a shim.
type Link struct {
	conn *net.UnixConn
	// peer is the shim's pid in our PID namespace, from the kernel; 0 if it was
	// not asked.
	peer int
	// closed ends every wait when the connection is gone.
	closed chan struct{}
	// answers has the shim's replies to orders, without its reports of exits.
	answers chan message

	mu  sync.Mutex
	run *Run
}

// Run is one execution of the server, from the runner's side.
type Run struct {
	// PID is the process that becomes the server, in the runner's PID namespace;
	// 0 if the tracer is a parent of the shim.
	PID int
	// Stdin, Stdout and Stderr are the runner's ends of the server's streams.
	Stdin, Stdout, Stderr *os.File
	// StdinInode and StdoutInode name the server's ends in the trace.
	StdinInode, StdoutInode uint64

	note   string
	exited chan struct{}
	status syscall.WaitStatus
	known  bool
}

// NewLink takes over a connection on which a shim serves.
func NewLink(conn *net.UnixConn) *Link {
	l := &Link{conn: conn, closed: make(chan struct{}), answers: make(chan message, 1)}
	go l.listen()
	return l
}

// listen distributes the shim's messages until it is gone.
func (l *Link) listen() {
	defer l.lose()
	for {
		m, files, err := receive(l.conn)
		closeAll(files)
		if err != nil || len(files) > 0 {
			return
		}
		if m.Kind == kindExited {
			l.settle(m.Status, true)
			continue
		}
		select {
		case l.answers <- m:
		case <-l.closed:
			return
		}
	}
}

func (l *Link) lose() {
	l.settle(0, false)
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
}

// settle marks the current run as ended, once.
func (l *Link) settle(status syscall.WaitStatus, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run == nil {
		return
	}
	select {
	case <-l.run.exited:
	default:
		l.run.status, l.run.known = status, known
		close(l.run.exited)
	}
}

// Setup makes the streams of a run, passes the server's ends to the shim, and waits
// until the server's process is at its barrier.
func (l *Link) Setup(ctx context.Context, how Setup) (*Run, error) {
	run, theirs, err := newRun(how.Sockets)
	if err != nil {
		return nil, err
	}
	l.begin(run)
	err = send(l.conn, message{Kind: kindSetup, Setup: &how}, theirs...)
	closeAll(theirs)
	if err == nil {
		var m message
		if m, err = l.answer(ctx, kindReady, kindFailed); err == nil {
			run.PID, run.note, err = m.PID, short(m.Text), failure(m)
		}
	}
	if err != nil {
		l.abandon(run)
		return nil, err
	}
	return run, nil
}

// begin makes run the current one, which an exit or the loss of the shim ends.
func (l *Link) begin(run *Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = run
}

// Go opens the barrier and waits until the command was executed. From then on its traced calls
// stop for the attached tracer, and fail without it. The error wraps ErrNotStarted when the
// command could not be executed. A shim that is gone before it has answered is no error: the
// barrier was open, so the server may have killed it, and the trace shows what was done.
// Run.Exited is closed then, and the status is not known.
func (l *Link) Go(ctx context.Context, stops ptrace.Stops) error {
	if err := send(l.conn, message{Kind: kindGo, Stops: stops}); err != nil {
		return err
	}
	m, err := l.answer(ctx, kindStarted, kindFailed)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	return failure(m)
}

// Stop kills the server's whole tree and waits until it is gone. It drops late answers to
// earlier orders: their processes are gone, too.
func (l *Link) Stop(ctx context.Context) error {
	if err := send(l.conn, message{Kind: kindStop}); err != nil {
		return err
	}
	for {
		m, err := l.answer(ctx, kindStopped, kindReady, kindStarted, kindFailed)
		if err != nil || m.Kind == kindStopped {
			return err
		}
	}
}

// abandon ends a run that failed to start, so that another can follow. If the shim does not
// answer, the next run fails and reports that.
func (l *Link) abandon(run *Run) {
	run.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*treeDeadline)
	defer cancel()
	_ = l.Stop(ctx)
}

// Close hangs up: the shim kills what is left and exits.
func (l *Link) Close() error {
	err := l.conn.Close()
	l.lose() // listen may be blocked on an answer that nobody takes
	return err
}

func (l *Link) answer(ctx context.Context, kinds ...kind) (message, error) {
	var m message
	select {
	case m = <-l.answers:
	case <-l.closed:
		select {
		case m = <-l.answers: // its last word
		default:
			return message{}, fmt.Errorf("wait for %q: %w", kinds, errGone)
		}
	case <-ctx.Done():
		return message{}, fmt.Errorf("wait for %q: %w", kinds, ctx.Err())
	}
	if !slices.Contains(kinds, m.Kind) {
		return message{}, fmt.Errorf("shim said %q, want one of %q", m.Kind, kinds)
	}
	return m, nil
}

// short bounds a text of the shim.
func short(text string) string { return report.Cut(text, 512) }

func failure(m message) error {
	if m.Kind != kindFailed {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNotStarted, m.Text)
}

// Exited returns a channel that is closed when the server's own process has ended, or the shim is gone.
func (r *Run) Exited() <-chan struct{} { return r.exited }

// Status returns how the server ended; false while it runs, or if the shim went
// away without a report. It is final once Exited is closed.
func (r *Run) Status() (syscall.WaitStatus, bool) {
	select {
	case <-r.exited:
		return r.status, r.known
	default:
		return 0, false
	}
}

// Notes returns what the shim could not do as well as it should have.
func (r *Run) Notes() []string {
	if r.note == "" {
		return nil
	}
	return []string{r.note}
}

// Close closes the runner's ends of the streams.
func (r *Run) Close() {
	for _, f := range []*os.File{r.Stdin, r.Stdout, r.Stderr} {
		if f != nil {
			_ = f.Close() // the probe may have closed stdin
		}
	}
}
