package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// Every rule has a place in the reference, and every link in it leads somewhere.
func TestDocument(t *testing.T) {
	text, err := document()
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

func TestLookUpRefuses(t *testing.T) {
	if _, err := lookUp("SAFE-T0000"); err == nil {
		t.Error("an unknown reference is documented")
	}
}

func TestPlain(t *testing.T) {
	if got := plain("a <b> `c_<d>` e_f *g*"); got != "a &lt;b> `c_<d>` e\\_f \\*g\\*" {
		t.Error(got)
	}
}
