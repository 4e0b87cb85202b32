package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// program describes what a started program does with code, according to its arguments.
type program struct {
	name string
	// installs is set if it downloads packages and runs them or leaves them for later, and resolves if it does so
	// when the server's modules need it. downloads is set if it prints what it downloads.
	installs, resolves, downloads bool
	// interprets is set if it runs a program from a file. With stdin it comes from standard input, and inline is the
	// program itself from an argument. shell is set for shells, and remote if the program is a URL.
	interprets, stdin, shell, remote bool
	inline                           string
}

var downloading = []string{"curl", "wget", "aria2c", "http", "https", "xh", "lwp-request"}

var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// interpreting lists the flags by which interpreters take their program as an argument: single letters, which may be
// combined, and words.
var interpreting = map[string]struct {
	letters string
	words   []string
}{
	"node": {"ep", []string{"--eval", "--print"}}, "bun": {"ep", []string{"--eval", "--print"}}, "deno": {"", []string{"eval"}},
	"python": {"c", nil}, "perl": {"eE", nil}, "ruby": {"e", nil}, "php": {"r", nil}, "lua": {"e", nil},
	"sh": {"c", nil}, "bash": {"c", nil}, "dash": {"c", nil}, "ash": {"c", nil}, "zsh": {"c", nil}, "ksh": {"c", nil},
}

// valued lists flags of interpreters whose value is the next argument.
var valued = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "-W", "-X", "-o", "-I"}

// parseProgram reads a started program's arguments. A package manager may be a script or a module, that is, an
// argument of its interpreter.
func parseProgram(e profile.Effect) program {
	argv := e.Argv.Words()
	if len(argv) == 0 {
		argv = []string{e.Path}
	}
	if _, known := interpreting[baseName(argv[0])]; known {
		for i, arg := range argv[1:min(len(argv), 4)] {
			if _, known := pkgmanager.Of(baseName(arg)); known && (i == 0 || argv[i] == "-m") && strings.Trim(arg, "./") != "go" {
				argv = argv[i+1:]
				break
			}
		}
	}
	p := program{name: baseName(argv[0])}
	p.shell = slices.Contains(shells, p.name)
	p.downloads = slices.Contains(downloading, p.name)
	manager, _ := pkgmanager.Of(p.name)
	p.installs, p.resolves = manager.Fetches(argv[1:]), manager.Resolves
	if _, ok := interpreting[p.name]; ok {
		p.interprets = true
		p.takes(argv[1:])
	}
	return p
}

// takes finds where an interpreter gets its program from.
func (p *program) takes(args []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case pkgmanager.SpeaksOfItself(arg):
			return
		case p.inlines(arg):
			_, p.inline, _ = strings.Cut(arg, "=")
			if p.inline == "" && i+1 < len(args) {
				p.inline = args[i+1]
			}
			return
		case arg == "-", p.shell && arg == "-s":
			p.stdin = true
			return
		case slices.Contains(valued, arg):
			i++
		case !strings.HasPrefix(arg, "-"), arg == "-m":
			p.remote = p.resolves && slices.ContainsFunc(args[i:min(len(args), i+2)], isURL)
			return // a file or a module
		}
	}
	p.stdin = p.name != "bun" && p.name != "deno" // which print their help
}

// inlines reports whether the value of a flag is a program.
func (p *program) inlines(flag string) bool {
	flags := interpreting[p.name]
	word, _, _ := strings.Cut(flag, "=")
	short := len(flag) > 1 && flag[0] == '-' && flag[1] != '-'
	return short && strings.ContainsRune(flags.letters, rune(flag[len(flag)-1])) || slices.Contains(flags.words, word)
}

func isURL(arg string) bool {
	return strings.HasPrefix(arg, "https://") || strings.HasPrefix(arg, "http://")
}

// baseName returns the name of a program without directory, version and extension.
func baseName(program string) string {
	name := strings.TrimPrefix(path.Base(program), "-") // as of a login shell
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".js"), ".cjs")
	name = strings.TrimSuffix(name, "-cli")
	name = strings.TrimRight(name, "0123456789.")
	if name == "nodejs" {
		return "node"
	}
	return name
}
