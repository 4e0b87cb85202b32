package noise_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestControl runs the bare runtimes of this machine: all that they do to files
// has a reason to be noise. (Python lists the directory that it is started in, to
// find modules there: that is data of the server's own.)
func TestControl(t *testing.T) {
	for _, argv := range [][]string{
		{"node", "-e", "0"},
		{"python3", "-c", "0"},
		{"python3", "-c", "import ssl, socket, json, locale, subprocess, urllib.request; ssl.create_default_context()"},
		{"sh", "-c", ":"},
		{"perl", "-e", "0"},
		{os.Args[0], "-test.run=^$"}, // a Go program
	} {
		t.Run(filepath.Base(argv[0]), func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Fatalf("%v: hack/install.sh brings it", err)
			}
			seen := control(t, argv)
			if len(seen.Noise) == 0 {
				t.Error("no noise: nothing was seen")
			}
			for _, e := range seen.Effects {
				if e.Path != "" && e.Kind != profile.KindExec && e.Kind != profile.KindList {
					t.Errorf("%s %s %s is no noise", e.Kind, e.Path, e.Error)
				}
			}
		})
	}
}

// control runs a program under the tracer in an empty directory.
func control(t *testing.T, argv []string) profile.Profile {
	t.Helper()
	cfg := trace.Config{File: filepath.Join(t.TempDir(), "trace")}
	wrapped := trace.Wrap(cfg, argv)
	cmd := exec.Command(wrapped[0], wrapped[1:]...)
	cmd.Dir = t.TempDir()
	// A version manager's shim is a bash script, and bash looks its user up in
	// /etc/passwd where SHELL is not set (bash(1)): no part of the runtime.
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	session, err := trace.Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	session.Ended()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	builder := profile.New(profile.Limits{})
	if err := session.Run(ctx, builder.Add); err != nil {
		t.Fatal(err)
	}
	if stats := session.Stats(); stats.Unparsed > 0 || !stats.Begun {
		t.Fatalf("%+v", stats)
	}
	return builder.Build(nil)
}
