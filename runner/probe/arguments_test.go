package probe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func TestArguments(t *testing.T) {
	tool := report.Capability{Kind: report.CapabilityTool, Name: "fetch"}
	a := newArguments()
	call := json.RawMessage(`{"url":"https://a.example/","n":12,"deep":{"paths":["/tmp/a",true,"/tmp/b"]}}`)
	a.add(tool, call, json.RawMessage(`{"n":12}`))
	a.add(tool, call, json.RawMessage(`{"n":12}`)) // once more
	a.add(tool, json.RawMessage(`no JSON`), nil)
	want := map[report.Capability][]Argument{tool: {
		{Field: "deep.paths[0]", Value: "/tmp/a"}, {Field: "deep.paths[2]", Value: "/tmp/b"},
		{Field: "n", Value: "12", Given: true}, {Field: "url", Value: "https://a.example/"},
	}}
	if diff := cmp.Diff(want, a.all()); diff != "" {
		t.Error(diff)
	}
}

// However much a capability is called with, what is kept of it is bounded.
func TestArgumentsAreBounded(t *testing.T) {
	a := newArguments()
	long := strings.Repeat("x", 2*maxArgument)
	for i := range 4 {
		of := report.Capability{Kind: report.CapabilityTool, Name: fmt.Sprint(i)}
		for n := range 2 * maxDistinct {
			a.add(of, json.RawMessage(fmt.Sprintf(`{"n":"%d %s"}`, n, long)), nil)
		}
	}
	nested := strings.Repeat(`[`, 1000) + `"x"` + strings.Repeat(`]`, 1000)
	a.add(report.Capability{Kind: report.CapabilityPrompt}, json.RawMessage(`{"n":`+nested+`}`), nil)
	sum := 0
	for of, all := range a.all() {
		if len(all) > maxDistinct {
			t.Errorf("%s: %d values", of, len(all))
		}
		for _, argument := range all {
			sum += len(argument.Value)
			if len(argument.Value) > maxArgument {
				t.Fatalf("a value of %d bytes", len(argument.Value))
			}
		}
	}
	if sum > maxAllArguments {
		t.Errorf("%d bytes", sum)
	}
}
