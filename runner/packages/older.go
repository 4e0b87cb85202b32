package packages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

var (
	// lacking matches the last line of a traceback that says that a library is not what a program expects.
	lacking = lazyregexp.New(`(?m)^(?:ImportError|ModuleNotFoundError|AttributeError|TypeError): ([^\n]+)`)
	// ofModule matches the module that such a line names.
	ofModule = lazyregexp.New(`\bfrom '(\w+)[\w.]*'|\bNo module named '(\w+)\.|\bmodule '(\w+)[\w.]*' has no attribute`)
	// wrongCall matches calls and attributes that a library may have had before.
	wrongCall = lazyregexp.New(`\bunexpected keyword argument\b|\bobject has no attribute\b|\btakes \d+ positional|\brequired positional argument`)
)

// frameworks are the libraries that a line without a module is about: most servers need one, and name no highest version.
var frameworks = []string{"mcp", "fastmcp"}

// Older returns requirements: of the last major version before the installed one for the library that a server cannot
// use, by what it wrote when it exited, and of the same version of the package, of which pip would otherwise take an
// older one as well; "" if there is no such library.
func (i Installed) Older(stderr string) string {
	all := lacking.FindAllStringSubmatch(stderr, -1)
	if i.Report.RegistryType != string(PyPI) || i.Report.Version == "" || len(all) == 0 {
		return ""
	}
	said := all[len(all)-1][1]
	suspects := frameworks
	if found := ofModule.FindStringSubmatch(said); found != nil {
		suspects = []string{found[1] + found[2] + found[3]}
	} else if !wrongCall.MatchString(said) {
		return ""
	}
	for _, name := range suspects {
		at := slices.IndexFunc(i.locked, func(l locked) bool { return normal(PyPI, l.name) == normal(PyPI, name) })
		if at < 0 || normal(PyPI, name) == normal(PyPI, i.Report.Identifier) {
			continue
		}
		first, _, _ := strings.Cut(i.locked[at].version, ".")
		if major, err := strconv.Atoi(first); err == nil && major > 1 {
			return fmt.Sprintf("%s<%d %s==%s", i.locked[at].name, major, i.Report.Identifier, i.Report.Version)
		}
	}
	return ""
}
