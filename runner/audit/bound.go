package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// maxBound bounds the directories that the command line may name.
const maxBound = 4

// bound returns the directories that the operator gave the server: absolute paths without an extension in the command
// and in the variables that were set, except those that hold the programs of the command.
func (p Plan) bound() (found []string) {
	if len(p.Command) == 0 {
		return nil
	}
	for _, word := range slices.Concat(p.Command[1:], p.Env) {
		name, value, isSetting := strings.Cut(word, "=")
		if !isSetting {
			value = word
		}
		dir := path.Clean(value)
		if path.IsAbs(value) && path.Ext(dir) == "" && dir != "/" && !strings.HasSuffix(name, "PATH") && (dir == scratch || !p.holdsProgram(dir)) &&
			!slices.Contains(found, dir) && len(found) < maxBound {
			found = append(found, dir)
		}
	}
	return found
}

// holdsProgram reports whether a path is or holds a program of the command, or belongs to the system.
func (p Plan) holdsProgram(dir string) bool {
	for _, own := range []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr"} {
		if places.Within(dir, own) {
			return true
		}
	}
	if located, sensitive := places.Locate(dir); sensitive && !located.Routine {
		return true
	}
	return slices.ContainsFunc(p.Command, func(word string) bool {
		return path.IsAbs(word) && path.Clean(word) != dir && places.Below(path.Clean(word), dir)
	})
}
