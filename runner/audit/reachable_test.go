package audit

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestConnectWaits: a server that is only just coming up is waited for; one that is
// not to be connected to is not.
func TestConnectWaits(t *testing.T) {
	url := elsewhere(t, "a-long-key")
	plan := Plan{Timeout: time.Minute, Probe: plan.Probe{Rounds: 1, Calls: report.CallsNever}}
	tries := 0
	r, err := Connect(t.Context(), plan, Remote{URL: url, Dial: func(ctx context.Context) (net.Conn, error) {
		if tries++; tries < 3 {
			return nil, &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}
		}
		return new(net.Dialer).DialContext(ctx, "tcp", endpoint(url))
	}})
	if err != nil || r.Reason == report.ReasonUnreachable || tries < 4 {
		t.Errorf("%v, %s: %s after %d tries", err, r.Reason, r.Message, tries)
	}
	tries = 0
	r, err = Connect(t.Context(), plan, Remote{URL: url, Dial: func(context.Context) (net.Conn, error) {
		tries++
		return nil, errors.New("169.254.169.254 is not connected to")
	}})
	if err != nil || r.Verdict != report.VerdictInconclusive || r.Reason != report.ReasonUnreachable || tries != 1 ||
		!strings.Contains(r.Message, "is not connected to") {
		t.Errorf("%v, %s (%s): %s after %d tries", err, r.Verdict, r.Reason, r.Message, tries)
	}
}

func TestEndpoint(t *testing.T) {
	for url, want := range map[string]string{
		"http://notes.example/mcp": "notes.example:http", "https://notes.example": "notes.example:https",
		"http://[::1]:8080/": "[::1]:8080",
	} {
		if got := endpoint(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
