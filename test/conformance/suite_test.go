//go:build conformance

// Package conformance holds the tracers to what they promise. Each program of
// programs/*.c does one thing and says in its header what has to be seen of it;
// the suite audits every one with each backend, wrapped as on the command line
// and attached as in a Pod, and wants the same events of all.
package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

func init() { runtime.LockOSThread() }

// The test binary plays the tracer, the stages of the sandbox and all parts of a Pod.
func TestMain(m *testing.M) {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := sandbox.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := play(os.Getenv(roleVar)); ok {
		os.Exit(code)
	}
	os.Exit(suite(m))
}

// suite makes the directories of a run: bin has the programs, home and the
// working directory are those of the wrapped servers.
func suite(m *testing.M) int {
	dir, err := os.MkdirTemp("/tmp", "conformance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { // servers run under other uids
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := build(filepath.Join(dir, "bin")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The sandbox passes these on; a Pod has its own.
	for name, value := range map[string]string{"HOME": home, "LANG": "C", "LC_ALL": "C"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	fmt.Print(table())
	return code
}

func TestConformance(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			outcomes := map[variant]outcome{}
			for _, v := range variants {
				t.Run(v.String(), func(t *testing.T) {
					o := v.run(t, p)
					outcomes[v] = o
					problems := p.check(o)
					if first := outcomes[variants[0]]; len(problems) == 0 && !p.alone {
						problems = differences(first.Events, o.Events)
					}
					record(p.name, v, problems)
					for _, problem := range problems {
						t.Error(problem)
					}
					t.Logf("events %q", o.Events)
					t.Logf("%s (%s): %s; findings %v", o.Report.Verdict, o.Report.Reason, o.Report.Message, o.findings())
					for _, f := range o.Report.Findings {
						t.Logf("%s: %s; evidence %+v", f.Rule, f.Message, f.Evidence)
					}
				})
			}
		})
	}
}
