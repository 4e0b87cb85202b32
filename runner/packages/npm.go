package packages

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// npmLock holds the used part of node_modules/.package-lock.json (package-lock.json, Hidden Lockfiles). The keys are directories.
type npmLock struct {
	Packages map[string]npmEntry `json:"packages"`
}

type npmEntry struct {
	Name      string `json:"name"` // where it differs from that of the directory
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	Resolved  string `json:"resolved"`
	Link      bool   `json:"link"`
	Optional  bool   `json:"optional"` // so is all that needs it
}

// npmDescription holds the used part of a package.json.
type npmDescription struct {
	Name    string            `json:"name"`
	Bin     json.RawMessage   `json:"bin"`
	Scripts map[string]string `json:"scripts"`
	GypFile *bool             `json:"gypfile"`
}

// runNothing keeps npm from running code of a package, and the npm that it starts itself. One that a repository of Git is prepared
// by reads an .npmrc there, which may name a program as git; the environment overrides that. They also keep a package from getting a
// directory or an archive of this machine. npm before 11.10 does not know allow-git and its like.
var runNothing = []string{"npm_config_ignore_scripts=true", "npm_config_allow_git=none", "npm_config_allow_remote=none", "npm_config_git=/bin/false",
	"npm_config_allow_file=none", "npm_config_allow_directory=none"}

