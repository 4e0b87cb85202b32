package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// allowance is one entry of a list.
type allowance struct {
	allows matcher
	clause Clause
}

// matcher reports whether an entry covers a use of its list's kind.
type matcher func(Use) bool

// list is one list of a report.DeclaredScope.
type list struct {
	kind    UseKind
	entries []string
	parse   func(entry string, d Given) (matcher, error)
	// only begins the meaning of the list; nothing is that of an empty one.
	only, nothing string
}

// lists returns the lists that d.Allow has, in the order of the documentation.
func (d Given) lists() []list {
	if d.Allow == nil {
		return nil
	}
	var present []list
	for _, l := range []list{
		{UseEgress, d.Allow.Egress, parseEgress, "may connect only to ", "may connect nowhere"},
		{UseRead, d.Allow.ReadPaths, parsePath, "may read only ", "may read nothing"},
		{UseWrite, d.Allow.WritePaths, parsePath, "may write only ", "may write nothing"},
		{UseExec, d.Allow.Exec, parseProgram, "may run only ", "may run nothing"},
		{UseListen, d.Allow.Listen, parseListen, "may listen only on ", "may listen nowhere"},
	} {
		if l.entries != nil {
			present = append(present, l)
		}
	}
	return present
}

// The bounds of a list, as in the operator's spec.
const (
	maxEntries = report.MaxAllowed
	maxEntry   = report.MaxPathBytes // bytes
)

// Check parses what an operator declared. The error names the entry and its form.
func Check(allow *report.DeclaredScope) error {
	for _, l := range (Given{Allow: allow}).lists() {
		if len(l.entries) > maxEntries {
			return fmt.Errorf("%s: it has %d entries: %d is the most", l.kind, len(l.entries), maxEntries)
		}
		for i, entry := range l.entries {
			if _, err := l.read(entry, Given{}); err != nil {
				return fmt.Errorf("%s[%d] %q: %w", l.kind, i, quote(entry), err)
			}
		}
	}
	return nil
}

func (l list) read(entry string, d Given) (matcher, error) {
	switch {
	case entry == "":
		return nil, errors.New("it is empty: leave it out")
	case len(entry) > maxEntry:
		return nil, fmt.Errorf("it is longer than %d bytes", maxEntry)
	case strings.ContainsFunc(entry, unicode.IsControl):
		return nil, errors.New("it has a control character")
	}
	return l.parse(entry, d)
}

// ruling is one list, parsed.
type ruling struct {
	entries []allowance
	// whole is the list as one clause.
	whole Clause
}

// rulings parses the lists. An entry that does not parse allows nothing: callers validate with Check first.
func (d Given) rulings() map[UseKind]ruling {
	all := map[UseKind]ruling{}
	for _, l := range d.lists() {
		r := ruling{whole: Clause{Source: report.ScopeSpec, Capability: ofServer, Field: string(l.kind), Means: l.nothing}}
		if len(l.entries) > 0 {
			r.whole.Quote = quote(strings.Join(l.entries, ", "))
			r.whole.Means = l.only + r.whole.Quote
		}
		for i, entry := range l.entries[:min(len(l.entries), maxEntries)] {
			allows, err := l.read(entry, d)
			if err != nil {
				continue
			}
			r.entries = append(r.entries, allowance{allows, Clause{
				Source: report.ScopeSpec, Capability: ofServer, Field: fmt.Sprintf("%s[%d]", l.kind, i),
				Means: strings.Replace(l.only, " only", "", 1) + quote(entry), Quote: quote(entry),
			}})
		}
		all[l.kind] = r
	}
	return all
}

func (r ruling) answer(use Use) (Answer, Clause) {
	for _, entry := range r.entries {
		if entry.allows(use) {
			return Allowed, entry.clause
		}
	}
	return Exceeded, r.whole
}

// Unused returns the entries of one of the operator's lists that none of the uses needs. It leaves out
// addresses and blocks while a name was used: they may be meant for that.
func (s Scope) Unused(kind UseKind, uses []Use) []string {
	byName := slices.ContainsFunc(uses, func(u Use) bool { return u.Host != "" })
	var unused []string
	for _, entry := range s.rulings[kind].entries {
		if slices.ContainsFunc(uses, entry.allows) || kind == UseEgress && byName && isAddress(entry.clause.Quote) {
			continue
		}
		unused = append(unused, entry.clause.Quote)
	}
	return unused
}

// isAddress reports whether an entry of egress is an address or a block.
func isAddress(entry string) bool {
	to, _, err := cutPort(entry)
	_, ok := parseBlock(to)
	return err == nil && ok
}
