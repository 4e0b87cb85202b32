package audit

import (
	"path"

	"github.com/mcpaudit/mcpaudit/runner/lasting"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxTraced bounds how many changed names are kept. Others count as missing from the trace.
const maxTraced = 1 << 14

// traced has the names by which the trace shows changes to files that other programs run or obey; true if everything
// below the name changed with it. The zero value is empty.
type traced map[string]bool

func (t *traced) event(e trace.Event) {
	switch e.Op {
	case trace.OpWrite, trace.OpStore, trace.OpMap, trace.OpAttribute:
		t.add(e, e.Path, false)
	case trace.OpLink:
		t.add(e, e.Path, true) // not the target: a hard link is another name for changing it
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

// compare returns the unshown file among those that the launcher found changed, if it compared them.
func (t traced) compare(process Process) (unshown string, err error) {
	looked, ok := process.(interface{ Changed() ([]string, error) })
	if !ok {
		return "", nil
	}
	files, err := looked.Changed()
	return t.unshown(files), err
}

// unshown returns the first of the changed files without a change in the trace; "" for none.
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