func installNPM(ctx context.Context, p Package, dir string) (i Installed, all []locked, err error) {
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--no-save", "--json", "--", p.spec())
	cmd.Dir = dir // what starts npm, such as a manager of versions, may read settings where the user is
	cmd.Env = append(os.Environ(), runNothing...)
	var said bytes.Buffer
	cmd.Stdout = &said
	if err := enough.run(cmd, dir); err != nil {
		return i, nil, npmError(said.Bytes(), err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err != nil {
		return i, nil, err
	}
	var lock npmLock
	if err := json.Unmarshal(text, &lock); err != nil {
		return i, nil, fmt.Errorf("read what npm installed: %w", err)
	}
	described := map[string]npmDescription{}
	for at, entry := range lock.Packages {
		if entry.Link || strings.HasPrefix(entry.Resolved, "file:") { // package.json, Local Paths
			return i, nil, fmt.Errorf("it needs %.200q, which is a file of this machine and in no registry", entry.Resolved)
		}
		all = append(all, entry.locked(at))
		if described[at], err = describe(filepath.Join(dir, at)); err != nil {
			return i, nil, err
		}
	}
	i.Scripts = lock.scripts(dir, described)
	own := path.Join("node_modules", p.Name)
	i.programs, err = described[own].programs(filepath.Join(dir, own))
	return i, all, err
}

// Checkout returns the npm package whose sources are in a directory, built and with its dependencies installed.
func Checkout(dir string) (i Installed, err error) {
	d, err := describe(dir)
	if err != nil {
		return i, err
	}
	i.Report.RegistryType, i.Report.Identifier = string(NPM), d.Name
	i.programs, err = d.programs(dir)
	return i, err
}

// npmError returns npm's own reason from its output, if it gives one.
func npmError(said []byte, err error) error {
	var failed struct {
		Error struct {
			Summary string `json:"summary"`
		} `json:"error"`
	}
	if json.Unmarshal(said, &failed) == nil && failed.Error.Summary != "" {
		summary, _, _ := strings.Cut(failed.Error.Summary, "\n")
		return fmt.Errorf("npm: %s", summary)
	}
	return fmt.Errorf("npm: %w", err)
}

func (e npmEntry) locked(at string) locked {
	l := locked{name: e.Name, version: e.Version, digest: e.Integrity}
	if l.name == "" {
		l.name = at[strings.LastIndex(at, "node_modules/")+len("node_modules/"):]
	}
	if l.digest == "" {
		l.digest = e.Resolved // a commit of Git has no other
	}
	return l
}

func describe(dir string) (d npmDescription, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("read the package.json of %s: %w", filepath.Base(dir), err)
	}
	if exists(filepath.Join(dir, "binding.gyp")) && d.Scripts["install"] == "" && d.Scripts["preinstall"] == "" && (d.GypFile == nil || *d.GypFile) {
		d.Scripts = maps.Clone(d.Scripts)
		if d.Scripts == nil {
			d.Scripts = map[string]string{}
		}
		d.Scripts["install"] = "node-gyp rebuild" // npm-scripts(7), npm install
	}
	return d, nil
}

// scripts returns the scripts that npm runs after an installation, in its order: by script, and then by directory.
func (l npmLock) scripts(dir string, described map[string]npmDescription) (all []Script) {
	compilers, env := addons()
	for _, event := range []string{"preinstall", "install", "postinstall"} {
		for _, at := range slices.Sorted(maps.Keys(described)) {
			script := described[at].Scripts[event]
			if script == "" {
				continue
			}
			of, in := l.Packages[at].locked(at), filepath.Join(dir, at)
			all = append(all, Script{
				Of: fmt.Sprintf("%s@%s (%s)", of.name, of.version, event), Dir: in, Command: []string{"/bin/sh", "-c", script},
				Optional: l.Packages[at].Optional,
				Env: append(slices.Clone(env),
					"npm_lifecycle_event="+event, "npm_lifecycle_script="+script, "npm_command=install", "INIT_CWD="+dir,
					"npm_package_name="+of.name, "npm_package_version="+of.version, "npm_package_json="+filepath.Join(in, "package.json"),
					"npm_config_user_agent=npm/10.9.2 node/v22.14.0 linux x64 workspaces/false",
					"PATH="+filepath.Join(in, "node_modules", ".bin")+":"+filepath.Join(dir, "node_modules", ".bin")+":"+compilers+os.Getenv("PATH"),
				),
			})
		}
	}
	return all
}

// addons returns the tools that compile add-ons here: the node-gyp that npm brings along and puts into PATH,
// and the headers of Node.js, which node-gyp would fetch.
func addons() (path string, env []string) {
	modules := filepath.Join(prefix("npm"), "node_modules")
	if gyp := filepath.Join(modules, "node-gyp", "bin", "node-gyp.js"); exists(gyp) {
		path = filepath.Join(modules, "@npmcli", "run-script", "lib", "node-gyp-bin") + ":"
		env = append(env, "npm_config_node_gyp="+gyp)
	}
	if node := prefix("node"); exists(filepath.Join(node, "include", "node", "node.h")) {
		env = append(env, "npm_config_nodedir="+node)
	}
	return path, env
}

// prefix returns the directory that a program is installed in, with all links resolved; "" for none.
func prefix(program string) string {
	file, err := exec.LookPath(program)
	if err == nil {
		file, err = filepath.EvalSymlinks(file)
	}
	if err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(file))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// programs returns the commands of the package in a directory.
func (d npmDescription) programs(dir string) (map[string][]string, error) {
	files, only := map[string]string{}, ""
	if json.Unmarshal(d.Bin, &only) == nil && only != "" {
		files[path.Base(d.Name)] = only
	} else if len(d.Bin) > 0 && json.Unmarshal(d.Bin, &files) != nil {
		return nil, fmt.Errorf("the package.json of %s has a bin that names no programs", d.Name)
	}
	programs := map[string][]string{}
	for name, file := range files {
		if file = filepath.FromSlash(file); !filepath.IsLocal(file) {
			continue // npm makes no program of it either
		}
		file = filepath.Join(dir, file)
		programs[name] = append(interpreter(file), file)
	}
	return programs, nil
}

// interpreter returns node for a script that names it in its first line, so that env(1) is not a part of the server.
func interpreter(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil // the audit will say so
	}
	defer func() { _ = f.Close() }() // only read
	first, _ := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	if line := strings.TrimSpace(string(first)); strings.HasPrefix(line, "#!") && strings.HasSuffix(line, "node") {
		return []string{"node"}
	}
	return nil
}
