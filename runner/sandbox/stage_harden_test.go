package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestAD6OuterStageIsHeld: the process that parses what a server sends to the sinkhole has a filter.
func TestAD6OuterStageIsHeld(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	launcher, err := sandbox.New([]string{"cat"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
	process, err := launcher.Launch(ctx, audit.Start{})
	if err != nil {
		t.Fatal(err)
	}
	go collect(process.Captures())
	traced := make(chan error, 1)
	go func() { traced <- process.Trace().Run(ctx, func(trace.Event) {}) }()
	poll.Until(t, "a filter of the outer stage", outerHasFilter)
	process.Stop(ctx)
	if err := <-traced; err != nil {
		t.Error(err)
	}
}

// outerHasFilter looks for the stage among the children of the test.
func outerHasFilter() bool {
	children, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is well-formed
	for _, name := range children {
		pids, _ := os.ReadFile(name) // a thread may have ended
		for pid := range strings.FieldsSeq(string(pids)) {
			line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline")) // the child, too
			status, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
			if bytes.Contains(line, []byte("sandbox-outer")) && bytes.Contains(status, []byte("\nSeccomp:\t2\n")) {
				return true
			}
		}
	}
	return false
}
