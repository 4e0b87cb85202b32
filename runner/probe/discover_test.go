package probe

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// statelessOnly knows server/discover and refuses everything without `_meta`.
func statelessOnly() *fake {
	wants := func(answer any) func(*fake, map[string]any) any {
		return func(_ *fake, params map[string]any) any {
			meta, _ := params["_meta"].(map[string]any)
			if meta[metaVersion] != stateless || meta[metaClient] == nil || meta[metaCapabilities] == nil {
				return rpcFailure{-32602, "_meta is missing"}
			}
			return answer
		}
	}
	return &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any { return rpcFailure{-32022, "unsupported"} },
		methodDiscover: wants(map[string]any{
			"supportedVersions": []any{stateless}, "capabilities": map[string]any{"tools": map[string]any{}},
			"_meta": map[string]any{metaServer: map[string]any{"name": "fake", "version": "2"}},
		}),
		"tools/list": wants(tools(noteTool)),
		"tools/call": wants(map[string]any{"resultType": "complete", "content": []any{}}),
	}}
}

func TestDiscover(t *testing.T) {
	first := statelessOnly()
	r := first.probe(t, quick)
	if !r.NeedDiscover || r.Incomplete.Reason != report.ReasonProtocolError {
		t.Fatalf("result: %+v", r)
	}
	if len(first.saw(methodDiscover)) != 0 {
		t.Error("both ways were tried in one process")
	}

	o := quick
	o.Discover = true
	r = statelessOnly().probe(t, o)
	if r.NeedDiscover || r.Incomplete.Reason != "" || r.ServerName != "fake" || r.Coverage.Tools.Accepted != 1 {
		t.Errorf("result: %+v", r)
	}
}

func TestDiscoverRefused(t *testing.T) {
	o := quick
	o.Discover = true
	for name, tc := range map[string]struct {
		answer  any
		message string
	}{
		"refused":        {rpcFailure{codeMethodNotFound, "what?"}, "what?"},
		"other revision": {map[string]any{"supportedVersions": []any{newest}}, "without the revision"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				methodDiscover: func(*fake, map[string]any) any { return tc.answer },
			}}
			r := f.probe(t, o)
			if r.NeedDiscover || r.Incomplete.Reason != report.ReasonProtocolError || !strings.Contains(r.Incomplete.Message, tc.message) {
				t.Errorf("result: %+v", r)
			}
		})
	}
}

// A server that asks for input for ever is left at that.
func TestEndlessInput(t *testing.T) {
	f := statelessOnly()
	f.on["tools/call"] = func(*fake, map[string]any) any {
		return map[string]any{"resultType": "input_required", "requestState": "x"}
	}
	o := quick
	o.Discover = true
	r := f.probe(t, o)
	if len(f.saw("tools/call")) != maxInputRounds || r.Coverage.Tools.Accepted != 0 || r.Incomplete.Reason != "" {
		t.Errorf("%d calls, %+v", len(f.saw("tools/call")), r)
	}
}

// A server that refuses the newest revision may name an older one.
func TestOlderRevisionIsOffered(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": unknown,
		"initialize": func(_ *fake, params map[string]any) any {
			if params["protocolVersion"] != "2025-03-26" {
				return raw(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2024-11-05","2025-03-26",7]}}}`)
			}
			return map[string]any{"protocolVersion": "2025-03-26", "capabilities": map[string]any{}}
		},
	}}
	older := quick
	older.Revision = "2024-11-05"
	for _, o := range []Options{quick, older} {
		r := f.probe(t, o)
		if r.NeedDiscover || r.Incomplete.Reason != "" || r.ProtocolVersion != "2025-03-26" || len(r.Ledger) != 3 {
			t.Errorf("result: %+v", r)
		}
	}
	var asked []any
	for _, m := range f.saw("initialize") {
		asked = append(asked, m["params"].(map[string]any)["protocolVersion"])
	}
	if want := []any{newest, "2025-03-26", "2024-11-05", "2025-03-26"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}
