package packages

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func TestParse(t *testing.T) {
	for reference, want := range map[string]Package{
		"npm:server": {Registry: NPM, Name: "server"}, "npm:@scope/server@1.2.3-rc.1": {Registry: NPM, Name: "@scope/server", Version: "1.2.3-rc.1"}, "npm:server@latest": {Registry: NPM, Name: "server", Version: "latest"},
		"pypi:mcp_server.time": {Registry: PyPI, Name: "mcp_server.time"}, "pypi:server==1.0.post1": {Registry: PyPI, Name: "server", Version: "1.0.post1"},
		"registry:io.github.somebody/server": {Registry: MCPRegistry, Name: "io.github.somebody/server"}, "registry:com.example/a@1.0.0": {Registry: MCPRegistry, Name: "com.example/a", Version: "1.0.0"},
		"oci:ghcr.io/a/b:1@sha256:c": {Registry: OCI, Name: "ghcr.io/a/b:1@sha256:c"}, "oci:./layout": {Registry: OCI, Name: "./layout"},
	} {
		got, named, err := Parse(reference)
		if err != nil || !named || got != want || got.String() != reference {
			t.Errorf("%s is %+v (%s), %v, %v", reference, got, got, named, err)
		}
	}
	for _, command := range []string{"node", "./npm", "C:\\server.exe", ""} {
		if _, named, err := Parse(command); named || err != nil {
			t.Errorf("%q is a package, or %v", command, err)
		}
	}
	for _, reference := range []string{
		"npm:", "npm:@scope", "npm:../x", "npm:x@", "npm:x@^1", "npm:--global", "npm:x@--y", "npm:https://evil.test/x.tgz", "npm:a/b", "npm:@a/../b", "npm:@a/b/c",
		"pypi:", "pypi:-r", "pypi:x==", "pypi:x==1 --y", "pypi:x[extra]", "pypi:git+https://evil.test/x", "pypi:x>=1",
		"registry:", "registry:x", "registry:../..", "registry:a/..", "registry:a/b/c", "registry:a/b@", "registry:a/b?x=1",
		"mcpb:", "oci:",
	} {
		if p, _, err := Parse(reference); err == nil {
			t.Errorf("%s is %+v", reference, p)
		}
	}
}

// FuzzParse: whatever a reference holds, no installer takes what comes of it for a flag, a path or a URL.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"npm:@a/b@1", "pypi:a==1", "npm:-g", "npm:a@file:x", "registry:a/b@1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		p, named, err := Parse(reference)
		if !named || err != nil || p.Registry == MCPB || p.Registry == OCI { // which no installer gets
			return
		}
		if spec := p.spec(); strings.HasPrefix(spec, "-") || strings.Contains(spec, ":") || strings.Contains(spec, "..") && strings.Contains(spec, "/..") || strings.ContainsAny(spec, " \n\x00") {
			t.Errorf("%q becomes %q", reference, spec)
		}
	})
}

func TestLaunch(t *testing.T) {
	project := t.TempDir()
	below := filepath.Join(project, "a", "b")
	link := filepath.Join(project, "node_modules", ".bin", "tsx")
	if err := errors.Join(os.MkdirAll(below, 0o755), os.MkdirAll(filepath.Dir(link), 0o755), os.WriteFile(link, nil, 0o755)); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"npx -y @a/b --flag x":                   "npm:@a/b  --flag x",
		"/usr/bin/npx @a/b@1.2.3":                "npm:@a/b@1.2.3 ",
		"npx --yes --package=@a/b@latest prog 1": "npm:@a/b@latest prog 1",
		"npx -p @a/b prog":                       "npm:@a/b prog",
		"npm exec -y -- @a/b":                    "npm:@a/b ",
		"uvx mcp-server-time@2026.1 --utc":       "pypi:mcp-server-time==2026.1  --utc",
		"uvx x@latest":                           "pypi:x ",
		"uvx --from a==1 b":                      "pypi:a==1 b",
		"uv tool run --from a b":                 "pypi:a b",
		"pipx run --spec a b":                    "pypi:a b",
		"npx esbuild":                            "npm:esbuild ",
		"npx tsx server.ts":                      "", // the project's own
		"npx -c x":                               "", "npx": "", "npx -y": "", "npx -y ./server": "", "npx -y github:a/b": "", "uvx --with a b": "", "uvx a[b]": "",
		"uvx git+https://x": "", "npm start": "", "node server.js": "", "npx -p a -p b c": "",
	} {
		got := ""
		if l, ok, _ := Launch(strings.Fields(command), below); ok {
			got = strings.TrimRight(strings.Join(append([]string{l.String(), l.Program}, l.Arguments...), " "), " ")
		}
		if got != strings.TrimRight(want, " ") {
			t.Errorf("%s is %q, want %q", command, got, want)
		}
	}
}

