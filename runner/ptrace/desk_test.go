package ptrace

import (
	"strings"
	"testing"
)

// TestReceived: only a wireless card that hardly received anything has more than the kernel counts.
func TestReceived(t *testing.T) {
	const lo = "    lo:    4096      12    0    0    0     0          0         0     4096      12    0    0    0     0       0          0\n"
	idle := strings.Replace(lo, "    lo", "wlp2s0", 1)
	got := string(received(nil, nil, []byte(lo+idle)))
	if !strings.HasPrefix(got, lo) || strings.Contains(got, idle) || len(strings.Fields(got)) != 2*17 {
		t.Errorf("%q", got)
	}
	if used := strings.Replace(idle, "4096", "48291172", 2); string(received(nil, nil, []byte(used))) != used {
		t.Error("it has received something by itself")
	}
}
