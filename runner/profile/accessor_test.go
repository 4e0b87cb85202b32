package profile

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestAccessor: the program is kept where it decides what an access is for, and nowhere else.
func TestAccessor(t *testing.T) {
	const program = "/usr/bin/cat"
	for name, tc := range map[string]struct {
		op   trace.Op
		want string
	}{
		"/home/ada/.ssh/known_hosts":     {trace.OpRead, program},
		"/proc/7/fd":                     {trace.OpRead, program},
		"/proc/7/environ":                {trace.OpRead, program},
		"/proc/7/status":                 {trace.OpRead, ""},
		"/home/ada/notes":                {trace.OpRead, ""},
		"/home/ada/.config/gdb/gdbinit":  {trace.OpWrite, program},
		"/home/ada/.config/gdb/gdbearly": {trace.OpRead, ""},
		"/home/ada/.bashrc":              {trace.OpWrite, ""},
	} {
		if got := accessor(trace.Event{Op: tc.op, Program: program}, name); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
