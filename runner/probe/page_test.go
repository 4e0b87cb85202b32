package probe

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestPagesOfTools: the page of an MCP App is read though no list of resources has it, and no more than once.
func TestPagesOfTools(t *testing.T) {
	const show, also = `{"name":"show_map","_meta":{"ui":{"resourceUri":"ui://maps/a"}}}`, `{"name":"show_all","_meta":{"ui/resourceUri":"ui://maps/a"}}`
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any {
			return map[string]any{
				"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "maps", "version": "1"},
				"capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}},
			}
		},
		"tools/list":     func(*fake, map[string]any) any { return tools(show, also) },
		"resources/list": func(*fake, map[string]any) any { return map[string]any{"resources": []any{}} },
		"resources/read": func(_ *fake, params map[string]any) any {
			return map[string]any{"contents": []any{map[string]any{"uri": params["uri"], "text": "<p>a page</p>"}}}
		},
	}}
	r := f.probe(t, quick)
	if read := f.saw("resources/read"); len(read) != 1 {
		t.Errorf("read %v", read)
	}
	said := 0
	for _, out := range r.Outputs {
		if out.Capability == (report.Capability{Kind: report.CapabilityResource, Name: "ui://maps/a"}) {
			said++
		}
	}
	if said != 1 || r.Coverage.Resources.Listed != 0 {
		t.Errorf("%d pages, %d listed", said, r.Coverage.Resources.Listed)
	}
}
