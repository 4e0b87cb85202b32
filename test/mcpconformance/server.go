package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// startTimeout limits how long the server may take to listen.
const startTimeout = time.Minute

// sandboxPort is the port on which the server listens in a network of its own.
const sandboxPort = 3001

// running is the server, somewhere: end ends it, and says what of its trace was lost.
type running struct {
	url string
	end func() error
}

// servers runs the server scenarios on each side, and compares.
func (s suite) servers(ctx context.Context) error {
	sides := []struct {
		name  string
		start func(context.Context) (running, error)
	}{
		{"untraced", s.plain},
		{"strace", func(ctx context.Context) (running, error) { return s.traced(ctx, plan.TracerStrace) }},
		{"ptrace", func(ctx context.Context) (running, error) { return s.traced(ctx, plan.TracerPtrace) }},
	}
	all := make([]map[string]result, len(sides))
	for i, side := range sides {
		server, err := side.start(ctx)
		if err != nil {
			return fmt.Errorf("start the server, %s: %w", side.name, err)
		}
		all[i], err = s.run(ctx, "server", "--url", server.url, "--suite", "all")
		if err := errors.Join(err, server.end()); err != nil {
			return fmt.Errorf("server scenarios, %s: %w", side.name, err)
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(table, "SERVER SCENARIO\tUNTRACED\tSTRACE\tPTRACE\t\tREASON\n") // Flush has the error
	passed, own, differ := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(all[0])) {
		plain, verdict := all[0][name], "the same"
		switch {
		case !plain.same(all[1][name]) || !plain.same(all[2][name]):
			verdict = "DIFFERS"
			differ++
		case plain.failed > 0:
			verdict = "the server's own"
			own++
		default:
			passed++
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.80s\n", name, plain, all[1][name], all[2][name], verdict, plain.why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Printf("server scenarios: %d passed, %d failed with and without us, %d differ\n\n", passed, own, differ)
	if differ > 0 {
		return fmt.Errorf("%d server scenarios end otherwise under a tracer", differ)
	}
	return nil
}

// command is the server's, on a port.
func (s suite) command(port int) []string {
	return []string{"env", "PORT=" + strconv.Itoa(port), s.node, s.server, "streamableHttp"}
}

// plain starts the server as it is.
func (s suite) plain(ctx context.Context) (running, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return running{}, err
	}
	at := free.Addr().String()
	port := netip.MustParseAddrPort(at).Port()
	if err := free.Close(); err != nil {
		return running{}, err
	}
	command := s.command(int(port))
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return running{}, err
	}
	end := func() error {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return nil
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", at)
	}
	if err := await(ctx, dial); err != nil {
		return running{}, errors.Join(err, end())
	}
	return running{url: "http://localhost:" + strconv.Itoa(int(port)) + "/mcp", end: end}, nil
}

// await waits until the server can be reached.
func await(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := dial(ctx)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the server does not listen: %w", err)
		}
	}
}

// traced starts the server as an audit does, with a listener of ours before it
// whose connections are made where the server is.
func (s suite) traced(ctx context.Context, tracer plan.Tracer) (running, error) {
	dir, err := os.MkdirTemp("", "mcp-conformance-")
	if err != nil {
		return running{}, err
	}
	launcher, err := sandbox.New(s.command(sandboxPort), dir)
	if err != nil {
		return running{}, err
	}
	launcher.Tracer = tracer
	process, err := launcher.Launch(ctx, audit.Start{Listens: true})
	if err != nil {
		return running{}, err
	}
	drained := drain(ctx, process)
	dial := func(ctx context.Context) (net.Conn, error) {
		return process.Dial(ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), sandboxPort))
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = await(ctx, dial)
	}
	end := func() error {
		_ = front.Close()
		process.Stop(context.WithoutCancel(ctx))
		defer func() { _ = os.RemoveAll(dir) }() // a temporary file more is no failure
		if err := <-drained; err != nil {
			return err
		}
		return whole(process.Trace().Stats())
	}
	if err != nil {
		return running{}, errors.Join(err, end())
	}
	go serve(ctx, front, dial)
	return running{url: fmt.Sprintf("http://localhost:%d/mcp", netip.MustParseAddrPort(front.Addr().String()).Port()), end: end}, nil
}

// drain takes whatever the server says and does, as an audit does.
func drain(ctx context.Context, process audit.Process) <-chan error {
	stdin, stdout, stderr := process.Streams()
	_ = stdin // open until Stop: its end would be a request to exit
	for _, stream := range []io.Reader{stdout, stderr} {
		if stream != nil {
			go func() { _, _ = io.Copy(io.Discard, stream) }() // ends with the server
		}
	}
	go func() {
		for range process.Captures() {
		}
	}()
	drained := make(chan error, 1)
	go func() { drained <- process.Trace().Run(context.WithoutCancel(ctx), func(trace.Event) {}) }()
	return drained
}

// whole reports whether a trace has all that the server did.
func whole(stats trace.Stats) error {
	if !stats.Begun || stats.Events == 0 || stats.Unparsed+stats.Cut+stats.Dropped > 0 {
		return fmt.Errorf("the trace is not whole: %+v", stats)
	}
	fmt.Fprintf(os.Stderr, "traced: %d lines, none lost\n", stats.Lines)
	return nil
}

// serve passes connections on until the listener is closed.
func serve(ctx context.Context, front net.Listener, dial func(context.Context) (net.Conn, error)) {
	for {
		outer, err := front.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = outer.Close() }()
			inner, err := dial(ctx)
			if err != nil {
				return
			}
			defer func() { _ = inner.Close() }()
			ended := make(chan struct{}, 2)
			for _, way := range [][2]net.Conn{{inner, outer}, {outer, inner}} {
				go func() {
					_, _ = io.Copy(way[0], way[1]) // either end may go first
					ended <- struct{}{}
				}()
			}
			<-ended
		}()
	}
}
