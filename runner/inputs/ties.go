package inputs

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
)

// tie is a constraint between the properties of one object: where it holds, at least and at most so many of the
// names are given.
type tie struct {
	when        condition
	names       []string
	least, most int
}

// condition says that a property is given, with one of the values, as JSON, if there are any. Without a name it
// always holds. implied: one of the values is the default, which holds where the property is not given.
type condition struct {
	name    string
	values  []string
	implied bool
}

func (c condition) holds(object map[string]any) bool {
	value, given := object[c.name]
	return c.name == "" || !given && c.implied || given && (len(c.values) == 0 || slices.Contains(c.values, canonical(value)))
}

// need ties names that all have to be given, anyOne those of which one has to be, apart those of which one may be.
func need(when condition, names ...string) tie {
	return tie{when: when, names: names, least: len(names), most: len(names)}
}
func anyOne(names ...string) tie { return tie{names: names, least: 1, most: len(names)} }
func apart(names ...string) tie  { return tie{names: names, most: 1} }

// bars reports whether an object may not have one more property.
func (t tie) bars(name string, object map[string]any) bool {
	return slices.Contains(t.names, name) && t.when.holds(object) && t.count(object) >= t.most
}

func (t tie) count(object map[string]any) (n int) {
	for _, name := range t.names {
		if _, given := object[name]; given {
			n++
		}
	}
	return n
}

// tied returns the constraints that a schema has between the properties of an object, other than alternatives: those
// are branches.
func (r *resolver) tied(schema any, depth int) (found []tie) {
	s, _ := schema.(map[string]any)
	if s == nil || depth > maxDepth || !r.spend(16+len(s)) {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		found = r.tied(r.resolve(ref), depth+1)
	}
	for _, part := range list(s["allOf"], maxItems) {
		found = append(found, r.tied(part, depth+1)...)
	}
	for _, keyword := range []string{"dependentRequired", "dependencies", "dependentSchemas"} {
		of, _ := s[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(of))[:min(len(of), maxFields)] {
			names, _ := texts(of[name])
			if inner, is := of[name].(map[string]any); is {
				names, _ = texts(inner["required"])
			}
			found = append(found, need(condition{name: name}, names...))
		}
	}
	return append(found, forbidden(s["not"])...)
}

// forbidden returns the constraints of not: names that do not go together, or one that may not be given.
func forbidden(not any) (found []tie) {
	s, _ := not.(map[string]any)
	for _, each := range append(list(s["anyOf"], maxItems), not) {
		of, _ := each.(map[string]any)
		if names, ok := texts(of["required"]); ok && len(of) == 1 && len(names) > 0 {
			found = append(found, tie{names: names, most: len(names) - 1})
		}
	}
	return found
}

// ties returns the constraints on an object: of its schema, of descriptions and of refusals.
func (f *Form) ties(n *node) []tie { return slices.Concat(n.ties, f.told[n.at]) }

// learnTie adds a constraint that a text tells; false if it is known.
func (f *Form) learnTie(at string, t tie) bool {
	same := func(known tie) bool { return reflect.DeepEqual(known, t) }
	if len(t.names) == 0 || len(f.told[at]) >= maxTies || slices.ContainsFunc(f.told[at], same) {
		return false
	}
	f.told[at] = append(slices.DeleteFunc(f.told[at], t.contradicts), t)
	return true
}

// maxTies bounds what texts tell of one object.
const maxTies = 64

// contradicts reports whether a tie needs more names than another allows.
func (t tie) contradicts(other tie) bool {
	shared := 0
	for _, name := range t.names {
		if slices.Contains(other.names, name) {
			shared++
		}
	}
	return t.least == len(t.names) && t.most > 0 && shared > other.most
}

