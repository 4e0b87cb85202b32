package report

import (
	"strings"
	"testing"
)

// TestS16CodePathsAreWholeOrAbsent: a list of which something was cut would let mounts
// pass over the rest.
func TestS16CodePathsAreWholeOrAbsent(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		kept  bool
	}{
		"a few":        {[]string{"/app", "/srv"}, true},
		"too many":     {make([]string, 65), false},
		"one too long": {[]string{"/app", "/" + strings.Repeat("x", 256)}, false},
		"no text":      {[]string{"/app\xff"}, false},
	} {
		r := Report{Verdict: VerdictPass, CodePaths: c.paths}
		if r.Cap(); (r.CodePaths != nil) != c.kept || r.Verdict != VerdictPass {
			t.Errorf("%s: %q, %s", name, r.CodePaths, r.Verdict)
		}
	}
}
