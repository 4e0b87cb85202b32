package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Diff compares two manifests item by item, including the envelope. The items may be in any
// order; the result is sorted. It takes linear time in the size of the manifests.
func Diff(before, after Manifest) Drift { return compare(before, after, true) }

// DiffByName is Diff without renames: an item of another name is another item. Drifts of
// several comparisons can then be intersected by name.
func DiffByName(before, after Manifest) Drift { return compare(before, after, false) }

func compare(before, after Manifest, pairRenamed bool) Drift {
	was, is := before.all(), after.all()
	var d Drift
	var added, removed, changed []Capability
	for of, item := range is {
		switch old, ok := was[of]; {
		case !ok:
			added = append(added, of)
		case old.Digest != item.Digest:
			changed = append(changed, of)
		}
	}
	for of := range was {
		if _, ok := is[of]; !ok {
			removed = append(removed, of)
		}
	}
	var texts differ
	for _, of := range sorted(changed) {
		texts.item(of, of.String(), was[of], is[of])
	}
	var pairs map[Capability]Capability
	if pairRenamed {
		pairs = renamed(was, is, removed, added)
	}
	paired := map[Capability]bool{}
	for _, from := range sorted(slices.Collect(maps.Keys(pairs))) {
		to := pairs[from]
		both := from.String() + " to " + to.String()
		d.Renamed = append(d.Renamed, both)
		texts.item(to, both, was[from], is[to])
		paired[from], paired[to] = true, true // no capability was both added and removed
	}
	isPaired := func(of Capability) bool { return paired[of] }
	added, removed = slices.DeleteFunc(added, isPaired), slices.DeleteFunc(removed, isPaired)
	for _, of := range sorted(added) {
		texts.text(of.String(), "description", "", is[of].Description)
	}
	d.Added, d.Removed, d.Changed, d.Changes = names(added), names(removed), names(changed), texts.changes
	return d
}

// all returns all items; the envelope is the item of the server.
func (m Manifest) all() map[Capability]Item {
	all := map[Capability]Item{}
	if m.Envelope != "" {
		all[Capability{Kind: CapabilityServer}] = Item{
			Description: m.Instructions, Definition: m.Definition, Digest: m.Envelope, Words: m.Words}
	}
	for kind, items := range map[CapabilityKind][]Item{
		CapabilityTool: m.Tools, CapabilityResource: m.Resources,
		CapabilityResourceTemplate: m.ResourceTemplates, CapabilityPrompt: m.Prompts,
	} {
		for _, item := range items {
			all[Capability{Kind: kind, Name: item.Name}] = item
		}
	}
	return all
}

// spoken returns the manifest with Words in place of its digests: what is left is the same
// at each start of the server.
func (m Manifest) spoken() Manifest {
	each := func(items []Item) []Item {
		words := make([]Item, len(items))
		for i, item := range items {
			words[i] = Item{Name: item.Name, Digest: cmp.Or(item.Words, item.Digest)}
		}
		return words
	}
	return Manifest{Envelope: cmp.Or(m.Words, m.Envelope), Tools: each(m.Tools), Resources: each(m.Resources),
		ResourceTemplates: each(m.ResourceTemplates), Prompts: each(m.Prompts)}
}

// likeness holds the properties that an item shares with its renamed version.
type likeness struct {
	kind                    CapabilityKind
	description, definition string
}

// renamed pairs a removed item with an added one if only these two have the same uncut
// description and definition.
func renamed(was, is map[Capability]Item, removed, added []Capability) map[Capability]Capability {
	alike := func(items map[Capability]Item, names []Capability) map[likeness][]Capability {
		by := map[likeness][]Capability{}
		for _, of := range names {
			item := items[of]
			if item.Description == "" || strings.HasSuffix(item.Description, CutMark) || item.Definition == "" {
				continue
			}
			like := likeness{of.Kind, item.Description, item.Definition}
			by[like] = append(by[like], of)
		}
		return by
	}
	came := alike(is, added)
	pairs := map[Capability]Capability{}
	for like, from := range alike(was, removed) {
		if to := came[like]; len(from) == 1 && len(to) == 1 {
			pairs[from[0]] = to[0]
		}
	}
	return pairs
}

func sorted(list []Capability) []Capability {
	return slices.SortedFunc(slices.Values(list), func(a, b Capability) int { return strings.Compare(a.String(), b.String()) })
}

func names(list []Capability) []string {
	var all []string
	for _, of := range sorted(list) {
		all = append(all, of.String())
	}
	return all
}
