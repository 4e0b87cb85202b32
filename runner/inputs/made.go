package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// made is a call that was accepted, of a tool that makes something: what is there since
// then, other tools change and take away by the same arguments.
type made struct {
	source    string
	about     []string
	arguments map[string]any // texts and numbers only
}

// maxMade is of how many tools the last call is kept.
const maxMade = 64

// keep notes a call for what other tools are called with.
func (p *Pool) keep(source string, arguments json.RawMessage) {
	all, _ := Decode(arguments).(map[string]any)
	maps.DeleteFunc(all, func(_ string, value any) bool {
		switch value.(type) {
		case string, json.Number:
			return len(plain(value)) > maxValue || p.Refuse != nil && p.Refuse(plain(value))
		}
		return true
	})
	i := slices.IndexFunc(p.calls, func(m made) bool { return m.source == source })
	switch {
	case len(all) == 0:
	case i >= 0:
		p.calls[i].arguments = all
	case len(p.calls) < maxMade:
		p.calls = append(p.calls, made{source, subject(source), all})
	}
}

// made is a call to follow: of another tool for the same things, with arguments that have
// the same names; nil when there is none that was not followed before.
func (f *Form) madeBefore(pool *Pool) *made {
	if pool == nil || has(f.about, createWords) {
		return nil
	}
	var required []string
	for _, each := range f.outermost() {
		if each.required {
			required = append(required, each.name)
		}
	}
	about := meaning(singular(slices.Clone(f.about)))
	for i := range pool.calls {
		m := &pool.calls[i]
		shared := 0
		for _, name := range required {
			if _, given := m.arguments[name]; given {
				shared++
			}
		}
		if share(m.about, about) && shared > 0 && shared >= min(2, len(required)) && f.followed[m.source] != canonical(m.arguments) {
			return m
		}
	}
	return nil
}

// follow is the value of the call that a draft follows, for a place that has the same
// name there.
func (d *draft) follow(n *node) (candidate, bool) {
	f := d.form
	if d.made == nil || strings.Count(n.at, "/") != 1 || isProgram(n) || f.ends(n) || f.creates(n) || f.names(n) {
		return candidate{}, false
	}
	value, given := d.made.arguments[n.name]
	if !given || f.takesAway(n) && f.options.keeps(value) {
		return candidate{}, false
	}
	for _, c := range f.fitting(n, []candidate{{value: value, source: "the arguments of " + d.made.source}}) {
		return c, true
	}
	return candidate{}, false
}
