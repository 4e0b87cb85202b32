package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOwn: a server's own code is that of the package that was loaded first.
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
