package inputs

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// node is a place in the arguments: the schema of what goes there, with
// references followed, and the ways to fill it.
type node struct {
	// name of the property that the value is for; an item has that of its
	// array.
	name string
	// at says where the value goes: "/edits/*/oldText".
	at   string
	s    map[string]any
	kind string // its type; "" when any will do
	// end: here the schema would go round in circles.
	end bool

	ways   []way // when there is more than one
	fields []field
	extra  *node // what the values of a map are like
	prefix []*node
	items  *node
	// empty and filled are the branches of an array and of a map.
	empty, filled int
	// below are the branches here and further in.
	below set
	// ties are the constraints that the schema has between the fields.
	ties []tie
}

// way is one of several to fill a place: with a value, or as another node says.
type way struct {
	branch int
	value  any
	node   *node
}

// field is a property. present and absent are the branches of an optional one.
type field struct {
	name            string
	required        bool
	present, absent int
	node            *node
}

// maxNodes bounds the tree of one schema.
const maxNodes = 1024

// builder makes the tree of a schema.
type builder struct {
	resolver
	branches registry
	nodes    int
}

// place is where a node goes. alternative tells those apart that go to the same
// place, stack are the references that are open.
type place struct {
	name, at, alternative string
	stack                 []string
	depth                 int
}

func (p place) under(name, step string) place {
	return place{name: name, at: p.at + "/" + step, stack: p.stack, depth: p.depth + 1}
}

func (p place) or(keyword string, i int) place {
	p.alternative += "|" + keyword + strconv.Itoa(i)
	return p
}

// build makes the node of a schema. It ends where a reference is followed for the
// third time on one way, so that a recursive value is nested once, and where the
// schema has become too large.
func (b *builder) build(schema any, p place) *node {
	s, followed := b.flat(schema, 0)
	if b.nodes++; b.nodes > maxNodes || p.depth > maxDepth || !b.spend(16+len(p.at)) {
		b.branches.cut = true
		return &node{name: p.name, at: p.at, s: map[string]any{}, kind: typeOf(s), empty: -1, filled: -1, end: true}
	}
	n := &node{name: p.name, at: p.at, s: s, kind: typeOf(s), empty: -1, filled: -1}
	p.stack = slices.Concat(p.stack, followed)
	for _, ref := range followed {
		if count(p.stack, ref) > 2 {
			n.end = true
			return n
		}
	}
	if !b.values(n) && !b.alternatives(n, p) {
		switch n.kind {
		case "object":
			n.ties = b.tied(schema, 0)
			b.object(n, p)
		case "array":
			b.array(n, p)
		case "":
			if ofItems.MatchString(said(n)) {
				n.s, n.kind = maps.Clone(n.s), "array"
				n.s["items"] = map[string]any{"type": "string"}
				b.array(n, p)
			}
		}
	}
	return n
}

// ofItems matches descriptions of lists, which say more than a schema that allows anything.
var ofItems = lazyregexp.New(`(?i)(?:^|\b(?:an?|the|as|be|either)\s+)(?:array|list) of \w`)

// link finds out what is below each node. A property that is required here and
// optional in another alternative is present here, too.
func (b *builder) link(n *node) *node {
	for _, w := range n.ways {
		n.below.add(w.branch)
	}
	for i, f := range n.fields {
		if id, known := b.branches.ids[f.node.at+"+"]; known {
			n.fields[i].present = id
			n.below.add(id)
		}
		n.below.add(f.absent)
	}
	for _, part := range n.parts() {
		n.below.join(b.link(part).below)
	}
	n.below.add(n.empty)
	n.below.add(n.filled)
	return n
}

// parts are the nodes that one is made of.
func (n *node) parts() (parts []*node) {
	for _, w := range n.ways {
		if w.node != nil {
			parts = append(parts, w.node)
		}
	}
	for _, f := range n.fields {
		parts = append(parts, f.node)
	}
	parts = append(parts, n.prefix...)
	for _, item := range []*node{n.items, n.extra} {
		if item != nil {
			parts = append(parts, item)
		}
	}
	return parts
}

func count(names []string, wanted string) (n int) {
	for _, name := range names {
		if name == wanted {
			n++
		}
	}
	return n
}

// values makes the ways of a place for which the schema names the values.
func (b *builder) values(n *node) bool {
	if fixed, ok := n.s["const"]; ok {
		n.ways = []way{{branch: -1, value: fixed}}
		return true
	}
	members, _ := n.s["enum"].([]any)
	if len(members) == 0 && n.kind == "boolean" && len(types(n.s["type"])) == 1 {
		members = []any{true, false}
	}
	if len(members) == 0 {
		return false
	}
	for _, value := range spread(members, maxItems) {
		text := canonical(value)
		if !b.spend(len(text)) {
			b.branches.cut = true
			break
		}
		branch := -1
		if len(members) > 1 {
			branch = b.branches.add(n.at + "=" + text)
		}
		n.ways = append(n.ways, way{branch: branch, value: value})
	}
	return len(n.ways) > 0
}

// spread are most of the members, from the first to the last.
func spread(members []any, most int) []any {
	if len(members) <= most {
		return members
	}
	kept := make([]any, most)
	for i := range kept {
		kept[i] = members[i*(len(members)-1)/(most-1)]
	}
	return kept
}

