package packages

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Launched is what a launcher such as npx or uvx would install and start.
type Launched struct {
	Package
	// Program is that of the package; "" where the launcher chooses.
	Program   string
	Arguments []string
}

// launcher is how a launcher's command line is read.
type launcher struct {
	registry Registry
	// quiet are flags that change nothing of what is started; from are those with a package, so that the first
	// word is the program's name.
	quiet, from []string
}

// launchers are read as npx(1), and uv's and pipx's help have them. Where there is any other flag, it is not known what
// is started.
var launchers = map[string]launcher{
	"npx":         {NPM, []string{"-y", "--yes", "-q", "--quiet"}, []string{"-p", "--package"}},
	"npm exec":    {NPM, []string{"-y", "--yes", "-q", "--quiet", "--"}, []string{"-p", "--package"}},
	"bunx":        {NPM, []string{"--bun", "-y"}, []string{"-p", "--package"}},
	"pnpm dlx":    {NPM, []string{"--silent", "-s"}, []string{"--package"}},
	"uvx":         {PyPI, []string{"-q", "--quiet"}, []string{"--from"}},
	"uv tool run": {PyPI, []string{"-q", "--quiet"}, []string{"--from"}},
	"pipx run":    {PyPI, []string{"-q", "--quiet"}, []string{"--spec"}},
}

// Launch reads a command line; false where it is no launcher's, or leads to something else than one package of a
// registry, as where npx finds the program below the working directory.
func Launch(command []string, dir string) (Launched, bool) {
	for name, l := range launchers {
		words := strings.Fields(name)
		if len(command) < len(words) || path.Base(command[0]) != words[0] || !slices.Equal(command[1:len(words)], words[1:]) {
			continue
		}
		launched, ok := l.read(command[len(words):])
		return launched, ok && (l.registry == PyPI || !linked(launched, dir))
	}
	return Launched{}, false
}

func (l launcher) read(words []string) (launched Launched, ok bool) {
	source := ""
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		flag, value, has := strings.Cut(words[0], "=")
		words = words[1:]
		switch {
		case slices.Contains(l.quiet, flag) && !has:
			continue
		case !slices.Contains(l.from, flag) || source != "":
			return launched, false
		case !has && len(words) > 0:
			value, words = words[0], words[1:]
		}
		source = value
	}
	if len(words) == 0 {
		return launched, false
	}
	launched.Arguments = words[1:]
	if source == "" {
		source = words[0]
	} else {
		launched.Program = words[0]
	}
	launched.Package, ok = l.source(source)
	return launched, ok
}

// source reads how a launcher names a package.
func (l launcher) source(text string) (Package, bool) {
	if name, version, ok := strings.Cut(text, "@"); ok && l.registry == PyPI { // docs.astral.sh/uv, Tools
		text = name
		if version != "latest" {
			text += "==" + version
		}
	}
	p, _, err := Parse(string(l.registry) + ":" + text)
	return p, err == nil
}

// linked reports whether npx finds the program among those of a project.
func linked(l Launched, dir string) bool {
	program := l.Program
	if program == "" {
		program = path.Base(l.Name)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", program)); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}
