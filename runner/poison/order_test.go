package poison

import (
	"slices"
	"testing"
)

// A server may say in which order its own tools are used, in any words and anywhere.
func TestOrder(t *testing.T) {
	var texts struct {
		Tools, Honest []string
		Poison        []struct{ Name, Text string }
	}
	testdata(t, "order.yaml", &texts)
	of := Context{Kind: KindDescription, Own: "read_paper", Parameters: NamesOf("id", "page"), Tools: NamesOf(texts.Tools...)}
	for _, text := range texts.Honest {
		for _, own := range []string{"read_paper", "list_papers"} {
			for _, kind := range []Kind{KindDescription, KindParameter, KindInstructions} {
				in := of
				in.Kind, in.Own = kind, own
				for _, f := range Read(text, in) {
					t.Errorf("%s of %s, %s: %q", kind, own, f.Technique, f.Quote)
				}
			}
		}
	}
	for _, tc := range texts.Poison {
		if !slices.ContainsFunc(Read(tc.Text, of), func(f Finding) bool { return f.Technique == ToolSequence }) {
			t.Errorf("%s is not found: %s", tc.Name, tc.Text)
		}
	}
}
