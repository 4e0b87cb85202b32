package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// baseline says how the audit differs from its baseline.
func (m *markdown) baseline(d *report.BaselineDrift) {
	if d == nil {
		return
	}
	m.section("Changed since the baseline")
	m.drift("", d.Manifest)
	for _, entry := range d.Behavior.Added {
		m.line("* it now does: %s", code(brief(entry, 200)))
	}
	for _, entry := range d.Behavior.Removed {
		m.line("* it no longer does: %s", code(brief(entry, 200)))
	}
	for _, entry := range d.Exposure {
		m.line("* it now enables: %s", code(brief(entry, 200)))
	}
	if d.Manifest.Empty() && d.Behavior.Empty() && len(d.Exposure) == 0 {
		m.line("* it differs beyond what the report keeps")
	}
}

// drifts says how the manifest changed within the audit.
func (m *markdown) drifts(all []report.ManifestDrift) {
	if len(all) == 0 {
		return
	}
	m.section("Changed during the audit")
	for _, d := range all {
		when := cmp.Or(moments[d.Moment], Escape(string(d.Moment)))
		if d.Announced {
			when += ", as announced"
		}
		m.line("* %s", prose(when))
		m.drift("  ", d.Drift)
	}
}

func (m *markdown) drift(indent string, d report.Drift) {
	for _, part := range []struct {
		word  string
		names []string
	}{{"added", d.Added}, {"removed", d.Removed}, {"renamed", d.Renamed}, {"changed", d.Changed}} {
		for _, name := range part.names {
			m.line("%s* %s: %s", indent, part.word, code(brief(name, 200)))
		}
	}
	for _, c := range d.Changes {
		if c.Before == "" && c.After == "" {
			continue
		}
		m.line("%s* %s of %s: %s, was %s", indent, code(brief(c.Field, 100)), code(brief(c.Capability, 100)),
			cmp.Or(code(brief(c.After, 400)), "none"), cmp.Or(code(brief(c.Before, 400)), "none"))
	}
}

// maxStderr bounds the last lines of stderr that are shown.
const maxStderr = 5

// notSeen returns what the audit could not observe, or did not get to.
func (m *markdown) notSeen(r report.Report) {
	var all []string
	for _, g := range r.Unobserved {
		all = append(all, prose(brief(cmp.Or(g.Detail, g.What), 300)))
	}
	for _, row := range r.Exercise {
		of := code(brief(report.Capability{Kind: row.Kind, Name: row.Name}.String(), 80))
		switch {
		case row.Skipped != "":
			all = append(all, of+": "+prose(skipped(row.Skipped)))
		case row.Calls.Total > 0 && row.Calls.Done == 0:
			all = append(all, of+": "+count(row.Calls.Total, "call")+", none accepted")
		}
	}
	for _, e := range r.Errors {
		all = append(all, prose(brief(e, 300)))
	}
	for _, t := range r.Truncated {
		all = append(all, fmt.Sprintf("%d of %s had no room in the report", t.Dropped, code(brief(t.Field, 64))))
	}
	if said := strings.Split(strings.TrimSpace(r.Server.Stderr), "\n"); r.Verdict == report.VerdictInconclusive && said[0] != "" {
		for _, l := range said[max(0, len(said)-maxStderr):] {
			all = append(all, "its stderr: "+cmp.Or(code(brief(strings.TrimSpace(l), 240)), "an empty line"))
		}
	}
	if len(all) == 0 {
		return
	}
	m.section("Not seen, or not to its end")
	for _, text := range all {
		m.line("* %s", text)
	}
}

// facts returns other facts about the audit, a line each.
func (m *markdown) facts(r report.Report) {
	m.section("The audit")
	if a := r.Assurance; a.Level != "" {
		m.line("* Assurance: **%s**, of %s", prose(brief(string(a.Level), 16)), prose(brief(a.Basis(), 64)))
		for _, why := range a.Because {
			m.line("  * %s", prose(brief(why, 300)))
		}
	}
	c := r.Coverage
	m.line("* %d of %d tools called, %d accepted; %s, %d accepted", c.Tools.Called, c.Tools.Listed, c.Tools.Accepted, count(c.Calls.Total, "call"), c.Calls.Done)
	tracer := strings.TrimSpace(r.Tracer.Name + " " + r.Tracer.Version)
	m.line("* mcpaudit %s, %s", cmp.Or(code(brief(r.Runner.Version, 64)), "of an unknown version"), cmp.Or(code(brief(tracer, 64)), "not traced"))
	for _, d := range []struct{ name, digest string }{
		{"package", packageOf(r)}, {"manifest", r.ManifestDigest}, {"behaviour", r.Behavior.Digest}, {"rules", r.RulesetDigest},
	} {
		if d.digest != "" {
			m.line("* %s %s", d.name, code(brief(d.digest, 400)))
		}
	}
}
