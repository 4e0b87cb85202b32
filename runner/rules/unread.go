package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// Unread returns the capabilities with a text in a language that the rules about texts cannot read.
func Unread(m manifest.Manifest) []report.Capability {
	var all []report.Capability
	eachText(m, func(of report.Capability, field, text string) {
		switch textKind(of, field) {
		case poison.KindName, poison.KindValue, poison.KindTitle:
			return
		}
		if !slices.Contains(all, of) && !strings.HasSuffix(field, ".$ref") && poison.Unread(text) {
			all = append(all, of)
		}
	})
	return all
}
