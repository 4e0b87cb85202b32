package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// sessionTimeout bounds one session, maxSaid the kept end of stderr in bytes.
	sessionTimeout = 2 * time.Minute
	maxSaid        = 4096
	// probeRounds bounds the calls of each tool; most servers have one tool.
	probeRounds = 10
	// maxAudited bounds the sessions with the waits of an audit, which take seconds each.
	maxAudited = 3
)

// sides begins with the reference for all others, and repeats it as a control.
var sides = []struct {
	name   string
	tracer plan.Tracer // empty if untraced
}{{"untraced", ""}, {"control", ""}, {"strace", plan.TracerStrace}, {"ptrace", plan.TracerPtrace}}

// server is a measured server with its best times by side.
type server struct {
	name string
	launch
	best []times
}

// times last from the server's start to the answer to its handshake, and from one tool call to the next
// without and with the waits of an audit; 0 if not measured yet.
type times struct{ start, call, audited time.Duration }

func lower(a, b time.Duration) time.Duration {
	return min(cmp.Or(a, b), cmp.Or(b, a))
}

// measure alternates between all servers and sides, so that other load affects all of them. Each
// round begins with another side.
func measure(ctx context.Context, servers []*server, file string, rounds, calls int) error {
	for round := range rounds {
		for _, s := range servers {
			for i := range sides {
				of := (i + round) % len(sides)
				start, call, err := session(ctx, s.launch, sides[of].tracer, file, probe.Options{
					Rounds: probeRounds, MaxCalls: calls, Settle: time.Nanosecond, SettleMost: time.Nanosecond, Idle: time.Nanosecond,
				})
				var audited time.Duration
				if err == nil && round < maxAudited {
					_, audited, err = session(ctx, s.launch, sides[of].tracer, file, probe.Options{Rounds: probeRounds, MaxCalls: calls, Idle: time.Nanosecond})
				}
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, sides[of].name, err)
				}
				best := s.best[of]
				s.best[of] = times{lower(best.start, start), lower(best.call, call), lower(best.audited, audited)}
			}
		}
	}
	return nil
}

// session probes a server once.
func session(ctx context.Context, l launch, tracer plan.Tracer, file string, o probe.Options) (start, call time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	stdin, toServer, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _, _ = stdin.Close(), toServer.Close() }() // may be closed already
	fromServer, stdout, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _, _ = fromServer.Close(), stdout.Close() }()
	exited := make(chan struct{})
	conn, command := probe.Conn{Stdin: toServer, Stdout: fromServer, Exited: exited}, l.command
	if tracer != "" {
		f, err := follow(ctx, trace.Config{Backend: tracer, File: file}, toServer, fromServer)
		if err != nil {
			return 0, 0, err
		}
		defer func() { err = errors.Join(err, f.end()) }()
		conn.Active, conn.Pending, command = f.builder.Active, f.session.Pending, trace.Wrap(f.cfg, command)
	}
	said := audit.NewTail(maxSaid)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.dir, stdin, stdout, said
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "LANG=C.UTF-8"}, l.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) } // a tracer with its server
	var c calls
	o.Progress = c.note
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	_, _ = stdin.Close(), stdout.Close() // the server has them
	go func() {
		_ = cmd.Wait() // a probe that is incomplete says so
		close(exited)
	}()
	result, err := probe.Run(ctx, conn, o)
	if err == nil && (result.Incomplete.Reason != "" || c.after.IsZero()) {
		err = errors.New("the session was incomplete: " + result.Incomplete.Message)
	}
	if err != nil {
		cancel()
	}
	<-exited
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return c.greeted.Sub(began), c.after.Sub(c.first) / time.Duration(max(c.n, 1)), err
}

// calls has the times at which the probe sent the request after the handshake, its first call, and the
// request after its last.
type calls struct {
	requests, n           int
	greeted, first, after time.Time
}

func (c *calls) note(_ string, phase report.Phase, _ report.Capability) {
	now := time.Now()
	if c.requests++; c.requests == 2 {
		c.greeted = now
	}
	switch {
	case phase == report.PhaseCall:
		if c.n++; c.n == 1 {
			c.first = now
		}
	case c.n > 0 && c.after.IsZero():
		c.after = now
	}
}

// follower reads the trace while it is written, as an audit does, on the same processors.
type follower struct {
	cfg     trace.Config
	session *trace.Session
	builder *profile.Builder
	drained chan error
}

// follow follows the trace of a server with the pipes toServer and fromServer, by which the trace's reader
// identifies the conversation.
func follow(ctx context.Context, cfg trace.Config, toServer, fromServer *os.File) (*follower, error) {
	if err := os.RemoveAll(cfg.File); err != nil {
		return nil, err
	}
	for f, inode := range map[*os.File]*uint64{toServer: &cfg.Stdin, fromServer: &cfg.Stdout} {
		var stat unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
			return nil, fmt.Errorf("identify a pipe: %w", err)
		}
		*inode = stat.Ino
	}
	session, err := trace.Follow(cfg)
	if err != nil {
		return nil, err
	}
	f := &follower{cfg, session, profile.New(profile.Limits{}), make(chan error, 1)}
	go func() { f.drained <- session.Run(ctx, f.builder.Add) }()
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

func printRatios(w io.Writer, servers []*server) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(table, "SERVER\tOF") // Flush has the error
	for _, s := range sides {
		_, _ = fmt.Fprintf(table, "\t%s", strings.ToUpper(s.name))
	}
	for _, s := range servers {
		for _, row := range []struct {
			name string
			of   func(times) time.Duration
		}{
			{"start to first answer", func(t times) time.Duration { return t.start }},
			{"one call", func(t times) time.Duration { return t.call }},
			{"one call, with an audit's waits", func(t times) time.Duration { return t.audited }},
		} {
			untraced := row.of(s.best[0])
			_, _ = fmt.Fprintf(table, "\n%s\t%s\t%s", s.name, row.name, untraced.Round(time.Microsecond))
			for _, t := range s.best[1:] {
				_, _ = fmt.Fprintf(table, "\t%s", ratio(row.of(t), untraced))
			}
		}
	}
	_, _ = fmt.Fprintln(table)
	return table.Flush()
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }
