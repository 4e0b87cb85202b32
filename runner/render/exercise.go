package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxReached and maxRows are how many answers, and how many capabilities that
// stand out, are shown; the JSON has all.
const (
	maxReached = 5
	maxRows    = 12
)

// assurance shows how much of the server the verdict rests on, and what is missing.
func (p *page) assurance(a report.Assurance) {
	if a.Level == "" {
		return
	}
	p.line("Assurance %s, of %s", Escape(string(a.Level)), Escape(a.Basis()))
	for _, why := range a.Because {
		p.line("%s%s", indent, Escape(report.Cut(why, 240)))
	}
}

// coverage shows how much was exercised of each kind, and what stands out.
func (p *page) coverage(r report.Report) {
	p.line("")
	p.assurance(r.Assurance)
	c := r.Coverage
	if c.Nothing() {
		p.line("Coverage  nothing was listed")
		return
	}
	var sum []string
	if c.Calls.Total > 0 {
		sum = append(sum, fmt.Sprintf("%s, %d accepted (%d %%)", count(c.Calls.Total, "call"), c.Calls.Done, c.Calls.Percent()))
	}
	if c.Branches.Total > 0 {
		sum = append(sum, fmt.Sprintf("%d of %s taken (%d %%)", c.Branches.Done, count(c.Branches.Total, "schema branch"), c.Branches.Percent()))
	}
	if r.Probe.Rounds > 0 {
		sum = append(sum, fmt.Sprintf("%s, %s, seed %d", count(r.Probe.Rounds, "round"), count(r.Probe.Launches, "start"), r.Probe.Seed))
	}
	p.line("Coverage  %s", strings.Join(sum, "; "))
	for _, k := range []struct {
		name string
		of   report.Exercised
	}{
		{"tools", c.Tools}, {"resources", c.Resources}, {"resource templates", c.ResourceTemplates}, {"prompts", c.Prompts},
		{"completions", c.Completions}, {"subscriptions", c.Subscriptions},
	} {
		if k.of.Listed > 0 {
			p.line("%s%-18s  %d listed, %d called, %d accepted", indent, k.name, k.of.Listed, k.of.Called, k.of.Accepted)
		}
	}
	p.standsOut(r.Exercise)
}

// standsOut shows the capabilities that were not exercised as they should have been.
func (p *page) standsOut(rows []report.CapabilityCoverage) {
	shown := 0
	for _, row := range rows {
		var why string
		switch {
		case row.Skipped != "" && row.Calls.Total == 0:
			why = "not called: " + skipped(row.Skipped)
		case row.Skipped != "":
			why = fmt.Sprintf("%s, then no more: %s", count(row.Calls.Total, "call"), skipped(row.Skipped))
		case row.Calls.Total > 0 && row.Calls.Done == 0:
			why = fmt.Sprintf("%s, none accepted", count(row.Calls.Total, "call"))
		default:
			continue
		}
		if shown++; shown <= maxRows {
			p.line("%s%s: %s", indent, Escape(report.Cut(report.Capability{Kind: row.Kind, Name: row.Name}.String(), 80)), Escape(why))
		}
	}
	if more := shown - maxRows; more > 0 {
		p.line("%sand %d more", indent, more)
	}
}

// reasons explains report's Skipped constants.
var reasons = map[string]string{
	report.SkippedByCalls: "the choice of calls leaves it out", report.SkippedByName: "it was to be skipped",
	report.SkippedBudget: "its share of the time was used up", report.SkippedTimeout: "a call was not answered in time",
	report.SkippedTooLong:    "it answered a call with more than is read",
	report.SkippedUnanswered: "a call failed without an answer",
	report.SkippedTask:       "it can only be called as a task",
}

func skipped(why string) string { return cmp.Or(reasons[why], why) }

// reached shows the answers to calls with arguments that the server itself had offered:
// calls with made-up ones never get such answers.
func (p *page) reached(outputs []report.Output) {
	shown := 0
	for _, o := range outputs {
		if len(o.Origins) == 0 || o.Text == "" {
			continue
		}
		if shown++; shown > maxReached {
			continue
		}
		if shown == 1 {
			p.line("")
			p.line("What it answered to values that it had offered itself (all answers: -o json)")
		}
		p.line("  %s, %s", Escape(o.Capability.String()), Escape(report.Cut(strings.Join(o.Origins, ", "), 160)))
		p.line("    %-8s %s", strings.ToLower(string(o.Kind)), Escape(report.Cut(strings.Join(strings.Fields(o.Text), " "), 200)))
	}
	if more := shown - maxReached; more > 0 {
		p.line("  and %d more", more)
	}
}

// moments describes the moments of drifts.
var moments = map[report.Moment]string{
	report.MomentSession: "after the calls", report.MomentRestart: "when it was started again",
	report.MomentIdentity: "for another client", report.MomentClock: "with its clock set forward",
}

// drifts shows how the manifest differed within the audit.
func (p *page) drifts(all []report.ManifestDrift) {
	for _, d := range all {
		announced := ""
		if d.Announced {
			announced = ", as announced"
		}
		p.line("Changed   %s%s", moments[d.Moment], announced)
		p.manifest(d.Drift)
	}
}

// count is "1 call", "2 calls", "3 branches".
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
