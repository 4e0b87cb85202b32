package environ

import (
	"path"
	"strings"
)

// maxSearchPaths and maxSearchPath bound what is read of an environment, in paths and in
// bytes of each.
const (
	maxSearchPaths = 32
	maxSearchPath  = 256
)

// SearchPaths are the absolute paths in those of the variables ("NAME=value") by which
// programs load code: PATH, PYTHONPATH and their like. At most maxSearchPaths of them.
func SearchPaths(env []string) []string {
	var all []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if Loads(name, value) == "" {
			continue
		}
		for place := range strings.SplitSeq(value, ":") {
			if path.IsAbs(place) && len(place) <= maxSearchPath && len(all) < maxSearchPaths {
				all = append(all, path.Clean(place))
			}
		}
	}
	return all
}
