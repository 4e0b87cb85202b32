package profile

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// scratch is the directory that the audit's own arguments name: a file that a call reads there is the
// argument, not code.
const scratch = "/tmp"

// Bounds of the paths, and of the scripts, that a Code remembers.
const (
	maxCode    = 4096
	maxScripts = 64
)

// Code collects the places from which programs were started, and from which loaders and
// interpreters loaded code or looked for it. The zero value is empty.
type Code struct {
	seen map[string]bool
	// early has the places below scratch, with the first moment of each; made has the files
	// there that the server wrote itself.
	early map[string]ledger.Moment
	made  map[string]bool
	// scripts has the files that interpreters were started with; true: by Python.
	scripts map[string]bool
	// modules has Python processes with modules in their working directory, which is not known yet.
	modules map[int]bool
	lost    bool
}

// Add adds one event.
func (c *Code) Add(e trace.Event) {
	switch e.Op {
	case trace.OpExec:
		c.add(e, e.Path)
		if e.Running != "" {
			c.add(e, e.Running)
		}
		if e.Errno == "" {
			c.started(e)
		}
	case trace.OpRead:
		if c.modules[e.PID] && e.Dir != "" {
			delete(c.modules, e.PID)
			c.add(e, e.Dir)
		}
		if slices.Contains(e.Flags, "O_DIRECTORY") || slices.Contains(e.Flags, "O_PATH") {
			return
		}
		for _, name := range []string{e.Path, e.Asked} {
			for _, code := range c.places(name, e.Failed()) {
				c.add(e, code)
			}
		}
	case trace.OpWrite:
		c.wrote(e, e.Path)
	case trace.OpRename, trace.OpLink:
		c.wrote(e, e.Path)
		c.wrote(e, e.Target)
	}
}

func (c *Code) wrote(e trace.Event, name string) {
	if !e.Failed() && codepath.Below(name, scratch) && len(c.made) < maxCode {
		put(&c.made, name)
	}
}

func (c *Code) add(e trace.Event, name string) {
	name = path.Clean(name)
	if tree := codepath.Tree(name); tree != "" {
		name = tree
	}
	switch {
	case !path.IsAbs(name) || e.Op != trace.OpExec && codepath.InSystem(name) || c.seen[name]:
		return
	case codepath.Below(name, "/proc"), codepath.Below(name, "/dev"), codepath.Below(name, "/sys"), strings.HasPrefix(name, "/memfd:"):
		return // no volume is mounted there
	case len(c.seen)+len(c.early) >= maxCode:
		c.lost = true
	case codepath.Below(name, scratch):
		if _, known := c.early[name]; !known && !c.made[e.Path] {
			if c.early == nil {
				c.early = map[string]ledger.Moment{}
			}
			c.early[name] = ledger.MomentOf(e)
		}
	default:
		put(&c.seen, name)
	}
}

// started learns which files are code because an interpreter was started with them.
func (c *Code) started(e trace.Event) {
	program := interpreter(e.Path)
	if slices.Contains(homed, program) {
		c.add(e, codepath.Home)
	}
	if program == "" || len(e.Argv) == 0 {
		return
	}
	script, inDir := scriptOf(program, e.Argv[1:])
	switch {
	case isPython(program) && inDir && e.Dir != "":
		c.add(e, e.Dir)
	case isPython(program) && inDir && len(c.modules) < maxScripts:
		if c.modules == nil {
			c.modules = map[int]bool{}
		}
		c.modules[e.PID] = true
	case script != "" && len(c.scripts) < maxScripts:
		if !path.IsAbs(script) {
			script = path.Join(e.Dir, script)
		}
		if c.scripts == nil {
			c.scripts = map[string]bool{}
		}
		c.scripts[path.Clean(script)] = isPython(program)
	}
}

func isPython(program string) bool { return program == "python" || program == "pypy" }

// interpreters run the file that their first argument names, whatever its name.
var interpreters = []string{
	"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "luajit", "tclsh", "Rscript", "julia", "awk", "gawk", "mawk",
	"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox",
}

// homed load code from below the home; the trace does not show when their stat(2) finds
// nothing there.
var homed = []string{"python", "pypy", "node", "nodejs", "bun", "ruby", "Rscript", "julia"}

