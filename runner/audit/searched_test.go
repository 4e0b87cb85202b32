package audit

import (
	"path"
	"slices"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func TestSearched(t *testing.T) {
	s := searched{}
	look := func(errno string, at ...string) {
		for _, name := range at {
			s.event(trace.Event{Op: trace.OpSeek, Path: path.Clean(name), Errno: errno})
		}
	}
	look("ENOENT", "/usr/local/bin/code", "/usr/bin/code", "/bin/code") // along PATH
	look("ENOENT", "/usr/local/bin/git")                                // until
	look("EINVAL", "/usr/bin/git")                                      // it is there
	look("ENOENT", "/usr/bin/node_modules")                             // beside a program
	look("ENOENT", "/usr/bin/pyvenv.cfg", "/root/.venv/bin/pyvenv.cfg") // as above
	look("ENOENT", "/usr/bin/xdg-open", "/bin/xdg-open", "/bin/gcc", "/usr/bin/gcc")
	if got := s.inVain(); !slices.Equal(got, []string{"code"}) {
		t.Errorf("looked for in vain: %q", got)
	}
	for i := range 2 * maxSearched {
		look("ENOENT", "/usr/bin/x"+string(rune('A'+i)), "/bin/x"+string(rune('A'+i)))
	}
	if len(s) > maxSearched {
		t.Errorf("%d are kept", len(s))
	}
}

// What a server looked for with stand-ins besides gets a launch of its own.
func TestLooksOn(t *testing.T) {
	first, second := observation{searched: []string{"code"}}, observation{searched: []string{"gh"}, how: launch{moment: "StandIns", standIns: []string{"code"}}}
	if !(Plan{}).asksOn([]observation{first, second}) {
		t.Error("the second program gets no stand-in")
	}
	second.how.standIns = []string{"code", "gh"}
	if (Plan{}).asksOn([]observation{first, second}) {
		t.Error("it has both, and is started again")
	}
}
