// Package attribution shows that what two workers do late is given to the right
// call, whichever runtime they are made by and however the server is talked to.
//
// The first call leaves a worker behind that acts while the second is in flight;
// that leaves one behind that acts when nothing is. Files are the signals by which
// server and test take turns, so that no clock decides what overlaps.
package attribution

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

var (
	first  = report.Capability{Kind: report.CapabilityTool, Name: "first"}
	second = report.Capability{Kind: report.CapabilityTool, Name: "second"}
	server = report.Capability{Kind: report.CapabilityServer}
)

// client is one way to talk to the server. It keeps the ledger.
type client interface {
	// connect is called when the server has been started.
	connect(t *testing.T, s *trace.Session)
	call(t *testing.T, of report.Capability)
	ledger() ledger.Ledger
}

func TestLateWorkers(t *testing.T) {
	byProcess := [2]ledger.Where{
		{Phase: report.PhaseCall, Capability: first, Attribution: report.AttributionLineage},
		{Phase: report.PhaseCall, Capability: second, Attribution: report.AttributionLineage},
	}
	background := ledger.Where{Phase: report.PhaseIdle, Capability: server, Attribution: report.AttributionBackground, AlternativeCause: second}
	byThread := [2]ledger.Where{
		{Phase: report.PhaseCall, Capability: second, Attribution: report.AttributionOverlap, AlternativeCause: first}, background}
	for _, tc := range []struct {
		program, script, kind string
		want                  [2]ledger.Where
	}{
		{"node", "late.js", "process", byProcess},
		{"node", "late.js", "timer", byThread},
		{"python3", "late.py", "process", byProcess},
		{"python3", "late.py", "timer", byThread},
	} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(strings.Join([]string{tc.program, tc.kind, transport}, " "), func(t *testing.T) {
				got := run(t, transport, tc.program, tc.script, tc.kind)
				if got != tc.want {
					t.Errorf("got  %+v\nwant %+v", got, tc.want)
				}
			})
		}
	}
}

// run has the conversation and tells where the effects of the workers belong.
func run(t *testing.T, transport, program, script, kind string) (late [2]ledger.Where) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"first-late", "second-late"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("late\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := trace.Config{File: filepath.Join(t.TempDir(), "trace")}
	script, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("placeholder")
	how := "stdio"
	var c client
	if transport == "http" {
		alone(t)
		how = "8080"
		c = &overHTTP{dir: dir}
	} else {
		c = overPipes(t, cmd, &cfg)
	}
	session := start(t, cmd, cfg, program, script, how, kind, dir)
	events := collect(t, session)
	c.connect(t, session)
	c.call(t, first)
	if program == "node" && kind == "timer" {
		// No thread and no process tells of it: only that the server waits for a time.
		c.ledger()[0].StillBusy = poll.For(poll.Patience, func() bool {
			wait, pending := session.Pending()
			return pending && wait < time.Second // that of the runtime itself is longer
		})
	}
	c.call(t, second)
	touch(t, dir, "idle")
	await(t, dir, "second-done")
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	session.Ended()
	built := events().Build(c.ledger())
	return [2]ledger.Where{find(t, built, filepath.Join(dir, "first-late")), find(t, built, filepath.Join(dir, "second-late"))}
}

// start runs the server under the tracer, in a process group of its own.
func start(t *testing.T, cmd *exec.Cmd, cfg trace.Config, command ...string) *trace.Session {
	t.Helper()
	argv := trace.Wrap(cfg, command)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args, cmd.Err, cmd.Stderr = path, argv, nil, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	session, err := trace.Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// collect makes the profile in the background.
func collect(t *testing.T, s *trace.Session) (wait func() *profile.Builder) {
	t.Helper()
	builder := profile.New(profile.Limits{})
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, builder.Add) }()
	return func() *profile.Builder {
		defer cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return builder
	}
}

// find returns where a file was read. It must have been in one place.
func find(t *testing.T, p profile.Profile, path string) ledger.Where {
	t.Helper()
	var found []ledger.Where
	for _, e := range p.Effects {
		if e.Kind == profile.KindRead && e.Path == path {
			found = append(found, e.Where)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s was read in %d places: %+v", path, len(found), found)
	}
	return found[0]
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// await polls until the server has made a file.
func await(t *testing.T, dir, name string) {
	t.Helper()
	poll.Until(t, "the server has made "+name, func() bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}
