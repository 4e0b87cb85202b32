package environ

import (
	"path"
	"slices"
	"strings"
)

// maxSearchPaths and maxSearchPath bound the paths of an environment and the bytes of each.
const (
	maxSearchPaths = 64
	maxSearchPath  = 256
)

// unknown is no absolute path, so codepath.Reduce makes no list of code paths with it.
const unknown = "unknown"

// SearchPaths returns the absolute paths in the variables ("NAME=value") by which programs load
// code, such as PATH and PYTHONPATH. If there are too many, or one is too long, it returns only
// unknown: a mount at a path that was left out would not count as a change of the code.
func SearchPaths(env []string) []string {
	var all []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if Loads(name, value) == "" {
			continue
		}
		for place := range strings.SplitSeq(value, ":") {
			if !path.IsAbs(place) || slices.Contains(all, path.Clean(place)) {
				continue
			}
			if len(all) == maxSearchPaths || len(place) > maxSearchPath {
				return []string{unknown}
			}
			all = append(all, path.Clean(place))
		}
	}
	return all
}
