package trace

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestAttachAgain: a tracer that has missed a thread makes room for another, and what it
// says when it lets go is not taken for a refusal.
func TestAttachAgain(t *testing.T) {
	sleeps := exec.Command("sleep", "1000")
	if err := sleeps.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = sleeps.Process.Kill(), sleeps.Wait() })
	cfg := Config{File: filepath.Join(t.TempDir(), "trace")}
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	never := seizure{time.Millisecond, func(int, int) (bool, error) { return false, nil }}
	if _, err := attach(ctx, sleeps.Process.Pid, cfg, never); !errors.Is(err, errUnseized) || errors.Is(err, ErrUnavailable) {
		t.Errorf("never: %v", err)
	}
	var tracers []int
	s, err := attach(ctx, sleeps.Process.Pid, cfg, seizure{time.Millisecond, func(pid, tracer int) (bool, error) {
		if len(tracers) == 0 || tracers[len(tracers)-1] != tracer {
			tracers = append(tracers, tracer)
		}
		for len(tracers) > 1 && ctx.Err() == nil {
			if all, err := seized(pid, tracer); all || err != nil {
				return all, err
			}
		}
		return false, nil
	}})
	if err != nil || len(tracers) != 2 {
		t.Fatalf("%v, by %d tracers", err, len(tracers))
	}
	s.Stop()
}
