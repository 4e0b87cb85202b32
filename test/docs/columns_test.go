package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/test/crds"
)

// columns returns the columns of `kubectl get` for each of our kinds, with and without -o wide.
func columns(t *testing.T) map[string]bool {
	t.Helper()
	headers := map[string]bool{}
	for _, crd := range crds.All(t) {
		for _, version := range crd.Spec.Versions {
			narrow, wide := []string{"NAME"}, []string{"NAME"}
			for _, column := range version.AdditionalPrinterColumns {
				wide = append(wide, strings.ToUpper(column.Name))
				if column.Priority == 0 {
					narrow = append(narrow, strings.ToUpper(column.Name))
				}
			}
			for _, header := range [][]string{narrow, wide} {
				headers[strings.Join(header, "|")] = true
				headers["NAMESPACE|"+strings.Join(header, "|")] = true
			}
		}
	}
	return headers
}

// ours are columns that tables of our kinds have, and those of Pods and Deployments do not.
var (
	ours   = []string{"VERDICT", "REASON", "RISK", "DISCOVERED"}
	spaces = regexp.MustCompile(`\s{2,}|\t`)
)

// TestColumns compares the tables that the pages show with those that kubectl prints, and
// with those of our plugin.
func TestColumns(t *testing.T) {
	headers := columns(t)
	for _, plugin := range []string{"NAME|VERDICT|REASON|RISK|FINDINGS|TOOLS|AUDITED|NEXT", "NAMESPACE|NAME|VERDICT|REASON|RISK|FINDINGS|TOOLS|AUDITED|NEXT"} {
		headers[plugin] = true
	}
	seen := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.language != "console" && b.language != "text" {
				continue
			}
			for i, line := range strings.Split(b.text, "\n") {
				words := spaces.Split(strings.TrimSpace(line), -1)
				if words[0] != "NAME" && words[0] != "NAMESPACE" || !slices.ContainsFunc(ours, func(name string) bool { return slices.Contains(words, name) }) {
					continue
				}
				seen++
				if !headers[strings.Join(words, "|")] {
					t.Errorf("%s:%d: kubectl get prints no table with the columns %v", p.path, b.first+1+i, words)
				}
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d tables were found in the pages: the test has lost sight of them", seen)
	}
}
