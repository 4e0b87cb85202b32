package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func TestS2CodeLoadingVariableIsInconclusive(t *testing.T) {
	env := []string{"B=1", "NODE_OPTIONS=--import=data:text/javascript,await forever", "A="}
	got := misled(env)
	if got.Reason != report.ReasonCodeLoaded || !strings.Contains(got.Message, "NODE_OPTIONS") {
		t.Errorf("misled = %+v", got)
	}
	if got := misled([]string{"A=1", "NODE_OPTIONS=--max-old-space-size=512"}); got.Reason != "" {
		t.Errorf("harmless variables: %+v", got)
	}
	if got := environmentOf(env); !slices.Equal(got.Names, []string{"A", "B", "NODE_OPTIONS"}) {
		t.Errorf("names = %v", got.Names)
	}
}

// TestShortener: a secret that the user sets is not in the report, and other values are left alone.
func TestShortener(t *testing.T) {
	hide := shortener([]string{"ACME_TOKEN=tk-5f0c9a7d31be", "ACME_URL=https://acme.example", "API_KEY=test"})
	if got := hide("Bearer tk-5f0c9a7d31be for https://acme.example, a test"); strings.Contains(got, "9a7d31") || !strings.HasSuffix(got, " for https://acme.example, a test") {
		t.Error(got)
	}
}
