package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// pypiReport holds the used part of pip's Installation Report (pip.pypa.io).
type pypiReport struct {
	Install []struct {
		Metadata struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
		// Direct: it came from a URL that another package names.
		Direct   bool `json:"is_direct"`
		Download struct {
			URL     string `json:"url"`
			Archive struct {
				Hashes map[string]string `json:"hashes"`
			} `json:"archive_info"`
		} `json:"download_info"`
	} `json:"install"`
}

// guard is the sitecustomize.py of the pip of the virtual environment %[1]q. It keeps pip from starting a program: with --only-binary
// pip takes no source from an index, but builds what a package needs by a URL all the same. It also keeps pip from changing a file
// outside the environment and its temporary directory %[2]q: pip creates a script of any name that a wheel gives it, even
// "/home/me/.profile". Its cache is outside, too: pip would install for other packages what a wheel put there.
const guard = `import os, sys
if os.path.realpath(sys.prefix) == os.path.realpath(%[1]q):
    starts = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty")
    # where each event has paths that it changes, and the descriptors of the directories that they are relative to
    changes = {"os.mkdir": [(0, 2)], "os.remove": [(0, 1)], "os.rmdir": [(0, 1)], "os.chmod": [(0, 2)], "os.chown": [(0, 3)], "os.truncate": [(0, 9)],
        "os.utime": [(0, 3)], "os.setxattr": [(0, 9)], "os.removexattr": [(0, 9)], "os.rename": [(0, 2), (1, 3)], "os.link": [(0, 2), (1, 3)], "os.symlink": [(1, 2)]}
    within = tuple(os.path.realpath(at) + os.sep for at in (%[1]q, %[2]q))
    def changed(event, args):
        if event == "open":
            return [(args[0], -1)] if args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND) else []
        return [(args[path], args[dir] if dir < len(args) else -1) for path, dir in changes.get(event, [])]
    def hook(event, args):
        if event in starts:
            raise PermissionError("a package that has to be built is not installed")
        for path, dir in changed(event, args):
            if isinstance(path, int) or os.fspath(path) in (os.devnull, os.fsencode(os.devnull)):
                continue
            path = os.fsdecode(path)
            if dir >= 0:
                path = os.path.join(os.readlink("/proc/self/fd/%%d" %% dir), path)
            real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            if not (real + os.sep).startswith(within):
                raise PermissionError("a package is not installed that changes a file outside its own directory: %%.200r" %% path)
    sys.addaudithook(hook)
`

// installPyPI makes a virtual environment, as uvx does: a variable for the path of modules would make each
// audit Inconclusive (CodeLoaded). It installs only wheels, because building a source distribution runs its code.
// A package for another version of Python is installed with another interpreter of the machine, if there is one.
func installPyPI(ctx context.Context, p Package, dir string) (i Installed, all []locked, err error) {
	interpreters := append([]string{"python3"}, otherPythons()...)
	for n, interpreter := range interpreters {
		attempt := filepath.Join(dir, fmt.Sprint("python", n))
		if err := os.Mkdir(attempt, 0o755); err != nil {
			return i, nil, err
		}
		next, locked, failed := installWith(ctx, interpreter, p, attempt)
		if failed == nil {
			return next, locked, nil
		}
		if n == 0 {
			err = failed
		}
		if n == 0 && !errors.Is(err, errOtherPython) || ctx.Err() != nil {
			break
		}
		_ = os.RemoveAll(attempt) // goes with all of dir
	}
	return i, nil, err
}

// otherPythons returns the interpreters of Python 3 besides the one that is first in PATH, by their versions.
func otherPythons() []string {
	home, _ := os.UserHomeDir() // without a home there are none in it
	patterns := []string{filepath.Join(home, ".pyenv/versions/3.*/bin/python3"), filepath.Join(home, ".local/share/uv/python/cpython-3.*/bin/python3")}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		patterns = append(patterns, filepath.Join(dir, "python3.[0-9]*[0-9]"))
	}
	versions := map[int]string{}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the only error is a malformed pattern
		for _, file := range found {
			version := pythonMinor.FindStringSubmatch(file)
			if version == nil {
				continue
			}
			if minor, err := strconv.Atoi(version[1]); err == nil && versions[minor] == "" && minor >= leastPython {
				versions[minor] = file
			}
		}
	}
	var all []string
	for _, minor := range slices.Sorted(maps.Keys(versions)) {
		all = append(all, versions[minor])
	}
	return all
}

// leastPython is the first 3.N that packages of servers are for: no SDK is for an older one.
const leastPython = 10

