package ptrace_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestTimeIsFastOnceTheClientHasLeft: what a program puts off to the hours after the end of its stdin, or after a
// signal that asks it to end, happens at once; also in a process of its own. Nothing else makes time fast.
func TestTimeIsFastOnceTheClientHasLeft(t *testing.T) {
	const begin = `
import os, signal, subprocess, sys, time
sys.stdin.readline()
def busy():
    begun, worked = time.monotonic(), time.thread_time()
    while time.thread_time() < worked + 0.02: pass
    return time.monotonic() - begun
`
	for name, program := range map[string]string{
		"stdin":        "sys.stdin.read()\nbegun = time.monotonic()\ntime.sleep(12 * 3600)\nprint(time.monotonic() - begun >= 12 * 3600)",
		"left behind":  "sys.stdin.read()\nprint(subprocess.run(['sh', '-c', 'sleep 12h; echo True'], capture_output=True, text=True, start_new_session=True).stdout.strip())",
		"SIGTERM":      "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(12 * 3600), print(True)))\nos.kill(os.getpid(), signal.SIGTERM)",
		"SIGINT":       "try: os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\nexcept KeyboardInterrupt: time.sleep(12 * 3600); print(True)",
		"a child's":    "subprocess.run(['cat'], input=b'')\nsubprocess.Popen(['cat'], stdin=subprocess.PIPE).terminate()\nprint(busy() < 200)",
		"no end":       "print(busy() < 200)",
		"other signal": "signal.signal(signal.SIGUSR1, lambda *_: None)\nos.kill(os.getpid(), signal.SIGUSR1)\nprint(busy() < 200)",
	} {
		t.Run(name, func(t *testing.T) {
			cfg := trace.Config{Backend: plan.TracerPtrace, Clock: trace.Clock{Forward: time.Hour}, File: filepath.Join(t.TempDir(), "trace")}
			ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
			defer cancel()
			argv := trace.Wrap(cfg, []string{"python3", "-c", begin + program})
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin = strings.NewReader("initialize\n")
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != "True" {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
