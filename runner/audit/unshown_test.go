package audit

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestY1ChangesTheTraceDoesNotShow: a change of what is obeyed is known by its own name, or by that of a directory that was
// put in its place; a directory that was made, another name that was given away, and a call that failed show nothing.
func TestY1ChangesTheTraceDoesNotShow(t *testing.T) {
	const file = "/home/u/.config/autostart/x.desktop"
	for name, tc := range map[string]struct {
		event trace.Event
		want  string
	}{
		"written":                   {trace.Event{Op: trace.OpWrite, Path: file}, ""},
		"renamed":                   {trace.Event{Op: trace.OpRename, Path: "/tmp/x", Target: file}, ""},
		"its directory was renamed": {trace.Event{Op: trace.OpRename, Path: "/tmp/x", Target: "/home/u/.config"}, ""},
		"its directory is a link":   {trace.Event{Op: trace.OpLink, Path: "/home/u/.config/autostart", Target: "/tmp/x"}, ""},
		"nothing":                   {trace.Event{}, file},
		"another file":              {trace.Event{Op: trace.OpWrite, Path: "/home/u/.config/autostart/y.desktop"}, file},
		"by a link of the image":    {trace.Event{Op: trace.OpRename, Path: "/tmp/x", Target: "/app/link/x.desktop"}, file},
		"its directory was made":    {trace.Event{Op: trace.OpWrite, Path: "/home/u/.config/autostart"}, file},
		"a link to it":              {trace.Event{Op: trace.OpLink, Path: "/tmp/x", Target: file}, file},
		"removed":                   {trace.Event{Op: trace.OpRename, Path: file, Target: "/tmp/x"}, file},
		"failed":                    {trace.Event{Op: trace.OpWrite, Path: file, Errno: "EACCES"}, file},
		"killed in it":              {trace.Event{Op: trace.OpWrite, Path: file, Errno: "?"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var seen traced
			seen.event(tc.event)
			if got := seen.unshown([]string{file}); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