// pythonMinor matches the N of 3.N in the path of an interpreter.
var pythonMinor = lazyregexp.New(`(?:/versions/|/cpython-|/python)3\.(\d{1,3})[^/]*(?:/bin/python3)?$`)

// errOtherPython says that a package has versions, but none for the interpreter.
var errOtherPython = errors.New("it is for another version of Python")

// installWith installs a package for an interpreter.
func installWith(ctx context.Context, interpreter string, p Package, dir string) (i Installed, all []locked, err error) {
	venv, guarded, temporary := filepath.Join(dir, "venv"), filepath.Join(dir, "guard"), filepath.Join(dir, "tmp")
	python, said := filepath.Join(venv, "bin", "python"), filepath.Join(temporary, "installed.json")
	if err := errors.Join(os.Mkdir(temporary, 0o700), runPython(ctx, interpreter, dir, "", "venv", "--without-pip", venv)); err != nil {
		return i, nil, err
	}
	hook := fmt.Sprintf(guard, venv, temporary)
	if err := errors.Join(os.Mkdir(guarded, 0o755), os.WriteFile(filepath.Join(guarded, "sitecustomize.py"), []byte(hook), 0o644)); err != nil {
		return i, nil, err
	}
	arguments := []string{"--python", python, "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
		"--no-cache-dir", "--only-binary", ":all:", "--report", said, "--", p.spec()}
	if err := runPython(ctx, interpreter, dir, guarded, "pip", append(arguments, strings.Fields(p.Besides)...)...); err != nil {
		return i, nil, err
	}
	text, err := os.ReadFile(said)
	if err != nil {
		return i, nil, err
	}
	if all, err = pypiLocked(text); err != nil {
		return i, nil, err
	}
	i.programs, err = pypiPrograms(venv, p.Name)
	return i, all, err
}

// pypiLocked reads pip's report, and refuses dependencies by URL, which may be files or services of this machine.
func pypiLocked(text []byte) (all []locked, err error) {
	var installed pypiReport
	if err := json.Unmarshal(text, &installed); err != nil {
		return nil, fmt.Errorf("read what pip installed: %w", err)
	}
	for _, of := range installed.Install {
		if of.Direct {
			return nil, fmt.Errorf("it needs %.200q, which is in no index", of.Download.URL)
		}
		all = append(all, locked{name: of.Metadata.Name, version: of.Metadata.Version, digest: "sha256:" + of.Download.Archive.Hashes["sha256"]})
	}
	return all, nil
}

// runPython executes a Python module in a directory of ours, with others from a path. Of pip's errors it prefers the broken
// connection to the missing package that follows from it.
func runPython(ctx context.Context, interpreter, dir, path, module string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, interpreter, append([]string{"-m", module}, arguments...)...)
	cmd.Dir = dir // with -m the working directory comes before the standard library, and the user's may be a checkout of somebody hostile
	cmd.Env = append(os.Environ(), "PYTHONPATH="+path, "TMPDIR="+filepath.Join(dir, "tmp"))
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	err := enough.run(cmd, dir)
	if err == nil || errors.Is(err, errTooMuch) {
		return err
	}
	said, why := text.String(), err.Error()
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(line, "ERROR: "); ok {
			why = strings.TrimSpace(text)
		}
	}
	if _, broken, ok := strings.Cut(said, "after connection broken by "); ok {
		why, _, _ = strings.Cut(broken, "\n")
	}
	if strings.Contains(said, "require a different python version") {
		return fmt.Errorf("%s: %.300s: %w", module, why, errOtherPython)
	}
	return fmt.Errorf("%s: %.300s", module, why)
}

// pypiPrograms reads the programs of a package off its entry points (packaging.python.org, Entry points
// specification).
func pypiPrograms(venv, name string) (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages", "*.dist-info", "entry_points.txt"))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, func(file string) bool {
		dist, _, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-")
		return normal(PyPI, dist) == normal(PyPI, name)
	})
	programs := map[string][]string{}
	if i < 0 {
		return programs, nil
	}
	text, err := os.ReadFile(files[i])
	if err != nil {
		return nil, err
	}
	for _, program := range scripts(string(text)) {
		if filepath.Base(program) == program {
			programs[program] = []string{filepath.Join(venv, "bin", "python"), filepath.Join(venv, "bin", program)}
		}
	}
	return programs, nil
}

// scripts returns the names in the section [console_scripts] of an entry_points.txt.
func scripts(text string) (names []string) {
	within := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, _, assigned := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			within = line == "[console_scripts]"
		case within && assigned && strings.TrimSpace(name) != "":
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
