package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// Every rule has a place in the reference, and every link in it leads somewhere.
func TestDocument(t *testing.T) {
	text, err := document(rules.All())
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchors[strings.ToLower(heading[1])] = true
	}
	for _, r := range rules.All() {
		if !anchors[strings.ToLower(r.ID)] || !strings.Contains(text, plain(r.Description)) || !strings.Contains(text, plain(r.Fix)) {
			t.Errorf("%s is not documented", r.ID)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if !anchors[link[1]] {
			t.Errorf("#%s leads nowhere", link[1])
		}
	}
}

func TestDocumentRefuses(t *testing.T) {
	for name, r := range map[string]rules.Rule{
		"a family that nobody introduced": {ID: "MCPA-QUANTUM-001"},
		"an id of another form":           {ID: "MCPA_EGRESS_001"},
		"an unknown reference":            {ID: "MCPA-EGRESS-001", References: []string{"SAFE-T0000"}},
	} {
		if _, err := document([]rules.Rule{r}); err == nil {
			t.Errorf("%s is documented", name)
		}
	}
}

func TestPlain(t *testing.T) {
	if got := plain("a <b> `c_<d>` e_f *g*"); got != "a &lt;b> `c_<d>` e\\_f \\*g\\*" {
		t.Error(got)
	}
}
