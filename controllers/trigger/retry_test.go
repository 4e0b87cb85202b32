package trigger_test

import (
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// failed is the input after n failures in a row at noon, at the end of times.
func failed(f trigger.Failure) trigger.Input {
	return trigger.Input{
		UID: "a", Now: noon.AddDate(100, 0, 0), Audited: noon, Failure: f,
		Last: &v1alpha1.Trigger{},
	}
}

func TestPausesDouble(t *testing.T) {
	const limit = 10
	want := []time.Duration{5, 10, 20, 40, 80, 160, 320, 360, 360, 360}
	for i, minutes := range want {
		in := failed(trigger.Failure{Reason: "Evicted", Consecutive: int32(i + 1), Limit: limit})
		in.Now = noon
		if got := trigger.Next(in).Sub(noon); got != minutes*time.Minute {
			t.Errorf("retry %d comes after %s, want %d minutes", i+1, got, minutes)
		}
	}
}

func TestRetryLimit(t *testing.T) {
	for _, test := range []struct {
		consecutive, limit int32
		want               bool
	}{{1, 1, true}, {2, 1, false}, {1, 0, false}, {10, 10, true}, {11, 10, false}, {0, 3, false}} {
		_, due := trigger.Due(failed(trigger.Failure{Reason: "Evicted", Consecutive: test.consecutive, Limit: test.limit}))
		if due != test.want {
			t.Errorf("after %d failures with a limit of %d: due = %t", test.consecutive, test.limit, due)
		}
	}
}

// A server that fills its disk is not audited until it behaves.
func TestOverLimitIsNotRetried(t *testing.T) {
	if due, isDue := trigger.Due(failed(trigger.Failure{Reason: "Evicted", OverLimit: true, Consecutive: 1, Limit: 3})); isDue {
		t.Errorf("%+v is due", due)
	}
}

// TestRetries: only what may pass by itself is audited again.
func TestRetries(t *testing.T) {
	for _, cause := range report.Causes {
		_, due := trigger.Due(failed(trigger.Failure{Reason: cause.Reason, Consecutive: 1, Limit: 3}))
		if want := cause.Retry != report.RetryNever; due != want {
			t.Errorf("%s: retried = %t, want %t", cause.Reason, due, want)
		}
	}
	if _, due := trigger.Due(failed(trigger.Failure{Reason: "Timeout", Reported: true, Consecutive: 1, Limit: 3})); due {
		t.Error("a server that did not answer in time is retried")
	}
	if _, due := trigger.Due(failed(trigger.Failure{Reason: "OfANewerRunner", Consecutive: 1, Limit: 3})); due {
		t.Error("a reason that nobody knows is retried")
	}
}
