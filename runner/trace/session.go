// Package trace observes a process tree with strace, or with a tracer of our own
// that writes the same language, and turns what it prints into typed events.
//
// Two ways lead to a Session: Attach starts the tracer on a process that waits
// for it, and Follow reads the file of a tracer that the caller runs with the
// arguments of Wrap. Session.Run then streams the events until the trace ends.
// A trace that ends before the traced processes do is Lost; Stats says what
// could not be understood. What a server prints into names and contents cannot
// pass for a system call: see token.go.
package trace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/mcpaudit/mcpaudit/api/plan"
)

// Config says what to trace.
type Config struct {
	// Backend is the tracer, one that Choose has chosen.
	Backend plan.Tracer
	// Clock is the time that the server sees; only our own tracer has another than the true one.
	Clock Clock
	// File is where the tracer writes, on a volume that the server cannot reach.
	File string
	// Stdin and Stdout are the inodes of the pipes, or of the server's ends of the socket pairs, that carry the conversation, 0 for
	// one that does not: over HTTP connections do, see Session.Claim.
	Stdin, Stdout uint64
	// Shim is the path, as it is executed, of a program that only prepares the
	// server's start: the server begins with the first successful execve of
	// anything else. "" if there is none.
	Shim string
	// Reexec is another path by which that program executes itself; "" if there is none.
	Reexec string
	// Home is the server's, and Alias a path that is a link to it: what a call names below that, events name below Home. "" if
	// there is none.
	Home, Alias string
	// Loads tells of the files of which not only the opening makes an event, but also that bytes
	// came out of them; nil for none. Servers read too much for all of that to be kept.
	Loads func(name string) bool `json:"-"`
	// MaxBytes bounds the trace, 0 means not. It guards against a server that
	// never stops making calls; the disk needs less, for what was read is
	// released where the file system can do so.
	MaxBytes int64
	// Keep the file whole: what was read is not released.
	Keep bool
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
	finished    atomic.Bool // the tracer has ended by itself, with the last of what it traced
	terminate   func()      // asks the tracer to end; nil when it is not ours

	claims claims
	// stdinRead: the server has read something of its stdin.
	stdinRead atomic.Bool
	// root is the process that the server is or descends from, in our own PID
	// namespace.
	root int
	// owner are the effective user and group of root, before it is the server.
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
	return &Session{cfg: cfg, file: file, root: os.Getpid(), owner: [2]int{os.Geteuid(), os.Getegid()}, ended: make(chan struct{}), lost: make(chan struct{})}, nil
}

// Follow reads the trace of a tracer that the caller runs with the arguments
// of Wrap. Call it when the tracer has been started, for that empties the file,
// and Ended when it has been waited for.
func Follow(cfg Config) (*Session, error) { return newSession(cfg, 0) }

// Run hands every event to sink, in order, until the trace has ended and was
// read to its end. Memory is bounded, whatever the server does.
//
// It returns ErrOverflow when the trace is too long, and the context's error
// when that ends first; what was seen until then stays seen.
func (s *Session) Run(ctx context.Context, sink func(Event)) error {
	defer func() { _ = s.file.Close() }()
	d := newDecoder(s.cfg, sink)
	d.claims, d.stdinRead = &s.claims, &s.stdinRead
	t := &tail{file: s.file, maxBytes: s.cfg.MaxBytes, noHoles: s.cfg.Keep}
	published := 0
	err := t.follow(ctx, s.ended, func(line []byte) {
		d.feed(line)
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

// Backend is the tracer that writes the trace.
func (s *Session) Backend() plan.Tracer { return s.cfg.Backend }

// Stats may be called at any time; the numbers are final when Run has returned.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// StdinRead reports whether the server has read anything of its stdin so far.
func (s *Session) StdinRead() bool { return s.stdinRead.Load() }

// Made are the calls that were made so far.
func (s *Session) Made() Made {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Owner are the user and the group that the server was started as.
func (s *Session) Owner() (uid, gid int) { return s.owner[0], s.owner[1] }

// Lost is closed when the tracer ended or was stopped, or the trace was given up, while the
// server was still alive: from then on nothing was observed.
func (s *Session) Lost() <-chan struct{} { return s.lost }

// Ended tells a Session made by Follow that the tracer has ended: Run returns when
// it has read what is left.
func (s *Session) Ended() { s.endOnce.Do(func() { close(s.ended) }) }

// Stop ends the trace: a strace that Attach started detaches from whatever is
// still alive, our own tracer takes it along. Events made until then are still
// handed out by Run.
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
