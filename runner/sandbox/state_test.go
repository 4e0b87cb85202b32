package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestWritesLastUntilTheAuditEnds: what a server leaves on disk, wherever that is,
// it finds when it is started again, and nobody else ever does.
func TestWritesLastUntilTheAuditEnds(t *testing.T) {
	home, work, temp := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", temp)
	t.Chdir(work)
	write(t, filepath.Join(home, "project/file"), "before")
	launcher, err := sandbox.New([]string{"sh", "-c", `
		for f in ~/marker ~/project/file /tmp/marker /dev/shm/marker ./marker; do cat $f 2>/dev/null || echo none; echo again >$f; done
		grep -c BEGIN ~/.ssh/id_rsa; stat -c %i ~/.netrc ~/.aws/credentials
		cat /run/marlow-local/* >/dev/null && echo trust
		rm -rf ~/.ssh /run/marlow; ln -s /tmp ~/.ssh; chmod 0 ~/.kube ~/.npmrc; mkdir /run/marlow`,
	}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for range 3 {
		said = append(said, launchOnce(t, launcher))
	}
	inodes := said[0][strings.Index(said[0], "1\n")+2:]
	if want := "none\nbeforenone\nnone\nnone\n1\n" + inodes; said[0] != want {
		t.Errorf("the first run saw %q, want %q", said[0], want)
	}
	for i, got := range said[1:] {
		if want := strings.Repeat("again\n", 5) + "1\n" + inodes; got != want {
			t.Errorf("run %d saw %q, want %q", i+2, got, want)
		}
	}
	if err := launcher.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{work, temp} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(home, "project/file")); err != nil || string(got) != "before" {
		t.Errorf("the machine's file reads %q, %v", got, err)
	}
}

// TestBrokenOff: after a launch for which there was no time, the server can be started again with what it left.
func TestBrokenOff(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	launcher, err := sandbox.New([]string{"sh", "-c", "cat ~/marker || echo none; echo again > ~/marker"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	launcher.Tracer = plan.TracerPtrace
	first := launchOnce(t, launcher)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := launcher.Launch(ended, audit.Start{}); err == nil {
		t.Fatal("started without time")
	}
	if then := launchOnce(t, launcher); first != "none\n" || then != "again\n" {
		t.Errorf("it saw %q, and then %q", first, then)
	}
	if err := launcher.Close(); err != nil {
		t.Error(err)
	}
}

// launchOnce runs the command of the launcher once and returns what it says.
func launchOnce(t *testing.T, launcher *sandbox.Launcher) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	process, err := launcher.Launch(ctx, audit.Start{})
	if err != nil {
		t.Fatal(err)
	}
	go collect(process.Captures())
	traced := make(chan error, 1)
	go func() { traced <- process.Trace().Run(ctx, func(trace.Event) {}) }()
	stdin, stdout, stderr := process.Streams()
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	go readAll(stderr)
	heard := make(chan string, 1)
	go func() { heard <- readAll(stdout) }()
	select {
	case <-process.Exited():
	case <-ctx.Done():
		t.Error("the command does not end")
	}
	process.Stop(ctx)
	if err := <-traced; err != nil {
		t.Error(err)
	}
	process.Opened()
	return <-heard
}