// ranked returns the fields in the order in which they are filled in: where some exclude others, or depend on the
// value of another, those that are there for certain come first.
func (d *draft) ranked(n *node, ties []tie) []field {
	if len(ties) == 0 {
		return n.fields
	}
	rank := func(f field) int {
		decides := func(t tie) bool {
			return t.when.name == f.name && t.when.values != nil || t.when.name == "" && t.least == len(t.names) && slices.Contains(t.names, f.name)
		}
		switch {
		case f.required, slices.ContainsFunc(ties, decides):
			return 0
		case d.insists(n, f):
			return 1
		}
		return 2
	}
	fields := slices.Clone(n.fields)
	slices.SortStableFunc(fields, func(a, b field) int { return rank(a) - rank(b) })
	return fields
}

// insists reports whether a draft is there for a property.
func (d *draft) insists(n *node, f field) bool {
	_, given := d.form.given[f.name]
	return n.at == "" && given || d.aims(f.here()) || d.shape == ShapeOne && n.at == "" && f.name == d.only
}

// here returns the branches that a field takes, or may take.
func (f field) here() set {
	here := only(f.present)
	here.join(f.node.below)
	return here
}

// barred reports whether constraints keep a property out. What a draft is there for is not kept out: a text may
// have been misread.
func (d *draft) barred(n *node, f field, ties []tie, out map[string]any) bool {
	return !f.required && !d.insists(n, f) && slices.ContainsFunc(ties, func(t tie) bool { return t.bars(f.name, out) })
}

// missing returns the properties that a constraint still asks for: all of its names, or the likeliest.
func (d *draft) missing(n *node, t tie, ties []tie, out map[string]any) (names []string) {
	short := t.least - t.count(out)
	if short <= 0 || !t.when.holds(out) {
		return nil
	}
	var likely, others []string
	for _, name := range t.names {
		i := slices.IndexFunc(n.fields, func(f field) bool { return f.name == name })
		if _, given := out[name]; given || i < 0 {
			continue
		}
		f := n.fields[i]
		switch {
		case d.aim >= 0 && d.aim == f.absent, t.least < len(t.names) && d.barred(n, f, ties, out):
		case d.form.accepted.has(f.present):
			likely = append(likely, name)
		default:
			others = append(others, name)
		}
	}
	names = append(likely, others...)
	return names[:min(len(names), short)]
}

// members are the properties of the object at a place.
type members struct {
	at     string
	fields []field
	// choices are the values that decide something, by their text.
	choices map[string]condition
}

// objects returns the objects at a node and below: alternatives of one place make one object.
func (n *node) objects() (found []*members) {
	for each := range n.all() {
		if len(each.fields) == 0 {
			continue
		}
		i := slices.IndexFunc(found, func(m *members) bool { return m.at == each.at })
		if i < 0 && len(found) == maxLessons {
			continue
		}
		if i < 0 {
			i, found = len(found), append(found, &members{at: each.at, choices: map[string]condition{}})
		}
		for _, f := range each.fields {
			found[i].add(f)
		}
	}
	return found
}

func (m *members) add(f field) {
	if !slices.ContainsFunc(m.fields, func(known field) bool { return known.name == f.name }) && f.name != "" {
		m.fields = append(m.fields, f)
	}
	for _, w := range f.node.ways {
		if text, is := w.value.(string); is && len(text) > 1 && w.node == nil {
			m.choices[text] = condition{name: f.name, values: []string{canonical(text)}, implied: f.node.s["default"] == text}
		}
	}
}

// readDescriptions learns the constraints that the tool and its properties describe.
func (f *Form) readDescriptions() {
	f.objects = f.tree.objects()
	left := allowance(budget)
	for _, m := range f.objects {
		texts := map[string]string{}
		for _, each := range m.fields {
			texts[each.name] = said(each.node)
		}
		if m.at == "" {
			texts[""] = head(f.options.Said, maxLength)
		}
		for _, self := range slices.Sorted(maps.Keys(texts)) {
			if !left.spend(len(texts[self])) {
				return
			}
			for _, t := range m.read(texts[self], self) {
				f.learnTie(m.at, t)
			}
		}
	}
}

