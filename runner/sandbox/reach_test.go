package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// greetArg makes the test binary a server that greets one client, at an address.
const greetArg = "greet"

// greet sends a word to one client, once that has said anything.
func greet(address, word string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 64)); err != nil {
		return err
	}
	_, err = io.WriteString(conn, word)
	return errors.Join(err, conn.Close())
}

// TestDialReachesTheServer: and not what listens on the same port of the machine.
// What goes over a claimed connection is the conversation, and no effect.
func TestDialReachesTheServer(t *testing.T) {
	ours, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close() }() // nobody connects to it
	at := netip.MustParseAddrPort(ours.Addr().String())
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		t.Run(string(tracer), func(t *testing.T) { reach(t, tracer, at) })
	}
}

func reach(t *testing.T, tracer plan.Tracer, at netip.AddrPort) {
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	server := filepath.Join(t.TempDir(), "server") // the trace takes our own name for a stage of the sandbox
	if err := os.Symlink(os.Args[0], server); err != nil {
		t.Fatal(err)
	}
	launcher, err := sandbox.New([]string{server, greetArg, at.String()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Close() })
	launcher.Tracer = tracer
	process, err := launcher.Launch(ctx, audit.Start{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	go collect(process.Captures())
	listens, traced := make(chan struct{}), make(chan error, 1)
	var events []trace.Event
	var once sync.Once
	go func() {
		traced <- process.Trace().Run(ctx, func(e trace.Event) {
			if e.Op == trace.OpListen && e.Socket.Local == at {
				once.Do(func() { close(listens) })
			}
			events = append(events, e)
		})
	}()
	select {
	case <-listens:
	case <-ctx.Done():
		t.Fatal("it does not listen")
	}
	conn, err := process.Dial(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	process.Trace().Claim(netip.MustParseAddrPort(conn.LocalAddr().String()), at.Port())
	if _, err := io.WriteString(conn, "hello?"); err != nil {
		t.Error(err)
	}
	if word, err := io.ReadAll(conn); err != nil || string(word) != "inside" {
		t.Errorf("it said %q, %v", word, err)
	}
	_ = conn.Close()
	<-process.Exited()
	process.Stop(ctx)
	if err := <-traced; err != nil {
		t.Error(err)
	}
	if slices.ContainsFunc(events, func(e trace.Event) bool { return e.Op == trace.OpSend || e.Op == trace.OpReceive }) {
		t.Error("the conversation is an effect")
	}
}
