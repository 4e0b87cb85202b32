package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxSearched bounds the number of kept names.
const maxSearched = 256

// searched holds, for programs that were looked for in directories of programs, where, and whether one was found.
type searched map[string]*search

type search struct {
	dirs  []string
	found bool
}

func (s searched) event(e trace.Event) {
	if e.Op != trace.OpSeek {
		return
	}
	name := path.Base(e.Path)
	is := s[name]
	if is == nil {
		if len(s) >= maxSearched {
			return
		}
		is = &search{}
		s[name] = is
	}
	is.found = is.found || e.Errno != "ENOENT"
	if dir := path.Dir(e.Path); len(is.dirs) < 2 && !slices.Contains(is.dirs, dir) {
		is.dirs = append(is.dirs, dir)
	}
}

// inVain returns the programs that were found nowhere, sorted. A search in a single directory is for a part of some
// program.
func (s searched) inVain() (all []string) {
	for name, is := range s {
		if !is.found && len(is.dirs) > 1 && !strings.Contains(name, ".") && !slices.Contains(runtimesOwn, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// runtimesOwn are programs that libraries of runtimes look for unasked: Python's for compilers, network interfaces
// and browsers.
var runtimesOwn = strings.Fields(`arp cc gcc ifconfig lanscan ld objdump
	chrome chromium chromium-browser elinks epiphany firebird firefox galeon gnome-open google-chrome grail gvfs-open iceape iceweasel kfm
	kfmclient konqueror links lynx microsoft-edge mosaic mozilla mozilla-firebird mozilla-firefox netscape opera seamonkey skipstone
	w3m www-browser x-www-browser xdg-open xdg-settings`)
