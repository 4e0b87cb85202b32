package audit

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// named matches absolute paths in a text.
var named = lazyregexp.New("/[^\\s'\"`:,;()]+")

// missed returns why the server lacked a file that may have made it exit: one that it was denied, or that its stderr
// names. The last one is the most likely.
func (o observation) missed() string {
	if o.withheld == nil {
		return ""
	}
	var paths []string
	for _, e := range o.profile.Effects {
		if e.Error == "EACCES" {
			paths = append(paths, e.Path)
		}
	}
	paths = append(paths, named.FindAllString(o.stderr, -1)...)
	for _, path := range slices.Backward(paths) {
		if why := o.withheld(filepath.Clean(strings.TrimRight(path, "."))); why != "" {
			return why
		}
	}
	return ""
}
