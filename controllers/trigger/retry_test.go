package trigger_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

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

// TestEveryReasonIsDecided takes the reasons from the API's own list of them, so
// that none is added without a decision.
func TestEveryReasonIsDecided(t *testing.T) {
	decisions := map[string]bool{
		"ImagePullFailed": true, "ImageMismatch": true, "PodFailed": true, "Unschedulable": true, "Evicted": true, "NodeLost": true,
		"RunnerFailed": true, "SandboxFailed": true, "RunNamespaceUnusable": true, "Unreachable": true,
		"TracerLost": true, "TracerUnavailable": true, "ReportLost": true, "Timeout": true,
		"OOMKilled": false, "ServerExited": false, "NothingAdvertised": false, "NotExercised": false, "CodeFetched": false, "CodeLoaded": false, "NotListening": false,
		"NotTraced": false, "ProtocolError": false, "TraceOverflow": false, "ReportTruncated": false,
	}
	source, err := os.ReadFile("../../api/v1alpha1/conditions.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "// ConditionAudited says")
	_, list, _ = strings.Cut(list, "to be False are:")
	list, _, _ = strings.Cut(list, "to be Unknown are:")
	listed := regexp.MustCompile(`\* "(\w+)"`).FindAllStringSubmatch(list, -1)
	if len(listed) != len(decisions) {
		t.Errorf("the API lists %d reasons, %d are decided here", len(listed), len(decisions))
	}
	for _, match := range listed {
		reason := match[1]
		want, known := decisions[reason]
		if !known {
			t.Errorf("the reason %s is in no table: is the server audited again for it?", reason)
			continue
		}
		if _, due := trigger.Due(failed(trigger.Failure{Reason: reason, Consecutive: 1, Limit: 3})); due != want {
			t.Errorf("%s: retried = %t", reason, due)
		}
	}
	if _, due := trigger.Due(failed(trigger.Failure{Reason: "Timeout", Reported: true, Consecutive: 1, Limit: 3})); due {
		t.Error("a server that did not answer in time is retried")
	}
	if _, due := trigger.Due(failed(trigger.Failure{Reason: "OfANewerRunner", Consecutive: 1, Limit: 3})); due {
		t.Error("a reason that nobody knows is retried")
	}
}
