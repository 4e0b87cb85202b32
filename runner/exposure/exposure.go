// Package exposure lists what each tool, resource, resource template and prompt of a server
// was seen to let its callers do: an inventory of sinks, each with how much of it an argument
// decides. It is pure, and it describes without judging: declarations do not change what was
// seen, and no verdict depends on it.
//
// The audit calls Of once, with the input of the rules.
package exposure

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// Seen is the input of Of.
type Seen struct {
	rules.Input
	// Sent holds what the sinkhole received.
	Sent []Sent
	// Dirs are the directories that the server's environment names.
	Dirs []string
	// Exercise has a row for each capability.
	Exercise []report.CapabilityCoverage
	// Untraced: only answers were seen.
	Untraced bool
	// Attacked: the launch with attempts on guards was watched to its end.
	Attacked bool
}

// Sent holds what the server sent over a connection during a call.
type Sent struct {
	Capability report.Capability
	// Protocol, Host and Request are as in sinkhole.Capture.
	Protocol, Host, Request string
	// Data is the beginning of what was sent, at most MaxSent bytes.
	Data     string
	Evidence report.Evidence
}

// MaxSent bounds the part of the sent data that is searched, in bytes.
const MaxSent = 4 << 10

// Of returns the exposure of a server.
func Of(s Seen) report.Exposure {
	s.Input = s.Reading()
	s.Profile = s.Profile.Canonical(s.Search)
	b := &builder{Seen: s, ours: s.Ours(), routine: s.Routine(), roots: s.Roots(), items: map[key]*item{}}
	for _, e := range s.Profile.Effects {
		if e.Capability.Kind == report.CapabilityServer || e.Phase != report.PhaseCall {
			continue
		}
		switch e.Kind {
		case profile.KindExec:
			b.program(e)
		case profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete:
			b.file(e)
		case profile.KindConnect:
			b.contact(e)
		}
	}
	for _, sent := range s.Sent {
		b.sent(sent)
	}
	b.evaluated()
	b.secrets()
	b.attacked()
	b.content()
	b.declared()
	return report.ExposureOf(b.all())
}

// key identifies an item.
type key struct {
	of   report.Capability
	kind report.ExposureKind
}

// item collects an ExposureItem: what decides the furthest reach that was seen.
type item struct {
	reach             report.Reach
	basis             report.ExposureBasis
	arguments, bounds []string
	evidence          []report.Evidence
}

type builder struct {
	Seen
	ours    func(name string) bool
	routine func(profile.Effect) bool
	roots   []string
	items   map[key]*item
	order   []key
}

// maxNamed bounds the arguments, and the bounds, that an item names; maxEvidence its entries
// of evidence.
const (
	maxNamed    = 3
	maxEvidence = 2
)

// sighting is one observation of an exposure.
type sighting struct {
	reach           report.Reach
	argument, bound string
	evidence        report.Evidence
}

// note adds a sighting to the item of its capability and kind.
func (b *builder) note(of report.Capability, kind report.ExposureKind, seen sighting) {
	k := key{of, kind}
	i := b.items[k]
	if i == nil {
		i = &item{reach: seen.reach, basis: report.BasisProven}
		b.items[k], b.order = i, append(b.order, k)
	}
	switch {
	case !seen.reach.AtLeast(i.reach):
		return
	case seen.reach != i.reach:
		*i = item{reach: seen.reach, basis: report.BasisProven}
	}
	i.arguments, i.bounds = named(i.arguments, withoutIndex(seen.argument)), named(i.bounds, seen.bound)
	if len(i.evidence) < maxEvidence {
		i.evidence = append(i.evidence, seen.evidence)
	}
}

// has returns the item of a capability and kind; false if there is none.
func (b *builder) has(of report.Capability, kind report.ExposureKind) (*item, bool) {
	i, ok := b.items[key{of, kind}]
	return i, ok
}

// named adds a new name to a list of fewer than maxNamed.
func named(list []string, name string) []string {
	if name == "" || len(list) >= maxNamed || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// index matches the index of a list's element: all elements of a list are one argument.
var index = lazyregexp.New(`\[\d+\]`)

func withoutIndex(field string) string { return index.ReplaceAllLiteralString(field, "[]") }

// all returns the items in the order in which they were first seen.
func (b *builder) all() []report.ExposureItem {
	var all []report.ExposureItem
	for _, k := range b.order {
		i := b.items[k]
		all = append(all, report.ExposureItem{
			Capability: k.of, Kind: k.kind, Reach: i.reach, Basis: i.basis,
			Argument: strings.Join(i.arguments, ", "), Bound: strings.Join(i.bounds, ", "), Evidence: i.evidence,
		})
	}
	return all
}

func (b *builder) arguments(of report.Capability) []rules.Argument { return b.Arguments[of] }

// unsure reports whether another call may have caused an effect: only an argument that the
// effect shows proves that it was this one.
func unsure(e profile.Effect) bool {
	return e.AlternativeCause != (report.Capability{})
}
