package render

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxClausesShown and maxDescribed bound the clauses, and the bytes of a description,
// beside a finding; the rest is further down.
const (
	maxClausesShown = 3
	maxDescribed    = 300
)

// judged is a finding with what was declared about its capability.
type judged struct {
	report.Finding
	Class string
	// Held: it is suppressed at present, and fails nothing.
	Held bool
	Note string // about its suppression
	Seen string // where
	// Described is the description of its capability, Clauses what that declares as
	// far as it was understood.
	Clauses   []report.ScopeClause
	More      int
	Described string
	// Says: the evidence was written by the server, not done by a process.
	Says  bool
	First []report.Evidence // one at most
	Rest  []report.Evidence
}

func judge(r report.Report, f report.Finding) judged {
	j := judged{Finding: f, Class: severityClass(f.Severity), Seen: where(f)}
	if s := f.Suppressed; s != nil {
		j.Held, j.Note = !s.Expired, suppressed(*s)
	}
	j.Clauses = clausesAbout(r.Scope, f)
	if more := len(j.Clauses) - maxClausesShown; more > 0 {
		j.Clauses, j.More = j.Clauses[:maxClausesShown], more
	}
	if !f.ExceedsScope {
		j.Described = report.Cut(described(r.Manifest, f.Capability), maxDescribed)
	}
	if len(f.Evidence) > 0 {
		j.First, j.Rest = f.Evidence[:1], f.Evidence[1:]
	}
	j.Says = !slices.ContainsFunc(f.Evidence, func(e report.Evidence) bool { return e.PID != 0 || e.Syscall != "" })
	return j
}

// clausesAbout returns the clauses that a finding contradicts: the operator's if it exceeds
// the operator's list, its capability's otherwise.
func clausesAbout(scope []report.ScopeClause, f report.Finding) []report.ScopeClause {
	var all []report.ScopeClause
	for _, c := range scope {
		if f.ExceedsScope && c.Source == report.ScopeSpec || !f.ExceedsScope && c.Source != report.ScopeSpec && c.Capability == f.Capability {
			all = append(all, c)
		}
	}
	return all
}

func described(m report.Manifest, of report.Capability) string {
	if of.Kind == report.CapabilityServer {
		return m.Instructions
	}
	for kind, items := range map[report.CapabilityKind][]report.Item{
		report.CapabilityTool: m.Tools, report.CapabilityResource: m.Resources,
		report.CapabilityResourceTemplate: m.ResourceTemplates, report.CapabilityPrompt: m.Prompts,
	} {
		if i := slices.IndexFunc(items, func(item report.Item) bool { return item.Name == of.Name }); kind == of.Kind && i >= 0 {
			return items[i].Description
		}
	}
	return ""
}

// driftRow is one item that was added, removed or changed, with its texts.
type driftRow struct {
	Class, Sign, Name, Note string
	Changes                 []report.Change
}

// driftRows returns the rows of a drift, as in the table.
func driftRows(d report.Drift) []driftRow {
	texts := changesOf(d)
	var rows []driftRow
	for _, of := range d.Added {
		rows = append(rows, driftRow{"came", "+", of, "added", texts[of]})
	}
	for _, of := range d.Removed {
		rows = append(rows, driftRow{"went", "−", of, "removed", nil})
	}
	for _, of := range d.Renamed {
		rows = append(rows, driftRow{"changed", "~", of, "renamed", texts[of]})
	}
	for _, of := range d.Changed {
		note := "changed"
		if len(texts[of]) == 0 {
			note = "differs beyond what the report keeps"
		}
		rows = append(rows, driftRow{"changed", "~", of, note, texts[of]})
	}
	return rows
}
