// Package render writes a report for the command line: a table for people, or
// the JSON for programs. All that a server can influence is escaped, so that no
// name or description can paint over the terminal or hide in it.
package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// JSON writes the report, indented, with a newline at its end.
func JSON(w io.Writer, r report.Report) error { return writeJSON(w, r, "report") }

func writeJSON(w io.Writer, value any, what string) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// Table writes the report for people: the verdict, each finding with its
// evidence, and what every capability did. colour adds ANSI colours.
func Table(w io.Writer, r report.Report, colour bool) error {
	p := &page{colour: colour}
	p.header(r)
	p.body(r)
	return p.print(w)
}

// Body is Table without its head.
func Body(w io.Writer, r report.Report, colour bool) error {
	p := &page{colour: colour}
	p.body(r)
	return p.print(w)
}

// Brief is the part of Body that needs attention: the findings, what changed since the
// baseline, and how much was exercised and seen.
func Brief(w io.Writer, r report.Report, colour bool) error {
	p := &page{colour: colour}
	p.exposure(r)
	for _, group := range alike(r.Findings) {
		p.finding(group)
	}
	p.baseline(r.Baseline)
	p.coverage(r)
	p.drifts(r.Drifts)
	p.gaps(r.Unobserved)
	p.problems(r)
	return p.print(w)
}

func (p *page) body(r report.Report) {
	p.exposure(r)
	for _, group := range alike(r.Findings) {
		p.finding(group)
	}
	p.declared(r.Scope)
	p.baseline(r.Baseline)
	p.profile(r.Profile)
	p.captures(r.Captures)
	p.reached(r.Outputs)
	p.coverage(r)
	p.drifts(r.Drifts)
	p.gaps(r.Unobserved)
	p.noise(r.Noise)
	p.problems(r)
}

func (p *page) print(w io.Writer) error {
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type page struct {
	colour bool
	text   strings.Builder
}

// line writes one line. Its arguments have been escaped.
func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

func (p *page) header(r report.Report) {
	name := r.Server.Name
	if name == "" {
		name = report.Cut(strings.TrimSpace(strings.Join(r.Server.Command, " ")+r.Server.URL), 160)
	}
	of := Escape(strings.TrimSpace(name + " " + r.Server.Version))
	with := []string{strings.TrimSpace(r.Tracer.Name + " " + r.Tracer.Version)}
	if r.Tracer.Name == "" {
		with[0] = "not traced"
	}
	if t := r.Server.Transport; plan.ByName(t).Listens {
		with = append([]string{string(t) + foundAt(r.Server.Detected)}, with...)
	}
	if v := r.Server.ProtocolVersion; v != "" {
		with = append([]string{"MCP " + v}, with...)
	}
	verdict := string(r.Verdict)
	if r.Verdict == report.VerdictInconclusive {
		verdict += " (" + string(r.Reason) + ")"
	}
	p.line("%s: %s  [%s]", of, p.paint(verdictColour[r.Verdict], verdict), Escape(strings.Join(with, ", ")))
	p.line("%s", Escape(r.Message))
	p.risk(r)
	if r.ManifestDigest != "" {
		p.line("manifest %s", Escape(r.ManifestDigest))
	}
	if r.Server.Package != nil {
		p.line("package  %s", Escape(packageOf(r)))
	}
}

// packageOf says what was installed; "" if nothing was.
func packageOf(r report.Report) string {
	of := r.Server.Package
	if of == nil {
		return ""
	}
	if of.RegistryType == "oci" {
		return fmt.Sprintf("oci:%s %s", strings.TrimSuffix(of.Identifier+":"+of.Version, ":"), of.LockDigest)
	}
	return fmt.Sprintf("%s:%s %s, %s in all, lock %s", of.RegistryType, of.Identifier, of.Version, count(of.Count, "package"), of.LockDigest)
}

// foundAt says where the server was found to listen.
func foundAt(at *report.Endpoint) string {
	if at == nil {
		return ""
	}
	return fmt.Sprintf(" found on port %d at %s", at.Port, at.Path)
}

const indent = "          "

func (p *page) finding(group []report.Finding) {
	f := group[0]
	p.line("")
	label := fmt.Sprintf("%-9s", f.Severity)
	p.line("%s %s  %s", p.paint(severityColour[f.Severity], label), Escape(f.Title), Escape(f.Rule))
	p.line("%s%s", indent, Escape(f.Message))
	if text := others(group); text != "" {
		p.line("%s%s", indent, Escape(text))
	}
	if s := f.Suppressed; s != nil {
		p.line("%s%s", indent, Escape(suppressed(*s)))
		if !s.Expired {
			return // its evidence is in the JSON
		}
	}
	p.line("%s%s", indent, Escape(where(f)))
	for _, e := range f.Evidence {
		text := report.Cut(e.Detail, 240)
		if e.PID != 0 {
			text = fmt.Sprintf("%s pid %d: %s", e.Time.Format("15:04:05.000000"), e.PID, text)
		}
		p.line("%s%s", indent, Escape(text))
	}
	if f.Mitigation != "" {
		p.line("%smitigation: %s", indent, Escape(report.Cut(f.Mitigation, 300)))
	}
}

// where says during what a finding was seen.
func where(f report.Finding) string {
	attribution := report.AttributionPhase
	if len(f.Evidence) > 0 {
		attribution = f.Evidence[0].Attribution
	}
	switch {
	case attribution == report.AttributionBackground:
		return "in the background, after the last call"
	case f.Capability.Kind == report.CapabilityServer, attribution == report.AttributionPhase: // such as in what was listed
		return "in phase " + string(f.Phase)
	case attribution == report.AttributionAfter, attribution == report.AttributionSettle:
		return "after the response of " + f.Capability.String()
	case attribution == report.AttributionLineage:
		return "by a process that a call of " + f.Capability.String() + " had started"
	default:
		return "during a call of " + f.Capability.String()
	}
}

func (p *page) problems(r report.Report) {
	for _, e := range r.Errors {
		p.line("Note      %s", Escape(e))
	}
	for _, t := range r.Truncated {
		p.line("Note      %d of %s were left out", t.Dropped, Escape(t.Field))
	}
	if r.Verdict == report.VerdictInconclusive && r.Server.Stderr != "" {
		p.line("")
		p.line("The end of the server's stderr")
		for l := range strings.Lines(strings.TrimSpace(r.Server.Stderr)) {
			p.line("  %s", Escape(strings.TrimRight(l, "\r\n")))
		}
	}
}