// interpreter returns the name of an interpreter without its version; empty for another program.
func interpreter(program string) string {
	base := strings.TrimRight(path.Base(program), "0123456789.-")
	if slices.Contains(interpreters, base) {
		return base
	}
	return ""
}

// scriptOf returns the file that an interpreter runs, from its arguments. inDir: there is
// none, and Python looks for modules in its working directory (docs.python.org, sys.path).
func scriptOf(program string, args []string) (script string, inDir bool) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if !strings.HasPrefix(word, "-") {
			return word, false
		}
		if !isPython(program) || strings.HasPrefix(word, "--") {
			continue
		}
		switch {
		case word == "-X", word == "-W":
			i++
		case strings.HasPrefix(word, "-X"), strings.HasPrefix(word, "-W"):
		case strings.ContainsAny(word, "IP"): // -I and -P leave the directory out
			return "", false
		case strings.ContainsAny(word, "mc"):
			return "", true
		}
	}
	return "", true
}

// places returns the code paths that an access to a file stands for: none if it is not code.
func (c *Code) places(name string, failed bool) []string {
	dir, base := path.Dir(name), path.Base(name)
	python, isScript := c.script(name)
	switch {
	case !path.IsAbs(name):
		return nil
	case base == "pyvenv.cfg" && !failed, base == "php.ini", base == "php-cli.ini":
		return []string{dir} // the virtual environment's programs are beside it, and in conf.d more of PHP's settings
	case slices.Contains(settings, base), strings.HasSuffix(base, "._pth"):
		return []string{name}
	case !isScript && !isCode(base):
		return nil
	case failed && slices.Contains(shared, dir):
		return []string{name}
	case dir != "/":
		return []string{dir}
	case python || strings.HasPrefix(path.Ext(base), ".py"):
		return []string{name, codepath.Root}
	}
	return []string{name}
}

// script reports whether an interpreter was started with a file, and whether it was Python.
func (c *Code) script(name string) (python, ok bool) {
	if python, ok = c.scripts[name]; ok {
		return python, true
	}
	for script, by := range c.scripts {
		if !path.IsAbs(script) && strings.HasSuffix(name, "/"+script) { // its directory was not known
			return by, true
		}
	}
	return false, false
}

// settings lists files that name code, and that programs look for one by one.
var settings = []string{
	"package.json", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", "deno.json", "deno.jsonc", "bunfig.toml", "tsconfig.json", ".npmrc", "node.config.json", "pyvenv.cfg",
	"Gemfile", "gitconfig", ".gitconfig", "ssh_config", "openssl.cnf", "krb5.conf", "odbcinst.ini", "profile", ".profile", "bashrc", ".bashrc", "bash.bashrc", ".bash_profile", "zshenv", ".zshenv",
}

// shared lists directories of unrelated files: a look-up that failed there concerns only its own name.
var shared = []string{"/", "/etc", "/home", "/root", "/opt", "/srv", "/usr", "/usr/local", "/usr/share", "/var", "/run", "/mnt", "/media", "/data", scratch}

// extensions lists the extensions of files that loaders and interpreters run.
var extensions = []string{
	".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".node", ".wasm", ".py", ".pyc", ".pyo", ".pyw", ".pyz", ".pth", ".egg", ".whl", ".rb", ".pl", ".pm", ".ph",
	".php", ".phar", ".jar", ".class", ".jmod", ".jsa", ".lua", ".luac", ".tcl", ".jl", ".beam", ".ez", ".dll", ".exe", ".sh", ".bash", ".zsh", ".awk", ".R", ".groovy", ".clj",
}

// isCode reports whether a file is code by its name: libnotes.so.1, server.js.
func isCode(base string) bool {
	if slices.Contains(extensions, path.Ext(base)) {
		return true
	}
	at := strings.LastIndex(base, ".so")
	return at > 0 && strings.Trim(base[at+len(".so"):], "0123456789.") == ""
}

// Paths returns the code paths of a run, unsorted; ok is false if not all are known.
func (c *Code) Paths(l ledger.Ledger) (paths []string, ok bool) {
	for name := range c.seen {
		paths = append(paths, name)
	}
	for name, first := range c.early {
		if l.At(first).Phase == report.PhaseStartup {
			paths = append(paths, name)
		}
	}
	return paths, !c.lost
}
