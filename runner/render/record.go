package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxCaptures and maxSamples are how many captures, and how many samples of one
// kind of noise, are shown; the JSON has the rest.
const (
	maxCaptures = 10
	maxSamples  = 10
)

// captures shows what the sinkhole received.
func (p *page) captures(all []report.Capture) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line("What was sent (nothing of it left the sandbox)")
	for _, c := range all[:min(len(all), maxCaptures)] {
		what := cmp.Or(c.Request, c.Excerpt)
		if c.Opaque {
			what = "encrypted for somebody else: not known what"
		}
		p.line("  %-8s %s  %s  [%s, %s]", Escape(c.Protocol), Escape(report.Cut(destination(c), 100)), Escape(report.Cut(what, 160)),
			Escape(c.Capability.String()), size(c.Bytes))
	}
	if more := len(all) - maxCaptures; more > 0 {
		p.line("  and %d more", more)
	}
}

// destination returns where a capture was meant to go.
func destination(c report.Capture) string {
	name := c.Host
	if name == "" || c.Protocol == "dns" { // Host is the name of the question
		name = bracket(c.Address)
	}
	if c.Port == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d", name, c.Port)
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// gaps shows what the audit could not see.
func (p *page) gaps(all []report.Gap) {
	for _, g := range all {
		p.line("Not seen  %s", Escape(report.Cut(g.Detail, 240)))
	}
}

// noise shows how much was left out of the profile, with the report's samples.
func (p *page) noise(all []report.Noise) {
	var parts []string
	sampled, total := false, 0
	for _, n := range all {
		parts = append(parts, fmt.Sprintf("%s %d", n.Reason, n.Count))
		total += n.Count
		sampled = sampled || len(n.Samples) > 0
	}
	if total == 0 {
		return
	}
	p.line("Left out  %d accesses of the runtime's own: %s", total, Escape(strings.Join(parts, ", ")))
	if !sampled {
		return
	}
	for _, n := range all {
		if len(n.Samples) == 0 {
			continue
		}
		p.line("  %s", Escape(n.Reason))
		for _, s := range n.Samples[:min(len(n.Samples), maxSamples)] {
			p.line("    %s", Escape(report.Cut(s, 160)))
		}
		if len(n.Samples) > maxSamples {
			p.line("    and more")
		}
	}
}
