package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestS16CodePathsOfAllRuns: what any launch loaded is code, and what one of them could not
// keep makes the list unknown.
func TestS16CodePathsOfAllRuns(t *testing.T) {
	run := func(paths ...string) observation {
		o := observation{stats: trace.Stats{Begun: true}}
		for _, path := range paths {
			o.code.Add(trace.Event{Op: trace.OpExec, Path: path})
		}
		return o
	}
	many := make([]string, 5000)
	for i := range many {
		many[i] = "/app/" + strings.Repeat("x", i%70) + "/" + strings.Repeat("y", i/70)
	}
	for name, c := range map[string]struct {
		runs []observation
		want []string
	}{
		"two launches":         {[]observation{run("/server"), run("/server", "/app/helper")}, []string{"/app/helper", "/server"}},
		"one was not traced":   {[]observation{run("/server"), {untraced: true}}, []string{"/server"}},
		"none was traced":      {[]observation{{untraced: true}}, nil},
		"one has lost some":    {[]observation{run("/server"), run(many...)}, nil},
		"a launch that failed": {[]observation{run("/server"), {launched: errNoneMissing, code: profile.Code{}}}, []string{"/server"}},
	} {
		if got := codePaths(c.runs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestReportsHoldAllCodePaths(t *testing.T) {
	if report.MaxCodePaths != codepath.MaxPaths || report.MaxCodePathBytes != codepath.MaxBytes {
		t.Error("the bounds of reports are not those of the lists")
	}
}

func TestS16CodePathsWithSecretsAreUnknown(t *testing.T) {
	without := func(text string) string { return strings.ReplaceAll(text, "AKIA1234", "AK…") }
	r := report.Report{CodePaths: []string{"/app", "/AKIA1234/x"}}
	if r.Redact(without); r.CodePaths != nil {
		t.Errorf("got %q", r.CodePaths)
	}
	r.CodePaths = []string{"/app"}
	if r.Redact(without); len(r.CodePaths) != 1 {
		t.Errorf("got %q", r.CodePaths)
	}
}
