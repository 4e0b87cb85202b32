package environ

import (
	"path"
	"strings"
)

// maxSearchPaths and maxSearchPath bound the paths of an environment and the bytes of each.
const (
	maxSearchPaths = 32
	maxSearchPath  = 256
)

// SearchPaths returns the absolute paths in the variables ("NAME=value") by which programs load
// code, such as PATH and PYTHONPATH; at most maxSearchPaths.
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
