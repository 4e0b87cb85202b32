package report

import (
	"net/netip"
	"slices"
	"strings"
)

// Manifest is what the server advertises, by item and digest. The items of
// each list are sorted by name.
type Manifest struct {
	// Digest is that of Report.ManifestDigest.
	Digest            string `json:"digest,omitempty"`
	Instructions      string `json:"instructions,omitempty"`
	Tools             []Item `json:"tools"`
	Resources         []Item `json:"resources"`
	ResourceTemplates []Item `json:"resourceTemplates"`
	Prompts           []Item `json:"prompts"`
	// Envelope is the digest of what belongs to no item: the server's name, its
	// instructions and its capabilities.
	Envelope string `json:"envelope,omitempty"`
}

// Item is one advertised tool, resource, resource template or prompt.
type Item struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Definition is the canonical JSON of what else belongs to the digest: schemas,
	// arguments, hints that are not their defaults. Empty where it does not fit.
	Definition string `json:"definition,omitempty"`
	// Digest is "sha256:" and 64 hex digits over the item's canonical JSON.
	Digest string `json:"digest"`
}

// Drift is what changed from one manifest to another. Entries read as
// Capability.String: "tool format_note".
type Drift struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Renamed are "tool a to tool b": the same under another name. They are in no
	// other list.
	Renamed []string `json:"renamed,omitempty"`
	// Changes are the texts of Changed, as far as they are known.
	Changes []Change `json:"changes,omitempty"`
}

// Change is one text of a capability, or one member of its schema, that is not what
// it was.
type Change struct {
	// Capability reads as Capability.String.
	Capability string `json:"capability"`
	// Field is a path: "description", "inputSchema.properties.path.type",
	// "annotations.readOnlyHint".
	Field string `json:"field"`
	// Before and After are the texts, or JSON; empty where there was, or is, none.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Empty tells whether nothing changed.
func (d Drift) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Renamed) == 0 }

// String says the drift in one line: "changed: tool a; added: tool b, prompt c".
func (d Drift) String() string {
	var parts []string
	for _, p := range []struct {
		word  string
		names []string
	}{{"changed", d.Changed}, {"renamed", d.Renamed}, {"added", d.Added}, {"removed", d.Removed}} {
		if len(p.names) > 0 {
			parts = append(parts, p.word+": "+strings.Join(p.names, ", "))
		}
	}
	if len(parts) == 0 {
		return "no change"
	}
	return strings.Join(parts, "; ")
}

// Diff compares two manifests item by item, the envelope included. Both may be
// in any order; the answer is sorted.
func Diff(before, after Manifest) Drift {
	was, is := before.digests(), after.digests()
	var d Drift
	for name, digest := range is {
		switch old, ok := was[name]; {
		case !ok:
			d.Added = append(d.Added, name)
		case old != digest:
			d.Changed = append(d.Changed, name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			d.Removed = append(d.Removed, name)
		}
	}
	slices.Sort(d.Added)
	slices.Sort(d.Removed)
	slices.Sort(d.Changed)
	return d
}

// digests maps each item's readable name to its digest.
func (m Manifest) digests() map[string]string {
	all := map[string]string{}
	if m.Envelope != "" {
		all[Capability{Kind: CapabilityServer}.String()] = m.Envelope
	}
	for kind, items := range map[CapabilityKind][]Item{
		CapabilityTool: m.Tools, CapabilityResource: m.Resources,
		CapabilityResourceTemplate: m.ResourceTemplates, CapabilityPrompt: m.Prompts,
	} {
		for _, item := range items {
			all[Capability{Kind: kind, Name: item.Name}.String()] = item.Digest
		}
	}
	return all
}

func isLoopback(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.Unmap().IsLoopback()
}
