package attribution

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestLateWorkersOfTheProbe: the positions that the probe enters for a session over
// HTTP are those of the trace.
func TestLateWorkersOfTheProbe(t *testing.T) {
	lineage := func(of report.Capability) ledger.Where {
		return ledger.Where{Phase: report.PhaseCall, Capability: of, Attribution: report.AttributionLineage}
	}
	overlap := ledger.Where{Phase: report.PhaseCall, Capability: second, Attribution: report.AttributionOverlap}
	background := ledger.Where{Phase: report.PhaseIdle, Capability: server, Attribution: report.AttributionBackground}
	for _, tc := range []struct {
		program, script, kind string
		want                  [2]ledger.Where
	}{
		{"node", "late.js", "process", [2]ledger.Where{lineage(first), lineage(second)}},
		{"node", "late.js", "timer", [2]ledger.Where{overlap, background}},
		{"python3", "late.py", "process", [2]ledger.Where{lineage(first), lineage(second)}},
		{"python3", "late.py", "timer", [2]ledger.Where{overlap, background}},
	} {
		t.Run(tc.program+" "+tc.kind, func(t *testing.T) {
			late := probed(t, tc.program, tc.script, tc.kind)
			for i := range late {
				late[i].AlternativeCause = report.Capability{} // the timers of the runtime's own HTTP server may be the cause, too
			}
			if late != tc.want {
				t.Errorf("got  %+v\nwant %+v", late, tc.want)
			}
		})
	}
}

// probed has the probe hold a session, and tells where the effects of the workers
// belong.
func probed(t *testing.T, program, script, kind string) (late [2]ledger.Where) {
	t.Helper()
	alone(t)
	dir := t.TempDir()
	names := [2]string{filepath.Join(dir, "first-late"), filepath.Join(dir, "second-late")}
	for _, name := range names {
		if err := os.WriteFile(name, []byte("late\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("placeholder")
	session := start(t, cmd, trace.Config{File: filepath.Join(t.TempDir(), "trace")}, program, script, fmt.Sprint(port), kind, dir)
	events := collect(t, session)
	await(t, dir, "ready")
	result := converse(t, session)
	if result.Incomplete.Reason != "" || result.Coverage.Tools.Accepted != 2 {
		t.Errorf("incomplete %+v, coverage %+v", result.Incomplete, result.Coverage)
	}
	touch(t, dir, "idle")
	await(t, dir, "second-done")
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	session.Ended()
	built := events().Build(result.Ledger)
	return [2]ledger.Where{find(t, built, names[0]), find(t, built, names[1])}
}

// converse runs the probe, and dials for it: only this thread is in the network
// namespace of the server.
func converse(t *testing.T, session *trace.Session) probe.Result {
	t.Helper()
	type dialled struct {
		conn net.Conn
		err  error
	}
	wanted, made, ended := make(chan struct{}), make(chan dialled), make(chan probe.Result)
	dial := func(context.Context) (net.Conn, error) {
		wanted <- struct{}{}
		got := <-made
		return got.conn, got.err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	go func() {
		result, err := probe.Run(t.Context(), probe.Conn{
			Exited: make(chan struct{}), Pending: session.Pending,
			HTTP: &probe.HTTP{Transport: report.TransportStreamableHTTP, URL: "http://" + address + "/mcp", Dial: dial},
		}, probe.Options{Rounds: 1, MaxCalls: 1})
		if err != nil {
			t.Error(err)
		}
		ended <- result
	}()
	for {
		select {
		case result := <-ended:
			return result
		case <-wanted:
			conn, err := net.Dial("tcp", address)
			if err == nil {
				session.Claim(netip.MustParseAddrPort(conn.LocalAddr().String()), port)
			}
			made <- dialled{conn, err}
		}
	}
}
