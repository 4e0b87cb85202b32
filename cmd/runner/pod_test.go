package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/shim"
)

var runnerCaps = []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH, unix.CAP_SETUID, unix.CAP_SETGID}

// decode checks the way of the report to the manager.
func (e ended) decode(t *testing.T) report.Report {
	t.Helper()
	if e.Runner != 0 {
		t.Fatalf("runner exited with %d", e.Runner)
	}
	encoded, err := report.ReadFrame(strings.NewReader(e.Log))
	if err != nil {
		t.Fatal(err)
	}
	summary, err := report.DecodeSummary([]byte(e.Termination))
	if err != nil {
		t.Fatal(err)
	}
	if summary.SHA256 != report.Sum(encoded) {
		t.Error("the summary's digest is not the report's")
	}
	r, err := report.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Left) > 0 {
		t.Errorf("processes live on: %q", e.Left)
	}
	if len(e.Traces) > 1 {
		t.Errorf("the volume has to hold %q", e.Traces)
	}
	return r
}

// TestPodSeesALeak: whatever the uid of the server, which may be one that many
// images use.
func TestPodSeesALeak(t *testing.T) {
	for _, tc := range []struct {
		tracer plan.Tracer
		uid    int
		// users: the Pod has a user namespace of its own (hostUsers: false).
		users bool
		depth report.Depth
	}{
		{plan.TracerStrace, 0, false, ""}, {plan.TracerStrace, 1000, false, report.DepthStandard}, {plan.TracerStrace, 65532, false, ""},
		{plan.TracerPtrace, 0, false, ""}, {plan.TracerPtrace, 1000, false, ""},
		{plan.TracerStrace, 1000, true, ""}, {plan.TracerPtrace, 0, true, report.DepthStandard},
	} {
		t.Run(fmt.Sprint(tc.tracer, tc.uid, tc.users), func(t *testing.T) {
			e := start(t, pod{UserNamespace: tc.users, Command: []string{filepath.Join(built, "leaky")}, Tracer: tc.tracer, ServerUID: tc.uid, RunnerCaps: runnerCaps, Timeout: audited, Depth: tc.depth})
			r := e.decode(t)
			if r.Tracer.Name != strings.ToLower(string(tc.tracer)) || r.Tracer.Version == "" {
				t.Errorf("tracer %+v", r.Tracer)
			}
			if r.Verdict != report.VerdictFail {
				t.Errorf("verdict %s (%s): %s", r.Verdict, r.Reason, r.Message)
			}
			for _, text := range []string{"/mnt/home/.ssh/id_rsa", "93.184.216.34:80"} {
				if !names(r.Findings, text) {
					t.Errorf("no finding of format_note names %s: %+v", text, r.Findings)
				}
			}
			if !slices.ContainsFunc(r.Captures, func(c report.Capture) bool {
				return c.Address == "93.184.216.34" && c.Port == 80 && c.Bytes > 1000 && c.Capability.Name == "format_note"
			}) {
				t.Errorf("the sinkhole captured %+v", r.Captures)
			}
			if e.Shim != 0 {
				t.Errorf("shim exited with %d", e.Shim)
			}
		})
	}
}

func names(findings []report.Finding, text string) bool {
	for _, f := range findings {
		if f.Severity == report.SeverityHigh && f.Capability.Name == "format_note" && strings.Contains(f.Message, text) {
			return true
		}
	}
	return false
}