// readRefusal learns the constraints that an error tells, and which properties it misses.
func (f *Form) readRefusal(c Case, text string) {
	text = head(text, maxLength)
	for _, m := range f.objects {
		found := m.read(text, "")
		for _, clause := range clauses.Split(text, maxClauses) {
			if names := m.missed(c, clause); len(names) > 0 && len(m.read(clause, "")) == 0 {
				found = append(found, need(condition{}, names...))
				f.hold(m.at)
			}
		}
		for _, t := range found {
			f.repair = f.learnTie(m.at, t) || f.repair
		}
	}
}

// hold has the object at a place given, where errors miss what it contains.
func (f *Form) hold(at string) {
	for at != "" {
		above, name := path.Split(at)
		at = strings.TrimSuffix(above, "/")
		for _, m := range f.objects {
			if m.at == at && slices.ContainsFunc(m.fields, func(each field) bool { return each.name == name && !each.required }) {
				f.learnTie(at, need(condition{}, name))
			}
		}
	}
}

// missed returns the optional properties that a clause misses: all of them if it says so, those before "required" if there
// are any, else the first.
func (m *members) missed(c Case, clause string) (names []string) {
	if !missing.MatchString(clause) {
		return nil
	}
	mentions, end := m.mentioned(clause), len(clause)
	if at := demanded.FindStringIndex(clause); at != nil && len(mentions) > 0 && mentions[0].at < at[0] {
		end = at[0]
	}
	for _, each := range mentions {
		if each.at < end && !each.required && !c.taken.has(each.present) {
			names = append(names, each.name)
		}
	}
	if len(names) > 1 && !demanded.MatchString(clause) {
		return names[:1]
	}
	return names
}

// mention is a property and where a text names it.
type mention struct {
	field
	at int
}

// mentioned returns the properties that a text names, in its order.
func (m *members) mentioned(text string) (found []mention) {
	for _, f := range m.fields {
		for _, name := range spellings(f.name) {
			if at := indexWord(text, name); at >= 0 {
				found = append(found, mention{f, at})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b mention) int { return a.at - b.at })
	return found
}

// asWords returns a name of several words by them, however it is spelled, and any other as it is.
func asWords(name string) string {
	if words := split(name); len(words) > 1 {
		return strings.Join(words, " ")
	}
	return name
}

// spellings returns the name of a property, and how code that has another style names it: mergeRequestId for merge_request_id.
func spellings(name string) []string {
	words := split(name)
	if len(words) < 2 {
		return []string{name}
	}
	camel := words[0]
	for _, word := range words[1:] {
		camel += strings.ToUpper(word[:1]) + word[1:]
	}
	return []string{name, camel, strings.Join(words, "_"), strings.Join(words, "-")}
}

// deciding returns the choices that a clause is about: "for create", "when action is 'create'", "create: ...".
func (m *members) deciding(clause string) (found condition, leads bool) {
	for _, value := range slices.Sorted(maps.Keys(m.choices)) {
		at := indexWord(clause, value)
		if at < 0 {
			continue
		}
		before, after := clause[:at], strings.TrimLeft(clause[at+len(value):], "'\"`* ")
		leading := leadIn.MatchString(before) && (strings.HasPrefix(after, ":") || strings.HasPrefix(after, "(") || demanding.MatchString(after))
		of := m.choices[value]
		if !leading && !decides.MatchString(before) && !strings.HasPrefix(after, "action") && !strings.HasPrefix(after, "operation") && !strings.HasPrefix(after, of.name) {
			continue
		}
		if found.name == "" || found.name == of.name {
			found.name, found.values, found.implied, leads = of.name, append(found.values, of.values...), found.implied || of.implied, leads || leading
		}
	}
	return found, leads
}

// unless returns the condition that a choice has any other value.
func (m *members) unless(c condition) condition {
	other := condition{name: c.name}
	for _, value := range slices.Sorted(maps.Keys(m.choices)) {
		if of := m.choices[value]; of.name == c.name && !slices.Contains(c.values, of.values[0]) {
			other.values, other.implied = append(other.values, of.values[0]), other.implied || of.implied
		}
	}
	return other
}
