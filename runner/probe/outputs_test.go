package probe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

func asking(name string, origins ...inputs.Origin) query {
	return query{of: report.Capability{Kind: report.CapabilityTool, Name: name}, method: "tools/call",
		arguments: inputs.Case{Arguments: json.RawMessage(`{}`), Origins: origins}}
}

// What comes first is the first text of each capability, and of one capability that
// which its own values led to; what came before is counted.
func TestOutputsAreOrdered(t *testing.T) {
	o := newOutputs()
	for _, said := range []struct {
		q    query
		text string
	}{
		{asking("a"), "a1"}, {asking("a"), "a1"}, {asking("a"), "a2"}, {asking("b"), "b1"},
		{asking("a", inputs.Origin{Argument: "id", Value: "7", Source: "the result of tool b"}), "a3"},
		{asking("a"), "a1"}, {asking("b"), "a1"},
	} {
		o.begin(said.q, 1)
		o.answered(report.OutputResult, said.text)
	}
	var order []string
	for _, out := range o.all() {
		order = append(order, fmt.Sprint(out.Capability.Name, ":", out.Text, "x", out.Count))
	}
	if got := strings.Join(order, " "); got != "a:a3x1 b:b1x1 a:a1x3 b:a1x1 a:a2x1" {
		t.Errorf("order %s", got)
	}
	if first := o.all()[0]; len(first.Origins) != 1 || first.Origins[0] != `id "7" from the result of tool b` {
		t.Errorf("origins %q", first.Origins)
	}
}

// A long text that differs in digits alone is counted: each call of a tool that lists all of a cloud has its own time.
func TestLongTextsAlike(t *testing.T) {
	o := newOutputs()
	o.begin(asking("a"), 1)
	for i := range 24 {
		o.answered(report.OutputResult, fmt.Sprint(i)+strings.Repeat(" note", longText))
		o.answered(report.OutputResult, fmt.Sprint("short ", i))
	}
	if all := o.all(); len(all) != 25 || all[0].Count != 24 {
		t.Errorf("%d texts, the first %d times", len(all), all[0].Count)
	}
}

func TestOutputsAreBounded(t *testing.T) {
	o := newOutputs()
	for i := range 2 * maxTexts / maxOutput {
		o.begin(asking("a"), i)
		o.answered(report.OutputResult, strings.Repeat("x", i)+strings.Repeat("ü", maxOutput))
	}
	all, size := o.all(), 0
	for _, out := range all {
		size += len(out.Text) + len(out.Arguments)
		if len(out.Text) > maxOutput || strings.ContainsRune(out.Text, '\uFFFD') {
			t.Fatalf("a text of %d bytes", len(out.Text))
		}
	}
	if size > maxTexts || len(all) < maxTexts/maxOutput-1 {
		t.Errorf("%d texts of %d bytes", len(all), size)
	}
	if got := o.left(); len(got) != 1 || got[0].Name != "a" {
		t.Errorf("left %v", got)
	}
	small := newOutputs()
	for i := range 2 * maxOutputs {
		small.answered(report.OutputResult, fmt.Sprint(i))
	}
	if n := len(small.all()); n != maxOutputs || len(small.left()) != 1 {
		t.Errorf("%d texts, left %v", n, small.left())
	}
}