func TestPodPassesAnHonestServer(t *testing.T) {
	for _, users := range []bool{false, true} {
		t.Run(fmt.Sprint("user namespace ", users), func(t *testing.T) {
			r := start(t, pod{Command: []string{filepath.Join(built, "honest")}, RunnerCaps: runnerCaps, Timeout: audited, UserNamespace: users, Depth: report.DepthStandard}).decode(t)
			if r.Verdict != report.VerdictPass || len(r.Findings) > 0 {
				t.Errorf("verdict %s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
			}
		})
	}
}

// TestPodTalksToAServerThatListens: over the loopback that the containers share.
func TestPodTalksToAServerThatListens(t *testing.T) {
	for _, tc := range []struct {
		transport report.Transport
		argument  string
		tracer    plan.Tracer
	}{
		{report.TransportStreamableHTTP, "http", plan.TracerStrace}, {report.TransportSSE, "sse", plan.TracerStrace}, {report.TransportStreamableHTTP, "http", plan.TracerPtrace},
	} {
		t.Run(fmt.Sprint(tc.transport, tc.tracer), func(t *testing.T) {
			r := start(t, pod{
				Command: []string{filepath.Join(built, "honest"), tc.argument}, Transport: tc.transport, Port: 8080,
				Tracer: tc.tracer, ServerUID: 1000, RunnerCaps: runnerCaps, Timeout: audited,
			}).decode(t)
			if r.Verdict != report.VerdictPass || len(r.Findings) > 0 || r.Server.Transport != tc.transport {
				t.Errorf("verdict %s (%s) over %s: %s, %+v", r.Verdict, r.Reason, r.Server.Transport, r.Message, r.Findings)
			}
			if want := (report.Exercised{Listed: 1, Called: 1, Accepted: 1}); r.Coverage.Tools != want {
				t.Errorf("coverage %+v", r.Coverage)
			}
		})
	}
}

// TestPodFindsWhereAServerListens: without being told.
func TestPodFindsWhereAServerListens(t *testing.T) {
	r := start(t, pod{
		Command: []string{filepath.Join(built, "honest"), "sse"}, Transport: plan.TransportAuto,
		ServerUID: 1000, RunnerCaps: runnerCaps, Timeout: audited,
	}).decode(t)
	if r.Verdict != report.VerdictPass || len(r.Findings) > 0 || r.Server.Transport != report.TransportSSE || r.Coverage.Tools.Accepted != 1 {
		t.Errorf("verdict %s (%s) over %s: %s, %+v", r.Verdict, r.Reason, r.Server.Transport, r.Message, r.Findings)
	}
	if at := r.Server.Detected; at == nil || *at != (report.Endpoint{Port: 8080, Path: "/sse"}) {
		t.Errorf("found at %+v", at)
	}
}

// TestPodRefusesConnections: once, and what the server does then counts.
func TestPodRefusesConnections(t *testing.T) {
	r := start(t, pod{Command: []string{filepath.Join(built, "fetch"), "offline"}, RunnerCaps: runnerCaps, Timeout: audited, Depth: report.DepthStandard}).decode(t)
	if !slices.ContainsFunc(r.Probe.Runs, func(l report.Launch) bool { return l.For == report.LaunchRefused && l.Skipped == "" }) {
		t.Errorf("launches %+v", r.Probe.Runs)
	}
	if r.Verdict != report.VerdictFail || !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == "MCPA-SECRET-003" }) {
		t.Errorf("verdict %s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
	}
}

// TestPodHasStandIns: for a program that the server misses, and what it is given counts.
func TestPodHasStandIns(t *testing.T) {
	for mode, want := range map[string]report.Verdict{"": report.VerdictPass, "push": report.VerdictFail} {
		t.Run("mode "+mode, func(t *testing.T) {
			r := start(t, pod{Command: []string{filepath.Join(built, "devices"), mode}, ServerUID: 1000, RunnerCaps: runnerCaps, Timeout: audited, Depth: report.DepthStandard}).decode(t)
			if !slices.ContainsFunc(r.Probe.Runs, func(l report.Launch) bool { return slices.Equal(l.StandIns, []string{"adb"}) && l.Skipped == "" }) {
				t.Errorf("launches %+v, %q", r.Probe.Runs, r.Errors)
			}
			if r.Verdict != want {
				t.Errorf("verdict %s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
			}
		})
	}
}

func TestPodIsInconclusive(t *testing.T) {
	for _, tc := range []struct {
		name    string
		pod     pod
		reason  report.Reason
		message string
	}{
		{"no such command", pod{Command: []string{"no-such-program"}, RunnerCaps: runnerCaps}, report.ReasonSandboxFailed, "is not in PATH"},
		{"exits", pod{Command: []string{filepath.Join(built, "misbehave"), "exit"}, RunnerCaps: runnerCaps}, report.ReasonServerExited, "NOTES_TOKEN is not set"},
		{"listens elsewhere", pod{Command: []string{filepath.Join(built, "honest"), "http"}, Transport: report.TransportStreamableHTTP, Port: 8081, RunnerCaps: runnerCaps},
			report.ReasonNotListening, "spec.server.port"},
		{"no SYS_PTRACE", pod{Command: []string{filepath.Join(built, "honest")}, RunnerCaps: runnerCaps[1:]}, report.ReasonTracerUnavailable, "CAP_SYS_PTRACE"},
		{"no SYS_PTRACE for our own", pod{Command: []string{filepath.Join(built, "honest")}, Tracer: plan.TracerPtrace, RunnerCaps: runnerCaps[1:]}, report.ReasonTracerUnavailable, "CAP_SYS_PTRACE"},
		{"our own uid", pod{Command: []string{filepath.Join(built, "honest")}, ServerUID: runnerID, RunnerCaps: runnerCaps}, report.ReasonSandboxFailed, "runAsUser"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.pod.Timeout = audited
			r := start(t, tc.pod).decode(t)
			if r.Verdict != report.VerdictInconclusive || r.Reason != tc.reason || !strings.Contains(r.Message, tc.message) {
				t.Errorf("verdict %s (%s): %s; want %s: %s", r.Verdict, r.Reason, r.Message, tc.reason, tc.message)
			}
		})
	}
}

// TestPodNoticesTheLossOfItsTracer: nothing that the server does from then on is
// seen, and so it must not go on, nor pass.
func TestPodNoticesTheLossOfItsTracer(t *testing.T) {
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			t.Run(fmt.Sprint(tracer, " ", signal), func(t *testing.T) {
				r := start(t, pod{
					Command: []string{filepath.Join(built, "misbehave"), "silent"}, ServerUID: 1000,
					Tracer: tracer, SignalTracer: signal, RunnerCaps: runnerCaps, Timeout: audited,
				}).decode(t)
				if r.Verdict != report.VerdictInconclusive || r.Reason != report.ReasonTracerLost {
					t.Errorf("verdict %s (%s): %s", r.Verdict, r.Reason, r.Message)
				}
			})
		}
	}
}

