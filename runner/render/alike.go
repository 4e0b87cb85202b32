package render

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxOthers bounds the list of capabilities with the same finding, in bytes.
const maxOthers = 300

// alike groups the findings that say the same about several capabilities under the first of them, so that what
// a server does in every call is read once.
func alike(all []report.Finding) (groups [][]report.Finding) {
	type same struct {
		rule, message string
		severity      report.Severity
		suppressed    report.Suppressed
	}
	at := map[same]int{}
	for _, f := range all {
		of := same{rule: f.Rule, message: f.Message, severity: f.Severity}
		if who := f.Capability.String(); who != "" {
			of.message = strings.Replace(f.Message, who[1:], "", 1) // its first letter may be a capital there
		}
		if f.Suppressed != nil {
			of.suppressed = *f.Suppressed
		}
		i, found := at[of]
		if !found {
			i, at[of], groups = len(groups), len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// others names the capabilities of a group besides the first; "" if there are none.
func others(group []report.Finding) string {
	if len(group) == 1 {
		return ""
	}
	names := make([]string, 0, len(group)-1)
	for _, f := range group[1:] {
		names = append(names, f.Capability.String())
	}
	return fmt.Sprintf("the same of %d more: %s", len(names), report.Cut(strings.Join(names, ", "), maxOthers))
}
