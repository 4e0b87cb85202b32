package inputs

import "strings"

// Ways holds lessons of one tool that apply to the others of a server, so that not all are refused for the same
// reason. All forms of a session share one; nil is empty.
type Ways struct {
	// absolute: an absolute path was accepted.
	absolute bool
	// endings are the required extensions of files, by the name of the argument.
	endings map[string][]string
}

// maxWays bounds the arguments in endings.
const maxWays = 64

func (w *Ways) takesAbsolute() bool { return w != nil && w.absolute }

func (w *Ways) endingsOf(argument string) []string {
	if w == nil {
		return nil
	}
	return w.endings[argument]
}

// wants notes how the names of files have to end.
func (w *Ways) wants(argument string, endings []string) {
	if w == nil || len(endings) == 0 || len(w.endings) >= maxWays {
		return
	}
	if w.endings == nil {
		w.endings = map[string][]string{}
	}
	w.endings[argument] = endings
}

// took notes the arguments of a call that was accepted.
func (f *Form) took(c Case) {
	if f.options.Ways == nil || f.options.Ways.absolute {
		return
	}
	for _, p := range c.placed {
		if n := f.tree.leafAt(p.at); n != nil && strings.HasPrefix(p.value, "/") && f.isPath(n) {
			f.options.Ways.absolute = true
		}
	}
}