// TestY1PodSeesChangesTheTraceDoesNotShow: a link that came with the image hides where a file is moved to.
func TestY1PodSeesChangesTheTraceDoesNotShow(t *testing.T) {
	link := filepath.Join(built, "link")
	if err := os.Symlink("/mnt/home/.ssh", link); err != nil {
		t.Fatal(err)
	}
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		t.Run(string(tracer), func(t *testing.T) {
			plant := "echo >/tmp/rc && mv /tmp/rc /mnt/home/note && mv /mnt/home/note " + link + "/rc && exec " + filepath.Join(built, "honest")
			r := start(t, pod{Command: []string{"sh", "-c", plant}, Tracer: tracer, RunnerCaps: runnerCaps, Timeout: audited}).decode(t)
			if r.Verdict != report.VerdictInconclusive || r.Reason != report.ReasonTraceOverflow || !strings.Contains(r.Message, "/mnt/home/.ssh/rc was changed") {
				t.Errorf("verdict %s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
			}
		})
	}
}

// TestPodSaysNothingOfAnAudit: by the processes that the server sees, and the names in its environment.
func TestPodSaysNothingOfAnAudit(t *testing.T) {
	look := `for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline | cut -c1-60; cat $p/comm; done >&2; env | cut -d= -f1 >&2; exec ` + filepath.Join(built, "misbehave") + " exit"
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		t.Run(string(tracer), func(t *testing.T) {
			r := start(t, pod{Command: []string{"sh", "-c", look}, Tracer: tracer, ServerUID: 1000, RunnerCaps: runnerCaps, Timeout: audited}).decode(t)
			said := r.Server.Stderr
			if strings.Contains(said, "mcpaudit") || strings.Contains(said, "audit ") || tracer == plan.TracerPtrace && strings.Contains(said, "trace") {
				t.Errorf("the server saw %q", said)
			}
			for _, want := range []string{"tini -- sh -c", "containerd-shim"} {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in %q", want, said)
				}
			}
		})
	}
}

// TestPodSeesARampage: a server that kills its shim gets no say in the verdict.
func TestPodSeesARampage(t *testing.T) {
	// A server that kills whatever it can. Without its shim it would be ended by
	// the container runtime, which this Pod does not have: the end of stdin does it.
	const rampage = `cd /proc; for p in [0-9]*; do [ $p = 1 ] || [ $p = $$ ] || kill -KILL $p; done; exec cat`
	r := start(t, pod{Command: []string{"sh", "-c", rampage}, RunnerCaps: runnerCaps, Timeout: audited}).decode(t)
	if r.Verdict != report.VerdictFail || len(r.Findings) == 0 || r.Findings[0].Rule != "MCPA-EVADE-001" {
		t.Errorf("verdict %s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
	}
}

func TestPodEndsWithItsRunner(t *testing.T) {
	e := start(t, pod{
		// It outlives the end of its stdin, or the shim could take it for one that ended by itself.
		Command:   []string{"sh", "-c", "setsid sleep 1000 & " + filepath.Join(built, "misbehave") + " silent; sleep 1000"},
		ServerUID: 1000, RunnerCaps: runnerCaps, Timeout: audited, KillRunner: true,
	})
	if e.Shim != shim.ExitOrphaned {
		t.Errorf("shim exited with %d, want %d", e.Shim, shim.ExitOrphaned)
	}
	if len(e.Left) > 0 {
		t.Errorf("processes live on: %q", e.Left)
	}
	if e.Socket {
		t.Error("the socket was there for the server to connect to")
	}
}

// TestPodStartsAStatelessServerTwice: it refuses the handshake in the first run.
func TestPodStartsAStatelessServerTwice(t *testing.T) {
	command := []string{"env", roleVar + "=stateless", "/mnt/bin/" + shimName}
	r := start(t, pod{Command: command, RunnerCaps: runnerCaps, Timeout: audited}).decode(t)
	if r.Verdict != report.VerdictPass || r.Server.ProtocolVersion != "2026-07-28" || r.Coverage.Tools.Accepted != 1 {
		t.Errorf("verdict %s (%s): %s; server %+v, coverage %+v", r.Verdict, r.Reason, r.Message, r.Server, r.Coverage)
	}
}

// stateless is a server of the revision without a handshake.
func stateless() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := map[string]string{
			"server/discover": `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"stateless","version":"1"}}`,
			"tools/list":      `"result":{"resultType":"complete","tools":[{"name":"hello","description":"Says hello.","inputSchema":{"type":"object"}}]}`,
			"tools/call":      `"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}]}`,
		}[m.Method]
		if answer == "" {
			answer = `"error":{"code":-32601,"message":"method not found"}`
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", m.ID, answer)
	}
}
