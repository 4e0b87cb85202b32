package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// made is an accepted call of a tool that creates something. Other tools change and
// remove that by the same arguments.
type made struct {
	source    string
	about     []string
	arguments map[string]any // texts and numbers only
}

// maxMade bounds the tools whose last call is kept.
const maxMade = 64

// keep stores a call whose arguments other tools may use.
func (p *Pool) keep(source string, arguments json.RawMessage) {
	all, _ := Decode(arguments).(map[string]any)
	maps.DeleteFunc(all, func(_ string, value any) bool {
		switch value.(type) {
		case string, json.Number:
			return len(plain(value)) > maxValue || p.refuses(plain(value))
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

// madeBefore returns a call of another tool for the same things, with arguments of the same names,
// that was not followed yet; nil for none.
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
		if has(m.about, about) && shared > 0 && shared >= min(2, len(required)) && f.followed[m.source] != canonical(m.arguments) {
			return m
		}
	}
	return nil
}

// following makes a call for what another tool has created since: before, the same arguments may have been refused.
func (f *Form) following(pool *Pool, mark Mark) (Case, bool) {
	m := f.madeBefore(pool)
	if m == nil || f.followed[m.source] != "" && f.succeeded {
		return Case{}, false
	}
	for _, each := range f.outermost() {
		if lesson := f.lessons[each.node.at]; lesson != nil { // it is there now
			delete(lesson.refused, plain(m.arguments[each.name]))
		}
	}
	d, ok := f.aimed(ShapeRequired, -1, pool, mark)
	return f.send(d), ok
}

// follow returns the value that the call followed by a draft has for a place of the same
// name.
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