// TestReport: a lock does not depend on an order, and differs with each name, version and archive.
func TestReport(t *testing.T) {
	p := Package{Registry: PyPI, Name: "My.Server"}
	all := []locked{{"my-server", "1.0", "sha256:a"}, {"other", "2.0", "sha256:b"}}
	r := p.report(all)
	if r.Version != "1.0" || r.Count != 2 || r.RegistryType != "pypi" || r.Identifier != "My.Server" {
		t.Errorf("%+v", r)
	}
	slices.Reverse(all)
	if again := p.report(all); again.LockDigest != r.LockDigest {
		t.Error("the lock depends on the order")
	}
	for _, change := range []func(*locked){func(l *locked) { l.name = "x" }, func(l *locked) { l.version = "2" }, func(l *locked) { l.digest = "c" }} {
		other := slices.Clone(all)
		change(&other[0])
		if p.report(other).LockDigest == r.LockDigest {
			t.Errorf("%+v has the same lock", other)
		}
	}
}

func TestCommand(t *testing.T) {
	i := Installed{Report: report.Package{Identifier: "@a/server"}, programs: map[string][]string{"server": {"/x"}, "tool": {"/y"}}}
	for program, want := range map[string]string{"": "/x", "tool": "/y"} {
		if got, err := i.Command(program); err != nil || got[0] != want {
			t.Errorf("%q is %v, %v", program, got, err)
		}
	}
	if _, err := i.Command("z"); err == nil || !strings.Contains(err.Error(), "server, tool") {
		t.Errorf("%v", err)
	}
}

// TestNearestProgram: of several programs, the one whose name comes nearest to the package's is started, if there is one.
func TestNearestProgram(t *testing.T) {
	for programs, want := range map[string]string{"note-mcp note-mcp-serve": "note-mcp-serve", "one two": "", "note-mcp-a note-mcp-b": "", "note-mcp other": "note-mcp"} {
		if got := nearest("note-mcp-server", strings.Fields(programs)); got != want {
			t.Errorf("%s: %q, want %q", programs, got, want)
		}
	}
}

