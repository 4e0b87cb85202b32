// Package scope reads from a manifest what a server says that it does: whether
// it uses the network, starts programs, touches files, and whether it promises
// to keep off the network.
//
// It is a reading of words, and errs on one side: an observation is held
// against a promise only when the promise is plain and nothing else in the
// same declaration contradicts it. The package is pure.
package scope

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// Clause is a place in a declaration that says something.
type Clause struct {
	Source report.ScopeSource
	// Capability is whose declaration it is; Kind Server for the server's own.
	Capability report.Capability
	// Field names the place: "description", "instructions", "annotations.openWorldHint".
	Field string
	// Means says how it was understood: "keeps off the network".
	Means string
	sense sense
	// Quote is the sentence, at most 160 bytes.
	Quote string
}

var ofServer = report.Capability{Kind: report.CapabilityServer}

// Given holds what is said of a server besides its manifest, and what is known of
// the place where it runs.
type Given struct {
	// Allow lists what the operator allows; nil: nothing is said.
	Allow *report.DeclaredScope
	// ServerJSON is the server's entry for the MCP registry; nil: it has none.
	ServerJSON json.RawMessage
	// Command started the server. It stands in for the name of a server that has not given one, or one of any server.
	Command []string
	// Home is the server's home directory, for "~/"; empty: not known.
	Home string
	// Resolvers are the machine's name servers; none: not known.
	Resolvers []netip.Addr
	// Gave reports whether the sinkhole resolved a name to an address; nil where that is not known. Any
	// other address comes from a name server that the server brought along.
	Gave func(name string, at netip.Addr) bool
}

// Declaration holds what one capability, or the server about itself, declares. Each list is in the
// order of the texts.
type Declaration struct {
	// NoNetwork are promises to keep off the network.
	NoNetwork []Clause
	// Network, Subprocess and Files are clauses that speak of such a use, and
	// do not deny it.
	Network, Subprocess, Files []Clause

	// words holds the words of its texts in lower case, and coined those with a capital inside:
	// "openstreetmap" for "OpenStreetMap".
	words, coined map[string]bool
	// hints are the restrictive ones, by name.
	hints map[string]Clause
	// readOnly are promises to change nothing, writing clauses that speak of it.
	readOnly, writing []Clause
	named             []named
	// said holds clauses that no rule reads, for the report.
	said []Clause
}

// Mentions reports whether one of the words occurs. They are lower case.
func (d Declaration) Mentions(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return d.words[w] })
}

// Coins reports whether a lower-case word occurs with a capital inside, as brand names are spelled.
func (d Declaration) Coins(word string) bool { return d.words[word] && d.coined[word] }

// Scope holds what is declared.
type Scope struct {
	rulings map[UseKind]ruling
	server  Declaration
	// whole is server and all of items.
	whole Declaration
	// speaks is set if there is a declaration besides the command.
	speaks bool
	items  map[report.Capability]Declaration
	order  []report.Capability
}

// Read reads a manifest, up to 4 MiB of it: hostile ones are longer.
// Capabilities of the same name are one.
func Read(m manifest.Manifest, given Given) Scope {
	s := Scope{items: map[report.Capability]Declaration{}, rulings: given.rulings()}
	r := &reader{given: given, left: manifest.MaxRead}
	s.server = r.read(ofServer, report.ScopeText, []field{
		{name: "name", text: cmp.Or(telling(manifest.Text(m.ServerName)), programs(given.Command)), identifier: true},
		{name: "instructions", text: manifest.Text(m.Instructions), promises: true},
	})
	s.server.absorb(r.serverJSON(given.ServerJSON))
	for _, kind := range manifest.Kinds {
		for _, item := range manifest.Items(kind, *m.List(kind)) {
			of := report.Capability{Kind: kind, Name: item.Name}
			d := r.read(of, report.ScopeText, fields(item))
			d.hints = hints(of, item)
			if clause, ok := d.hints["openWorldHint"]; ok {
				d.NoNetwork = append(d.NoNetwork, clause)
			}
			if before, twice := s.items[of]; twice {
				before.absorb(d)
				d = before
			} else {
				s.order = append(s.order, of)
			}
			s.items[of] = d
		}
	}
	s.speaks = manifest.Text(m.ServerName) != "" || len(s.order) > 0 || len(given.ServerJSON) > 0
	s.whole.absorb(s.server)
	for _, of := range s.order {
		s.whole.absorb(s.items[of])
	}
	return s
}

// telling returns a server's name if it says more than that it is a server: "MCP-Server" does not.
func telling(name string) string {
	if nameless.MatchString(name) {
		return ""
	}
	return name
}

var nameless = lazyregexp.New(`(?i)^(?:mcp|model|context|protocol|server|service|app|main|my|the|demo|example|test|fast|[\W_\d])*$`)

// Own returns what a capability says of itself; for Kind Server, what the server says in
// its name and instructions.
func (s Scope) Own(of report.Capability) Declaration {
	if of.Kind == report.CapabilityServer {
		return s.server
	}
	return s.items[of]
}

// Covering returns what may excuse something that a capability does: its own words
// and the server's. For Kind Server it is everything that the manifest says.
func (s Scope) Covering(of report.Capability) Declaration {
	if of.Kind == report.CapabilityServer {
		return s.whole
	}
	var d Declaration
	d.absorb(s.server)
	d.absorb(s.items[of])
	return d
}

func (d *Declaration) absorb(other Declaration) {
	d.NoNetwork = append(d.NoNetwork, other.NoNetwork...)
	d.Network = append(d.Network, other.Network...)
	d.Subprocess = append(d.Subprocess, other.Subprocess...)
	d.Files = append(d.Files, other.Files...)
	d.readOnly = append(d.readOnly, other.readOnly...)
	d.writing = append(d.writing, other.writing...)
	d.named = append(d.named, other.named...)
	d.said = append(d.said, other.said...)
	if len(other.hints) > 0 {
		hints := maps.Clone(other.hints)
		maps.Copy(hints, d.hints)
		d.hints = hints
	}
	if d.words == nil {
		d.words, d.coined = make(map[string]bool, len(other.words)), map[string]bool{}
	}
	maps.Copy(d.words, other.words)
	maps.Copy(d.coined, other.coined)
}