// alternatives makes the ways of a place that one of several schemas holds for.
func (b *builder) alternatives(n *node, p place) bool {
	keyword, branches := choices(n.s)
	if keyword == "" {
		return false
	}
	rest := maps.Clone(n.s)
	for _, key := range keywords[keyword] {
		delete(rest, key)
	}
	if len(branches) > maxItems {
		b.branches.cut = true
		branches = branches[:maxItems]
	}
	for i, branch := range branches {
		part := b.build(map[string]any{"allOf": []any{rest, branch}}, p.or(keyword, i))
		if part.end {
			continue
		}
		id := -1
		if len(branches) > 1 {
			id = b.branches.add(p.at + p.or(keyword, i).alternative)
		}
		n.ways = append(n.ways, way{branch: id, node: part})
	}
	return len(n.ways) > 0
}

// keywords go when one of the alternatives of a keyword is chosen.
var keywords = map[string][]string{
	"anyOf": {"anyOf"}, "oneOf": {"oneOf"}, "if": {"if", "then", "else"}, "type": {"type"},
}

// choices finds the alternatives that a flattened schema has, by one keyword.
func choices(s map[string]any) (keyword string, branches []any) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches, _ := s[keyword].([]any); len(branches) > 0 {
			return keyword, branches
		}
	}
	if condition, ok := s["if"]; ok {
		met := map[string]any{"allOf": []any{condition, orAny(s, "then")}}
		unmet := map[string]any{"allOf": []any{map[string]any{"not": condition}, orAny(s, "else")}}
		return "if", []any{met, unmet}
	}
	if names := types(s["type"]); len(names) > 1 {
		for _, name := range names {
			branches = append(branches, map[string]any{"type": name})
		}
		return "type", branches
	}
	return "", nil
}

func orAny(s map[string]any, keyword string) any {
	if schema, ok := s[keyword]; ok {
		return schema
	}
	return map[string]any{}
}

// object makes the fields: the required ones in their order, then the others by
// name.
func (b *builder) object(n *node, p place) {
	properties, _ := n.s["properties"].(map[string]any)
	var names []string
	required := map[string]bool{}
	for _, entry := range list(n.s["required"], 4*maxFields) {
		if name, ok := entry.(string); ok && !required[name] {
			required[name] = true
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !required[name] {
			names = append(names, name)
		}
	}
	if len(names) > maxFields {
		b.branches.cut = true
		names = names[:maxFields]
	}
	for _, name := range names {
		b.field(n, p.under(name, name), properties[name], required[name])
	}
	b.entries(n, p)
}

func (b *builder) field(n *node, p place, schema any, required bool) {
	f := field{name: p.name, required: required, present: -1, absent: -1, node: b.build(schema, p)}
	if f.node.end && !required {
		return // it is never given
	}
	if !required {
		f.present, f.absent = b.branches.add(p.at+"+"), b.branches.add(p.at+"-")
	}
	n.fields = append(n.fields, f)
}

// entries makes what a map has that is no property with a name.
func (b *builder) entries(n *node, p place) {
	schema, isMap := n.s["additionalProperties"].(map[string]any)
	if patterns, _ := n.s["patternProperties"].(map[string]any); len(patterns) > 0 && !isMap {
		pattern := slices.Min(slices.Collect(maps.Keys(patterns)))
		schema, isMap = map[string]any{"allOf": []any{patterns[pattern]}}, true
		n.s["propertyNames"] = map[string]any{"pattern": pattern}
	}
	if !isMap {
		return
	}
	if extra := b.build(schema, p.under(p.name, "*")); !extra.end {
		n.extra = extra
		b.sizes(n, p, "Properties")
	}
}

func (b *builder) array(n *node, p place) {
	prefix, items := tuple(n.s)
	for i, schema := range prefix[:min(len(prefix), maxItems)] {
		n.prefix = append(n.prefix, b.build(schema, p.under(p.name, strconv.Itoa(i))))
	}
	if len(n.prefix) < len(prefix) {
		b.branches.cut = true
	}
	if items != false {
		n.items = b.build(items, p.under(p.name, "*"))
		n.items.inherit(n)
	}
	if n.items != nil && !n.items.end || len(n.prefix) > 0 {
		b.sizes(n, p, "Items")
	}
}

// sizes adds the branches of what may be empty and may be filled.
func (b *builder) sizes(n *node, p place, of string) {
	least, _ := integer(n.s["min"+of])
	most, limited := integer(n.s["max"+of])
	if least == 0 && (!limited || most > 0) {
		n.empty, n.filled = b.branches.add(p.at+"[]"), b.branches.add(p.at+"[.]")
	}
}

// maxOnes bounds the optional properties that are given by themselves.
const maxOnes = 12

// optional are the names of the optional properties of the arguments, when there
// are several.
func (n *node) optional() (names []string) {
	for _, w := range n.ways {
		if w.node != nil {
			return w.node.optional()
		}
	}
	for _, f := range n.fields {
		if !f.required && len(names) < maxOnes {
			names = append(names, f.name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// all returns a node and the nodes below it, each before its parts.
func (n *node) all() iter.Seq[*node] {
	return func(yield func(*node) bool) { n.walk(yield) }
}

func (n *node) walk(yield func(*node) bool) bool {
	return yield(n) && !slices.ContainsFunc(n.parts(), func(part *node) bool { return !part.walk(yield) })
}

// properties returns the fields of all objects at a node and below.
func (n *node) properties() iter.Seq[field] {
	return func(yield func(field) bool) {
		n.walk(func(each *node) bool {
			return !slices.ContainsFunc(each.fields, func(f field) bool { return !yield(f) })
		})
	}
}

// leaves returns the places of texts and numbers at a node and below.
func (n *node) leaves() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		n.walk(func(each *node) bool { return !each.isLeaf() || yield(each) })
	}
}
