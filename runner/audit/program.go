package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// program says what a started program does with code, by its arguments.
type program struct {
	name string
	// installs: it fetches packages and runs them or leaves them for later. resolves: it
	// does so if the server's own modules ask for it. downloads: it prints what it fetches.
	installs, resolves, downloads bool
	// interprets: it runs a program that is a file; stdin: that is read from its standard
	// input; inline: that is this argument. shell: servers run commands by it.
	// remote: its program is a URL.
	interprets, stdin, shell, remote bool
	inline                           string
}

// installing are the subcommands by which package managers fetch; "" is none at all.
var installing = map[string][]string{
	"npx": nil, "pnpx": nil, "bunx": nil, "uvx": nil,
	"npm":  {"exec", "x", "install", "i", "add", "ci", "update", "up", "init", "create"},
	"pnpm": {"dlx", "install", "i", "add", "update", "up", "create"},
	"yarn": {"", "dlx", "install", "add", "up", "upgrade", "create"},
	"bun":  {"x", "install", "i", "add", "update", "create"},
	"pip":  {"install", "download"}, "pipx": {"run", "install", "upgrade"}, "poetry": {"install", "add", "update"},
	"uv": {"tool", "pip", "sync", "add"}, "deno": {"install", "add"}, "gem": {"install", "update"}, "bundle": {"install", "update"},
	"go": {"install", "get"}, "cargo": {"install"},
}

// onDemand fetch what the modules that they run ask for.
var onDemand = []string{"bun", "deno", "uv", "corepack", "go", "cargo", "bundle", "mvn", "gradle", "jbang"}

var downloading = []string{"curl", "wget", "aria2c", "http", "https", "xh", "lwp-request"}

var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// interpreting are the flags by which interpreters take their program as an argument:
// single letters, that may stand behind others, and words.
var interpreting = map[string]struct {
	letters string
	words   []string
}{
	"node": {"ep", []string{"--eval", "--print"}}, "bun": {"ep", []string{"--eval", "--print"}}, "deno": {"", []string{"eval"}},
	"python": {"c", nil}, "perl": {"eE", nil}, "ruby": {"e", nil}, "php": {"r", nil}, "lua": {"e", nil},
	"sh": {"c", nil}, "bash": {"c", nil}, "dash": {"c", nil}, "ash": {"c", nil}, "zsh": {"c", nil}, "ksh": {"c", nil},
}

// asking are flags with which an interpreter only speaks of itself, and valued those
// whose value is the next argument; managing are those of package managers.
var (
	asking = []string{"-v", "-V", "-VV", "--version", "-h", "--help"}
	valued = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "-W", "-X", "-o", "-I"}

	managing = []string{"-C", "-w", "--cache", "--cwd", "--directory", "--dir", "--filter", "--prefix", "--project", "--python", "--registry", "--workspace"}
)

// parseProgram reads a started program's arguments. A package manager may be a script or
// a module, and an argument of its interpreter.
func parseProgram(e profile.Effect) program {
	argv := e.Argv.Words()
	if len(argv) == 0 {
		argv = []string{e.Path}
	}
	if _, known := interpreting[baseName(argv[0])]; known {
		for i, arg := range argv[1:min(len(argv), 4)] {
			if _, known := installing[baseName(arg)]; known && (i == 0 || argv[i] == "-m") && strings.Trim(arg, "./") != "go" {
				argv = argv[i+1:]
				break
			}
		}
	}
	p := program{name: baseName(argv[0])}
	p.shell = slices.Contains(shells, p.name)
	p.downloads = slices.Contains(downloading, p.name)
	p.resolves = slices.Contains(onDemand, p.name)
	if subcommands, ok := installing[p.name]; ok {
		p.installs = subcommands == nil || installs(subcommands, argv[1:])
	}
	if _, ok := interpreting[p.name]; ok {
		p.interprets = true
		p.takes(argv[1:])
	}
	return p
}

// takes finds where an interpreter has its program from.
func (p *program) takes(args []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case slices.Contains(asking, arg):
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
	p.stdin = p.name != "bun" && p.name != "deno" // which explain themselves
}

// inlines reports whether a flag makes a program of its value.
func (p *program) inlines(flag string) bool {
	flags := interpreting[p.name]
	word, _, _ := strings.Cut(flag, "=")
	short := len(flag) > 1 && flag[0] == '-' && flag[1] != '-'
	return short && strings.ContainsRune(flags.letters, rune(flag[len(flag)-1])) || slices.Contains(flags.words, word)
}

func isURL(arg string) bool {
	return strings.HasPrefix(arg, "https://") || strings.HasPrefix(arg, "http://")
}

// installs reports whether arguments begin with one of some subcommands, after flags.
func installs(subcommands, args []string) bool {
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(asking, args[i]):
			return false
		case slices.Contains(managing, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			return slices.Contains(subcommands, args[i])
		}
	}
	return slices.Contains(subcommands, "")
}

// baseName is the name of a program without its directory, version and extension.
func baseName(program string) string {
	name := strings.TrimPrefix(path.Base(program), "-") // a login shell's
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".js"), ".cjs")
	name = strings.TrimSuffix(name, "-cli")
	name = strings.TrimRight(name, "0123456789.")
	if name == "nodejs" {
		return "node"
	}
	return name
}
