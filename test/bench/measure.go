package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// startTimeout bounds one start including its calls.
const startTimeout = 2 * time.Minute

// side is a way to measure a server.
type side struct {
	name string
	// tracer is empty for an untraced side.
	tracer   plan.Tracer
	attached bool
}

// sides begins with the reference for all others, and repeats it as a control.
var sides = []side{
	{name: "untraced"},
	{name: "control"},
	{"strace wrapped", plan.TracerStrace, false},
	{"strace attached", plan.TracerStrace, true},
	{"ptrace wrapped", plan.TracerPtrace, false},
	{"ptrace attached", plan.TracerPtrace, true},
}

// server is a measured server with its best times by side.
type server struct {
	name string
	launch
	best []times
}

// times last from the server's start to its first answer, and from a tool call to its answer; 0 if
// not measured yet.
type times struct{ start, call time.Duration }

func (t *times) lower(u times) {
	t.start, t.call = lower(t.start, u.start), lower(t.call, u.call)
}

func lower(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// measure alternates between all servers and sides, so that other load affects all of them. Each
// round begins with another side.
func measure(ctx context.Context, servers []*server, file string, rounds, calls int) error {
	for round := range rounds {
		for _, s := range servers {
			for i := range sides {
				of := (i + round) % len(sides)
				t, err := once(ctx, s.launch, sides[of], file, calls)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, sides[of].name, err)
				}
				s.best[of].lower(t)
			}
		}
	}
	return nil
}

// once measures a session with a server in a new box.
func once(ctx context.Context, l launch, as side, file string, calls int) (t times, err error) {
	err = within(ctx, l, as, file, func(b *boxed, _ *follower) error {
		t, err = b.converse(calls)
		return err
	})
	return t, err
}

// within runs a session with a server in a new box. The follower is nil if the side is untraced.
func within(ctx context.Context, l launch, as side, file string, session func(*boxed, *follower) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	pipes, err := newStdio()
	if err != nil {
		return err
	}
	defer pipes.close()
	inside := boxPlan{Command: l.command}
	var f *follower
	if as.tracer != "" {
		if f, err = follow(ctx, as.tracer, pipes, file); err != nil {
			return err
		}
		if as.attached {
			inside.Attach = &f.cfg
		} else {
			inside.Command = trace.Wrap(f.cfg, l.command)
		}
		defer func() {
			if unseen := f.end(); err == nil {
				err = unseen
			}
		}()
	}
	b, err := enclose(ctx, l, pipes, inside)
	if err != nil {
		return err
	}
	if err := session(b, f); err != nil {
		return b.explain(err)
	}
	b.end()
	return nil
}

// converse opens the gate and measures the session. It writes the first request before.
func (b *boxed) converse(calls int) (t times, err error) {
	c := &client{stdin: b.stdin, stdout: bufio.NewReader(b.stdout)}
	if err := c.send(initialize); err != nil {
		return t, err
	}
	started := time.Now()
	if _, err := b.gate.Write([]byte{1}); err != nil {
		return t, err
	}
	if err := c.answer(0); err != nil {
		return t, err
	}
	t.start = time.Since(started)
	if err := c.send(initialized); err != nil {
		return t, err
	}
	for id := 1; id <= calls; id++ {
		began := time.Now()
		if err := c.send(fmt.Sprintf(note, id)); err != nil {
			return t, err
		}
		if err := c.answer(id); err != nil {
			return t, err
		}
		t.call = lower(t.call, time.Since(began))
	}
	return t, nil
}

// follower reads the trace while it is written, as an audit does, on the same processors.
type follower struct {
	cfg     trace.Config
	session *trace.Session
	builder *profile.Builder
	drained chan error
}

func follow(ctx context.Context, tracer plan.Tracer, pipes *stdio, file string) (*follower, error) {
	if err := os.RemoveAll(file); err != nil {
		return nil, err
	}
	f := &follower{cfg: trace.Config{Backend: tracer, File: file}, drained: make(chan error, 1)}
	var err error
	if f.cfg.Stdin, err = inode(pipes.stdin.read); err != nil {
		return nil, err
	}
	if f.cfg.Stdout, err = inode(pipes.stdout.write); err != nil {
		return nil, err
	}
	if f.session, err = trace.Follow(f.cfg); err != nil {
		return nil, err
	}
	f.builder = profile.New(profile.Limits{})
	go func() { f.drained <- f.session.Run(ctx, f.builder.Add) }()
	return f, nil
}

// end is called after the tracer has ended. It fails if the trace lacks the server or has unparsed
// lines, which would invalidate the ratio.
func (f *follower) end() error {
	f.session.Ended()
	if err := <-f.drained; err != nil {
		return err
	}
	switch s := f.session.Stats(); {
	case !s.Begun || s.Events == 0:
		return errors.New("the trace has no events of the server")
	case s.Unparsed > 0:
		return fmt.Errorf("the trace has unparsed lines: %s", s.Sample)
	}
	return nil
}

func inode(f *os.File) (uint64, error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		return 0, fmt.Errorf("identify a pipe: %w", err)
	}
	return stat.Ino, nil
}

func printRatios(w io.Writer, servers []*server) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(table, "SERVER\tOF") // Flush has the error
	for _, s := range sides[1:] {
		_, _ = fmt.Fprintf(table, "\t%s", strings.ToUpper(s.name))
	}
	for _, s := range servers {
		_, _ = fmt.Fprintf(table, "\n%s\tstart to first answer", s.name)
		for i := range sides[1:] {
			_, _ = fmt.Fprintf(table, "\t%s", ratio(s.best[i+1].start, s.best[0].start))
		}
		_, _ = fmt.Fprintf(table, "\n%s\tone call", s.name)
		for i := range sides[1:] {
			_, _ = fmt.Fprintf(table, "\t%s", ratio(s.best[i+1].call, s.best[0].call))
		}
	}
	_, _ = fmt.Fprintln(table)
	return table.Flush()
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }
