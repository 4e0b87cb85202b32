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