// TestNPM reads what npm has installed: scripts by event, one that npm makes itself, and programs inside the package only.
func TestNPM(t *testing.T) {
	dir := t.TempDir()
	described := map[string]npmDescription{}
	lock := npmLock{Packages: map[string]npmEntry{}}
	for at, text := range map[string]string{
		"node_modules/b":                   `{"name":"b","scripts":{"postinstall":"two","preinstall":"one","test":"no"}}`,
		"node_modules/@a/c/node_modules/d": `{"name":"d"}`,
		"node_modules/e":                   `{"name":"e","gypfile":false}`,
		"node_modules/f":                   `{"name":"f","scripts":{"postinstall":"three"}}`,
	} {
		in := filepath.Join(dir, at)
		if err := errors.Join(os.MkdirAll(in, 0o755), os.WriteFile(filepath.Join(in, "package.json"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(at, "/d") || strings.HasSuffix(at, "/e") {
			if err := os.WriteFile(filepath.Join(in, "binding.gyp"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if described[at], err = describe(in); err != nil {
			t.Fatal(err)
		}
		lock.Packages[at] = npmEntry{Version: "1.0.0", Optional: strings.HasSuffix(at, "/d")}
	}
	var got []string
	for _, s := range lock.scripts(dir, described) {
		got = append(got, s.Of+" "+s.Command[2])
		if s.Optional != strings.HasPrefix(s.Of, "d@") {
			t.Errorf("%s: optional: %v", s.Of, s.Optional)
		}
	}
	if want := []string{"b@1.0.0 (preinstall) one", "d@1.0.0 (install) node-gyp rebuild", "b@1.0.0 (postinstall) two", "f@1.0.0 (postinstall) three"}; !slices.Equal(got, want) {
		t.Errorf("scripts %q, want %q", got, want)
	}
	if all, err := (npmDescription{Name: "@a/x", Bin: []byte(`"./cli.js"`)}).programs("/p"); err != nil || all["x"][0] != "/p/cli.js" {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := (npmDescription{Bin: []byte(`{"x":"../../bin/sh","y":"/bin/sh"}`)}).programs("/p"); err != nil || len(all) != 0 {
		t.Errorf("programs outside of the package: %v, %v", all, err)
	}
}

// FuzzNPM: what a publisher has written neither leads out of the package nor stops us.
func FuzzNPM(f *testing.F) {
	f.Add([]byte(`{"name":"a","bin":{"x":"../y"},"scripts":{"install":"x"}}`))
	f.Add([]byte(`{"name":"../a","bin":"."}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d npmDescription
		if json.Unmarshal(text, &d) != nil {
			return
		}
		all, _ := d.programs("/p")
		for name, command := range all {
			if file := command[len(command)-1]; file != "/p" && !strings.HasPrefix(file, "/p/") {
				t.Errorf("%s is %s", name, file)
			}
		}
	})
}

func FuzzEntryPoints(f *testing.F) {
	f.Add("[console_scripts]\na = b:c\n[other]\nd = e:f\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range scripts(text) {
			if strings.TrimSpace(name) != name || name == "" {
				t.Errorf("%q", name)
			}
		}
	})
}

func TestEntryPoints(t *testing.T) {
	if got := scripts("# x\n[gui_scripts]\nno = a:b\n\n[console_scripts]\none=a:b\n two = c:d [extra]\nnothing\n[x]\nno=1\n"); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%q", got)
	}
}

func TestNPMError(t *testing.T) {
	if got := npmError([]byte(`{"error":{"code":"E404","summary":"Not Found - GET x\nmore"}}`), errors.New("exit status 1")); got.Error() != "npm: Not Found - GET x" {
		t.Error(got)
	}
	if got := npmError([]byte("no JSON"), errors.New("exit status 1")); got.Error() != "npm: exit status 1" {
		t.Error(got)
	}
}

// TestU1InstallersStartElsewhere: an installer runs outside of the sandbox, and so runs nothing of where the user is, which
// may be a checkout of the server that is audited.
func TestU1InstallersStartElsewhere(t *testing.T) {
	here, dir := t.TempDir(), t.TempDir()
	ours := filepath.Join(here, "ran")
	for _, module := range []string{"venv.py", "pip.py", "runpy.py", "argparse.py", "sitecustomize.py"} {
		if err := os.WriteFile(filepath.Join(here, module), []byte("open("+strconv.Quote(ours)+", 'w')"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n. ./venv.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here, "venv.sh"), []byte("echo ran > "+ours), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if err := runPython(t.Context(), "python3", dir, "", "venv", "--without-pip", filepath.Join(dir, "venv")); err != nil {
		t.Error(err)
	}
	if _, _, err := installNPM(t.Context(), Package{Registry: NPM, Name: "x"}, dir); err == nil {
		t.Error("our npm installed something")
	}
	if _, err := os.Stat(ours); err == nil {
		t.Error("an installer ran what lies where the user is")
	}
}

// TestV3PackagesGetNothingOfThisMachine: a package that names a directory or an archive of the user's as what it needs is not
// installed, whether npm refuses it or, before 11.10, installs it. Nor is what pip has from a URL that a package names.
func TestV3PackagesGetNothingOfThisMachine(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	modules := filepath.Join(dir, "node_modules")
	ours := `"node_modules/x": {"version": "1.0.0", "resolved": "https://registry.test/x-1.0.0.tgz"}`
	for what, entry := range map[string]string{
		"a directory": `"node_modules/l": {"resolved": "../../private", "link": true}`, "an archive": `"node_modules/t": {"version": "1.0.0", "resolved": "file:../../private.tgz"}`,
	} {
		lock := `{"packages": {` + ours + `, ` + entry + `}}`
		for _, of := range []string{"x", "l", "t"} {
			if err := errors.Join(os.MkdirAll(filepath.Join(modules, of), 0o755), os.WriteFile(filepath.Join(modules, of, "package.json"), []byte(`{"name":"`+of+`"}`), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.WriteFile(filepath.Join(modules, ".package-lock.json"), []byte(lock), 0o600), os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n:"), 0o700)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		if _, _, err := installNPM(t.Context(), Package{Registry: NPM, Name: "x"}, dir); err == nil || !strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v", what, err)
		}
	}
	indexed := `{"metadata": {"name": "x", "version": "1"}, "is_direct": false, "download_info": {"url": "file:///index/x.whl"}}`
	direct := `{"metadata": {"name": "y", "version": "1"}, "is_direct": true, "download_info": {"url": "file:///home/me/y.whl"}}`
	if all, err := pypiLocked([]byte(`{"install": [` + indexed + `]}`)); err != nil || len(all) != 1 {
		t.Errorf("of an index: %v, %v", all, err)
	}
	if _, err := pypiLocked([]byte(`{"install": [` + indexed + `, ` + direct + `]}`)); err == nil || !strings.Contains(err.Error(), "/home/me/y.whl") {
		t.Errorf("by a URL: %v", err)
	}
	for _, setting := range []string{"npm_config_allow_file=none", "npm_config_allow_directory=none"} {
		if !slices.Contains(runNothing, setting) {
			t.Errorf("npm is not told %s", setting)
		}
	}
}
