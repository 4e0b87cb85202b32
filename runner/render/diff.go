package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Difference describes how one report differs from an earlier one.
type Difference struct {
	Before   Side                 `json:"before"`
	After    Side                 `json:"after"`
	Manifest report.Drift         `json:"manifest"`
	Behavior report.BehaviorDrift `json:"behavior"`
	// Exposure lists what the server enables now and did not before.
	Exposure []string `json:"exposure,omitempty"`
}

// Side is one of two reports that are compared.
type Side struct {
	Name           string `json:"name,omitempty"`
	Version        string `json:"version,omitempty"`
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// BehaviorDigest is empty if the audit did not see everything.
	BehaviorDigest string `json:"behaviorDigest,omitempty"`
}

// SideOf makes a Side of a report.
func SideOf(r report.Report) Side {
	return Side{Name: r.Server.Name, Version: r.Server.Version, ManifestDigest: r.ManifestDigest, BehaviorDigest: r.Behavior.Digest}
}

// Differ compares what two reports have in common.
func Differ(before, after report.Report) Difference {
	d := Difference{Before: SideOf(before), After: SideOf(after), Manifest: report.Diff(before.Manifest, after.Manifest), Exposure: report.Enabled(before, after)}
	if d.Before.BehaviorDigest != d.After.BehaviorDigest {
		d.Behavior = report.DiffBehavior(before.Behavior, after.Behavior)
	}
	return d
}

// Same reports whether both servers advertise and do the same; known is false if what both
// audits saw is the same, but one of them did not see everything.
func (d Difference) Same() (same, known bool) {
	if d.Before.ManifestDigest != d.After.ManifestDigest || !d.Behavior.Empty() || len(d.Exposure) > 0 {
		return false, true
	}
	return true, d.Before.ManifestDigest != "" && d.Before.BehaviorDigest != "" && d.After.BehaviorDigest != ""
}

// DifferenceJSON writes a difference for programs.
func DifferenceJSON(w io.Writer, d Difference) error {
	return writeJSON(w, d, "difference")
}

// DifferenceTable writes a difference for people. colour adds ANSI colours.
func DifferenceTable(w io.Writer, d Difference, colour bool) error {
	p := &page{colour: colour}
	called := func(s Side) string {
		return strings.TrimSpace(cmp.Or(s.Name, "a server without a name") + " " + s.Version)
	}
	p.line("%s -> %s", Escape(called(d.Before)), Escape(called(d.After)))
	p.digests("manifest", d.Before.ManifestDigest, d.After.ManifestDigest)
	p.manifest(d.Manifest)
	p.digests("behaviour", d.Before.BehaviorDigest, d.After.BehaviorDigest)
	p.behavior(d.Behavior)
	p.enabled(d.Exposure)
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write difference: %w", err)
	}
	return nil
}

func (p *page) digests(what, before, after string) {
	switch {
	case before == "" || after == "":
		p.line("%-9s  not compared to its end: one of the audits did not see everything", what)
	case before == after:
		p.line("%-9s  the same, %s", what, Escape(after))
	default:
		p.line("%-9s  %s -> %s", what, Escape(before), Escape(after))
	}
}

// baseline shows how an audit differs from its baseline.
func (p *page) baseline(d *report.BaselineDrift) {
	if d == nil {
		return
	}
	p.line("")
	p.line("Since the baseline (manifest %s)", Escape(d.ManifestDigest))
	p.manifest(d.Manifest)
	p.behavior(d.Behavior)
	p.enabled(d.Exposure)
}

// enabled shows what a server enables now and did not before.
func (p *page) enabled(all []string) {
	if len(all) > 0 {
		p.line("exposure   more than before")
		p.each(green, "+ ", all)
	}
}

// manifest shows a drift: what came and went, and each change with its texts.
func (p *page) manifest(d report.Drift) {
	texts := changesOf(d)
	for _, of := range d.Added {
		p.line("  %s", p.paint(green, "+ "+of))
		p.changes(texts[of])
	}
	p.each(red, "- ", d.Removed)
	for _, of := range d.Renamed {
		p.line("  %s%s (renamed)", p.paint(yellow, "~ "), Escape(of))
		p.changes(texts[of])
	}
	for _, of := range d.Changed {
		p.line("  %s%s", p.paint(yellow, "~ "), Escape(of))
		if p.changes(texts[of]); len(texts[of]) == 0 {
			p.line("      differs beyond what the report keeps")
		}
	}
}

func changesOf(d report.Drift) map[string][]report.Change {
	texts := map[string][]report.Change{}
	for _, c := range d.Changes {
		texts[c.Capability] = append(texts[c.Capability], c)
	}
	return texts
}

func (p *page) changes(all []report.Change) {
	for _, c := range all {
		p.change(c)
	}
}

func (p *page) change(c report.Change) {
	if c.Before == "" && c.After == "" {
		p.line("      %s: may differ beyond what the report keeps", Escape(c.Field))
		return
	}
	p.line("      %s", Escape(c.Field))
	p.told(red, "- ", c.Before)
	p.told(green, "+ ", c.After)
}

// maxLines bounds the lines that are shown of one text.
const maxLines = 12

// told shows the lines of a text, each after a sign.
func (p *page) told(colour, sign, text string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, l := range lines[:min(len(lines), maxLines)] {
		p.line("      %s", p.paint(colour, sign+l))
	}
	if more := len(lines) - maxLines; more > 0 {
		p.line("      %s", p.paint(colour, fmt.Sprintf("%sand %s more", sign, count(more, "line"))))
	}
}

func (p *page) behavior(d report.BehaviorDrift) {
	p.each(green, "+ ", d.Added)
	p.each(red, "- ", d.Removed)
}

func (p *page) each(colour, sign string, names []string) {
	for _, name := range names {
		p.line("  %s", p.paint(colour, sign+name))
	}
}
