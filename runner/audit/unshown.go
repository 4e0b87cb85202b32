package audit

import (
	"path"

	"github.com/mcpaudit/mcpaudit/runner/lasting"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxTraced bounds how many names of changes are kept. What is left out counts as not in the trace.
const maxTraced = 1 << 14

// traced has the names at which the trace shows changes of what is obeyed when the server is gone; true for a name that
// was given to something with all that is below it. The zero value has none.
type traced map[string]bool

func (t *traced) event(e trace.Event) {
	switch e.Op {
	case trace.OpWrite, trace.OpStore, trace.OpMap, trace.OpAttribute:
		t.add(e, e.Path, false)
	case trace.OpLink:
		t.add(e, e.Path, true) // not the target: a hard link is a second name to change that file by
	case trace.OpRename:
		t.add(e, e.Target, true)
	}
}

func (t *traced) add(e trace.Event, name string, tree bool) {
	if e.Failed() || len(*t) == maxTraced || !lasting.Obeyed(name) {
		return
	}
	if *t == nil {
		*t = traced{}
	}
	(*t)[name] = (*t)[name] || tree
}

// unshown returns the first of the changed files of which the trace shows no change; "" for none.
func (t traced) unshown(changed []string) string {
	for _, name := range changed {
		_, shown := t[name]
		for dir := path.Dir(name); !shown && dir != "/" && dir != "."; dir = path.Dir(dir) {
			shown = t[dir]
		}
		if !shown {
			return name
		}
	}
	return ""
}
