package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestOwn: a server's own code is in the package that was loaded first.
func TestOwn(t *testing.T) {
	for _, tc := range []struct{ files, want []string }{
		{[]string{
			"/usr/lib/node_modules/npm/bin/npx-cli.js", "/usr/lib/node_modules/npm/lib/cli.js",
			"/s/node_modules/@a/mcp/dist/index.js", "/s/node_modules/zod/index.js", "/s/node_modules/@a/mcp/dist/api.js", "/s/node_modules/@a/mcp/node_modules/x/x.js",
		}, []string{"/s/node_modules/@a/mcp/dist/index.js", "/s/node_modules/@a/mcp/dist/api.js"}},
		{[]string{"/app/index.js", "/app/node_modules/zod/index.js", "/app/lib/api.js"}, []string{"/app/index.js", "/app/lib/api.js"}},
		{nil, nil},
	} {
		if diff := cmp.Diff(tc.want, own(tc.files)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOwnModules: of Python, that is the first package that was installed.
func TestOwnModules(t *testing.T) {
	const lib = "/s/venv/lib/python3.11/site-packages/"
	for _, tc := range []struct{ opened, want []string }{
		{[]string{"/usr/lib/python3.11/__pycache__/os.cpython-311.pyc", lib + "_hook/__init__.py", lib + "acme/__pycache__/__init__.cpython-311.pyc", lib + "mcp/__init__.py", lib + "acme/server.py"},
			[]string{lib + "acme/__init__.py", lib + "acme/server.py"}},
		{[]string{"/app/server.py", lib + "mcp/__init__.py", "/app/api.py", "/etc/passwd"}, []string{"/app/server.py", "/app/api.py"}},
		{[]string{lib + "certifi/core.py", "/app/server.py", lib + "mcp/__init__.py"}, []string{"/app/server.py"}},
		{nil, nil},
	} {
		var names []string
		for _, name := range tc.opened {
			if name = sourceOf(name); name != "" {
				names = append(names, name)
			}
		}
		if diff := cmp.Diff(tc.want, ownModules(names)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestBeside: data belongs to the server if it lies beside its code.
func TestBeside(t *testing.T) {
	var r reading
	for _, name := range []string{"/app/rules.json", "/app/package.json", "/app/node_modules/zod/locale.json", "/app/data/words.tsv", "/etc/app.ini", "/app/picture.png"} {
		r.event(trace.Event{Op: trace.OpRead, Path: name})
	}
	if diff := cmp.Diff([]string{"/app/rules.json", "/app/data/words.tsv"}, r.beside("/app/index.js")); diff != "" {
		t.Error(diff)
	}
}
