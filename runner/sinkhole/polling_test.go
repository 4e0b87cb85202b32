package sinkhole

import (
	"strings"
	"testing"
)

// TestPolling: whoever asks the same again and again in one call waits for a job, which ends.
func TestPolling(t *testing.T) {
	a := newAsker()
	a.server.Call(Call{})
	first := a.ask("/v1/jobs/1", "")
	for range unsuspected - 1 {
		if got := a.ask("/v1/jobs/1", ""); got != first {
			t.Fatalf("a request that is repeated once or twice is answered differently: %s", got)
		}
	}
	seen := map[string]bool{}
	for range finished {
		answer := a.ask("/v1/jobs/1", "")
		for _, status := range finished {
			if strings.Contains(answer, `"status":"`+status+`"`) && strings.Contains(answer, `"state":"`+status+`"`) {
				seen[status] = true
			}
		}
	}
	if len(seen) != len(finished) {
		t.Errorf("only %v", seen)
	}
	if other := a.ask("/v1/jobs/2", ""); strings.Contains(other, finished[0]) {
		t.Errorf("another request: %s", other)
	}
	a.server.Call(Call{Ended: true})
	a.server.Call(Call{})
	if got := a.ask("/v1/jobs/1", ""); got != first {
		t.Errorf("in the next call: %s", got)
	}
}

// TestPollingKeepsWhatWasLearned: a status that a refusal has asked for stays.
func TestPollingKeepsWhatWasLearned(t *testing.T) {
	a := newAsker()
	a.during("/v1/jobs/1", "Expected status 'active', got 'ok'")
	a.server.Call(Call{})
	for range unsuspected + 3 {
		if got := a.ask("/v1/jobs/1", ""); !strings.Contains(got, `"status":"active"`) {
			t.Errorf("%s", got)
		}
	}
}

// TestPollingOutsideCalls: what a server loads by itself never changes.
func TestPollingOutsideCalls(t *testing.T) {
	a := newAsker()
	first := a.ask("/v1/jobs/1", "")
	for range unsuspected + 3 {
		if got := a.ask("/v1/jobs/1", ""); got != first {
			t.Errorf("%s", got)
		}
	}
}
