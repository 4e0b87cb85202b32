package report

import (
	"net/netip"
	"strings"
)

// Manifest lists what the server advertises, by item and digest. The items of
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
	// Definition is the canonical JSON of the server's name and capabilities, Words
	// the digest of the envelope's words: both as of an Item.
	Definition string `json:"definition,omitempty"`
	Words      string `json:"words,omitempty"`
}

// Item is one advertised tool, resource, resource template or prompt.
type Item struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Definition is the canonical JSON of what else belongs to the digest: schemas,
	// arguments, hints that are not their defaults; "{}" where there is nothing, and
	// empty where it does not fit.
	Definition string `json:"definition,omitempty"`
	// Digest is "sha256:" and 64 hex digits over the item's canonical JSON.
	Digest string `json:"digest"`
	// Words is the digest of the item without what differs by itself from one start
	// of a server to the next: times, numbers, ids, the order of words in a list.
	// Empty: it is Digest, or not known.
	Words string `json:"words,omitempty"`
}

// Drift lists what changed from one manifest to another. Entries read as
// Capability.String: "tool format_note".
type Drift struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Renamed are "tool a to tool b": the same description and definition under
	// another name. They are in no other list.
	Renamed []string `json:"renamed,omitempty"`
	// Changes are the texts of Changed and Renamed, and the descriptions of Added, as
	// far as they are known.
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
	// Before and After are the texts, or JSON; empty where there was, or is, none. Of
	// a long text they show what differs. Both are empty where the report does not
	// have all of the field, so that more of it may differ than can be told.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Empty reports whether nothing changed.
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

func isLoopback(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.Unmap().IsLoopback()
}
