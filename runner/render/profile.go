package render

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func (p *page) profile(profile report.Profile) {
	if len(profile.Capabilities) == 0 {
		return
	}
	p.line("")
	p.line("What was seen (all of it: -o json)")
	for _, c := range profile.Capabilities {
		p.line("  %s", Escape(heading(c)))
		p.files("read", c.Reads)
		p.files("write", c.Writes)
		p.files("delete", c.Deletes)
		p.files("tried", c.Attempts)
		some(p, "exec", c.Execs, func(e report.Exec) {
			p.effect("exec", e.Path+arguments(e.Argv), "execve", e.Error, e.Count)
		})
		p.ends("connect", c.Connects)
		p.ends("listen", c.Listens)
		if c.Dropped > 0 {
			p.line("    %d less telling effects were left out", c.Dropped)
		}
	}
}

// heading names a section: "tool clock, Call, after its response".
func heading(c report.CapabilityProfile) string {
	text := report.Capability{Kind: c.Kind, Name: c.Name}.String() + ", " + string(c.Phase)
	switch {
	case c.Late && c.Kind == report.CapabilityServer:
		text += ", in the background"
	case c.Late:
		text += ", after its response"
	}
	return text
}

// maxShown bounds the effects of a list that are shown; the most important come
// first, and the JSON has the rest.
const maxShown = 5

// some returns the beginning of a list.
func some[T any](p *page, verb string, list []T, show func(T)) {
	for _, item := range list[:min(len(list), maxShown)] {
		show(item)
	}
	if more := len(list) - maxShown; more > 0 {
		p.line("    %-8s and %d more", verb, more)
	}
}

func (p *page) files(verb string, files []report.FileAccess) {
	some(p, verb, files, func(f report.FileAccess) { p.effect(verb, f.Path, f.Operation, f.Error, f.Count) })
}

func (p *page) ends(verb string, ends []report.Connection) {
	some(p, verb, ends, func(c report.Connection) {
		what, how := peer(c)
		p.effect(verb, what, how, c.Error, c.Count)
	})
}

// peer returns the other end of a connection, and the protocol.
func peer(c report.Connection) (what, how string) {
	what, how = c.Address, c.Protocol
	if c.Port != 0 {
		what = fmt.Sprintf("%s:%d", bracket(c.Address), c.Port)
	}
	if c.Host != "" {
		what += " (" + c.Host + ")"
	}
	if c.BytesOut > 0 {
		how += ", sent " + size(c.BytesOut)
	}
	return what, how
}

func (p *page) effect(verb, what, how, failure string, count int) {
	if failure != "" {
		how += " " + failure
	}
	if count > 1 {
		how += fmt.Sprintf(" x%d", count)
	}
	p.line("    %-8s %s  [%s]", verb, Escape(report.Cut(what, 160)), Escape(how))
}

func bracket(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// arguments returns the arguments after the program's own name.
func arguments(argv []string) string {
	if len(argv) < 2 {
		return ""
	}
	return " " + strings.Join(argv[1:], " ")
}
