package profile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func started(dir string, argv ...string) trace.Event {
	return trace.Event{Op: trace.OpExec, PID: 1, Path: argv[0], Argv: argv, Dir: dir}
}

func running(name, file string) trace.Event {
	e := started("/", name)
	e.Running = file
	return e
}

func opened(name string) trace.Event { return trace.Event{Op: trace.OpRead, PID: 1, Path: name} }

func missing(name string) trace.Event {
	e := opened(name)
	e.Errno = "ENOENT"
	return e
}

func TestS16CodePaths(t *testing.T) {
	listed := func(name, cwd string) trace.Event {
		e := opened(name)
		e.Flags, e.Dir = []string{"O_RDONLY", "O_DIRECTORY"}, cwd
		return e
	}
	linked := opened("/srv/real/x.py")
	linked.Asked = "/app/x.py"
	for name, c := range map[string]struct {
		events []trace.Event
		want   []string
	}{
		"a static program":            {[]trace.Event{started("/", "/server"), opened("/etc/app/config.yaml"), missing("/data/notes.db")}, []string{"/server"}},
		"a program beside its data":   {[]trace.Event{started("/app", "/app/server"), opened("/app/config.yaml")}, []string{"/app/server"}},
		"a program of the system":     {[]trace.Event{started("/", "/usr/local/bin/server")}, []string{"/usr/local/bin/server"}},
		"W5, a program behind a link": {[]trace.Event{running("/app/start", "/opt/tool/bin/tool-1.2")}, []string{"/app/start", "/opt/tool/bin/tool-1.2"}},
		"a program that is not there": {[]trace.Event{{Op: trace.OpExec, PID: 1, Path: "/opt/x/bin/git", Errno: "ENOENT"}}, []string{"/opt/x/bin/git"}},
		"Node.js": {[]trace.Event{
			started("/app", "/usr/local/bin/node", "dist/server.js"), opened("/app/dist/server.js"), opened("/app/package.json"), missing("/package.json"),
			opened("/app/node_modules/mcp/lib/index.js"), opened("/etc/ssl/openssl.cnf"), opened("/app/settings.json"), opened("/data/notes.json"),
		}, []string{"/app/dist", "/app/node_modules", "/app/package.json", "/etc/ssl/openssl.cnf", "/package.json", "/~"}},
		"Python":                          {[]trace.Event{started("/", "/usr/local/bin/python3.13", "-u", "/app/server.py"), opened("/app/server.py"), missing("/app/__pycache__/x.pyc"), listed("/data", "/")}, []string{"/app", "/~"}},
		"a virtual environment":           {[]trace.Event{missing("/opt/venv/bin/pyvenv.cfg"), opened("/opt/venv/pyvenv.cfg"), opened("/opt/venv/lib/python3.13/site-packages/mcp/x.py")}, []string{"/opt/venv"}},
		"a module of Python":              {[]trace.Event{started("/srv", "/usr/bin/python3", "-X", "utf8", "-um", "notes")}, []string{"/srv", "/~"}},
		"a module, the directory later":   {[]trace.Event{started("", "/usr/bin/python3", "-m", "notes"), listed("/usr/lib/python3", "/srv")}, []string{"/srv", "/~"}},
		"a module of an isolated one":     {[]trace.Event{started("/srv", "/usr/bin/python3", "-Im", "notes")}, []string{"/~"}},
		"settings that name code":         {[]trace.Event{missing("/usr/local/etc/php/php-cli.ini"), missing("/etc/gitconfig"), opened("/etc/ssh/ssh_config")}, []string{"/etc/gitconfig", "/etc/ssh/ssh_config", "/usr/local/etc/php"}},
		"a module, warnings as errors":    {[]trace.Event{started("/srv", "/usr/bin/python3", "-Walways::ImportWarning", "-m", "notes")}, []string{"/srv", "/~"}},
		"a script in the root":            {[]trace.Event{started("/", "/usr/bin/python3", "/server.py"), opened("/server.py")}, []string{"/", "/server.py", "/~"}},
		"a script of Node.js in the root": {[]trace.Event{started("/", "/usr/bin/node", "/server.js"), opened("/server.js")}, []string{"/server.js", "/~"}},
		"a script without an extension":   {[]trace.Event{started("", "/bin/sh", "bin/run", "/data/notes"), opened("/app/bin/run"), opened("/data/notes")}, []string{"/app/bin"}},
		"libraries":                       {[]trace.Event{opened("/opt/lib/libx.so.1.2"), missing("/app/lib/libz.so"), opened("/usr/lib/libc.so.6"), opened("/data/x.sources")}, []string{"/app/lib", "/opt/lib"}},
		"a link":                          {[]trace.Event{linked}, []string{"/app", "/srv/real"}},
		"lookups in directories of many":  {[]trace.Event{missing("/etc/x.py"), missing("/srv/libz.so"), missing("/home/x.js")}, []string{"/etc/x.py", "/home/x.js", "/srv/libz.so"}},
		"what the kernel has":             {[]trace.Event{started("/", "/server"), opened("/proc/self/x.py"), opened("/dev/x.so"), started("/", "/memfd:x")}, []string{"/server"}},
		"nothing that is code":            {[]trace.Event{opened("/etc/passwd"), listed("/app", "/app"), opened("notes.py")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var code profile.Code
			for _, e := range c.events {
				code.Add(e)
			}
			paths, ok := code.Paths(nil)
			if got := codepath.Reduce(paths); !ok || !slices.Equal(got, c.want) {
				t.Errorf("got %q (%t), want %q", got, ok, c.want)
			}
		})
	}
}

// TestCodeInScratch: a file that a call reads below /tmp is its argument; a file that was
// loaded from there before is code, unless the server put it there itself.
func TestCodeInScratch(t *testing.T) {
	at := func(e trace.Event, read, wrote int64) trace.Event {
		e.At, e.Time = trace.Position{In: read, Out: wrote}, time.Unix(100+read, 0)
		return e
	}
	l := ledger.Ledger{{Phase: report.PhaseCall, Method: "tools/call", SentEnd: 10, Received: 20}}
	var code profile.Code
	code.Add(at(opened("/tmp/plugins/a.js"), 0, 0))
	code.Add(at(trace.Event{Op: trace.OpWrite, Path: "/tmp/native/x.node"}, 0, 0))
	code.Add(at(opened("/tmp/native/x.node"), 0, 0))
	code.Add(at(opened("/tmp/argument/b.js"), 10, 0))
	paths, _ := code.Paths(l)
	if got := codepath.Reduce(paths); !slices.Equal(got, []string{"/tmp/plugins"}) {
		t.Errorf("got %q", got)
	}
}

// TestCodeIsBounded: a server with more code paths than are kept has no known ones.
func TestCodeIsBounded(t *testing.T) {
	var code profile.Code
	name := []byte("/a/aaaa/x.js")
	for i := range 26 * 26 * 26 {
		name[3], name[4], name[5] = byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676)
		code.Add(opened(string(name)))
	}
	if paths, ok := code.Paths(nil); ok || len(paths) > 4096 {
		t.Errorf("%d paths, %t", len(paths), ok)
	}
}
