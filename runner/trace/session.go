// Package trace observes a process tree with strace, or with our own tracer, which
// writes the same format, and turns the output into typed events.
//
// There are two ways to a Session: Attach starts the tracer on a process that waits
// for it, and Follow reads the file of a tracer that the caller runs with the
// arguments of Wrap. Session.Run then streams the events until the trace ends.
// A trace that ends before the traced processes do is Lost; Stats says what could
// not be understood. Names and contents that a server chooses cannot pass for a
// system call: see token.go.
package trace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// Config says what to trace.
type Config struct {
	// Backend is the tracer, as returned by Choose.
	Backend plan.Tracer
	// Clock is the time that the server sees; only our own tracer can change it.
	Clock Clock
	// File is where the tracer writes, on a volume that the server cannot reach.
	File string
	// Stdin and Stdout are the inodes of the pipes, or of the server's ends of the socket pairs, that carry the conversation; 0 if
	// connections carry it (HTTP): see Session.Claim.
	Stdin, Stdout uint64
	// Shim is the path, as executed, of a program that only prepares the server's
	// start: the server begins with the first successful execve of another
	// program. "" for none.
	Shim string
	// Reexec is another path by which that program executes itself; "" if there is none.
	Reexec string
	// Home is the server's home, and Alias a link to it: events have names below Alias as names below Home. "" if there is
	// none.
	Home, Alias string
	// Names are the audit's; events have those that the engine uses.
	Names *pseudonym.Names `json:"-"`
	// Loads selects the files whose reads make events (OpLoad), and not only their opening; nil for
	// none. Servers read too much to keep all of it.
	Loads func(name string) bool `json:"-"`
	// MaxBytes bounds the trace; 0 for no bound. It guards against a server that
	// never stops making calls; the disk needs less, because what was read is
	// released if the file system can do that.
	MaxBytes int64
	// Keep keeps the file whole: what was read is not released.
	Keep bool
	// Attached: strace stops at all calls, as it does when it is attached, and not only at the traced ones.
	Attached bool
}

// Session is a trace that is being made. Run must be called once.
type Session struct {
	cfg  Config
	file *os.File

	ended, lost chan struct{}
	endOnce     sync.Once
	lostOnce    sync.Once
	why         string      // lost is closed
	stopped     atomic.Bool // on request
	finished    atomic.Bool // the tracer has ended by itself, after its last tracee
	terminate   func()      // asks the tracer to end; nil when it is not ours

	claims claims
	// executable is as in decoder.
	executable func(pid int) string
	// stdinRead: the server has read some of its stdin.
	stdinRead atomic.Bool
	// root is the server's process or an ancestor of it, in our own PID namespace.
	root int
	// company belongs to Pending.
	company company
	// owner has the effective user and group of root, before it becomes the server.
	owner [2]int

	mu    sync.Mutex
	stats Stats
	made  Made
}

func newSession(cfg Config, flags int) (*Session, error) {
	file, err := os.OpenFile(cfg.File, os.O_RDWR|os.O_CREATE|flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	return &Session{cfg: cfg, file: file, root: os.Getpid(), company: company{}, owner: [2]int{os.Geteuid(), os.Getegid()}, ended: make(chan struct{}), lost: make(chan struct{})}, nil
}

// Follow reads the trace of a tracer that the caller runs with the arguments of
// Wrap. Call it after the start of the tracer, which empties the file, and Ended
// after the tracer's end.
func Follow(cfg Config) (*Session, error) { return newSession(cfg, 0) }

// Run passes every event to sink, in order, until the trace has ended and was
// read to its end. Memory is bounded, whatever the server does.
//
// It returns ErrOverflow if the trace is too long, and the context's error if
// that ends first; earlier events remain valid.
func (s *Session) Run(ctx context.Context, sink func(Event)) error {
	defer func() { _ = s.file.Close() }()
	d := newDecoder(s.cfg, sink)
	d.claims, d.stdinRead = &s.claims, &s.stdinRead
	if s.executable != nil {
		d.executable = func(pid int) string { return s.cfg.Names.In(s.executable(pid)) }
	}
	t := &tail{file: s.file, maxBytes: s.cfg.MaxBytes, noHoles: s.cfg.Keep}
	published := 0
	err := t.follow(ctx, s.ended, func(line []byte) {
		d.feed(s.cfg.Names.InBytes(line))
		if published++; published%64 == 0 {
			s.publish(d, t)
		}
	})
	d.close()
	d.stats.Overflow = errors.Is(err, ErrOverflow)
	s.publish(d, t)
	switch {
	case d.stats.Overflow:
		s.lose("its trace grew too large")
	case d.stats.Alive > 0 && err == nil && !s.stopped.Load() && !s.finished.Load():
		s.lose(fmt.Sprintf("its trace ends with %d threads alive", d.stats.Alive))
	}
	return err
}

func (s *Session) publish(d *decoder, t *tail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats, s.made = d.stats, d.made
	s.stats.Bytes, s.stats.Cut, s.stats.At = t.read, t.cut, d.at
}

// Backend returns the tracer that writes the trace.
func (s *Session) Backend() plan.Tracer { return s.cfg.Backend }

// Stats may be called at any time; it is final when Run has returned.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// StdinRead reports whether the server has read any of its stdin so far.
func (s *Session) StdinRead() bool { return s.stdinRead.Load() }

// Made returns the calls that were made so far.
func (s *Session) Made() Made {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Owner returns the user and the group that the server was started as.
func (s *Session) Owner() (uid, gid int) { return s.owner[0], s.owner[1] }

// Lost returns a channel that is closed when the tracer ended or was stopped, or the trace was
// given up, while the server was still alive: from then on nothing was observed.
func (s *Session) Lost() <-chan struct{} { return s.lost }

// Ended tells a Session made by Follow that the tracer has ended: Run returns when
// it has read what is left.
func (s *Session) Ended() { s.endOnce.Do(func() { close(s.ended) }) }

// Stop ends the trace: a strace that Attach started detaches from what is still
// alive, our own tracer kills it. Run still delivers the events until then.
func (s *Session) Stop() {
	s.stopped.Store(true)
	if s.terminate != nil {
		s.terminate()
		return
	}
	s.Ended()
}

// Why says more about why Lost is closed; "" while it is not.
func (s *Session) Why() string {
	select {
	case <-s.lost:
		return s.why
	default:
		return ""
	}
}

func (s *Session) lose(why string) {
	s.lostOnce.Do(func() {
		s.why = why
		close(s.lost)
	})
}
