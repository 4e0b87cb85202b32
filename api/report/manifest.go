package report

import (
	"net/netip"
	"strings"
)

// Manifest lists what the server advertises, by item and digest. The items of
// each list are sorted by name.
type Manifest struct {
	// digest over the canonical manifest.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest,omitempty"`
	// instructions of the server to the model.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Instructions string `json:"instructions,omitempty" cap:"2048" redact:"secrets"`
	// tools by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Tools []Item `json:"tools" cap:"512" shrink:"items" counted:"manifest.tools"`
	// resources by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Resources []Item `json:"resources" cap:"512" shrink:"items" counted:"manifest.resources"`
	// resourceTemplates by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	ResourceTemplates []Item `json:"resourceTemplates" cap:"512" shrink:"items" counted:"manifest.resourceTemplates"`
	// prompts by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Prompts []Item `json:"prompts" cap:"512" shrink:"items" counted:"manifest.prompts"`
	// envelope is the digest of what belongs to no item: the server's name, its
	// instructions and its capabilities.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Envelope string `json:"envelope,omitempty"`
	// definition is the canonical JSON of the server's name and capabilities; empty where
	// it does not fit.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Definition string `json:"definition,omitempty" cap:"8192" keep:"whole" redact:"secrets"`
	// words is the digest of the envelope without times, numbers, ids and the order of
	// lists.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Words string `json:"words,omitempty"`
}

// Item is one advertised tool, resource, resource template or prompt.
type Item struct {
	// name of the item.
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name" cap:"256" counted:"manifest.name"`
	// title of the item.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title,omitempty" cap:"256" redact:"secrets"`
	// description of the item.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description string `json:"description,omitempty" cap:"2048" shrink:"description" redact:"secrets"`
	// definition is the canonical JSON of what else belongs to the digest: schemas,
	// arguments, hints that are not their defaults; "{}" where there is nothing, and
	// empty where it does not fit.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Definition string `json:"definition,omitempty" cap:"8192" shrink:"definition" keep:"whole" redact:"secrets"`
	// digest is "sha256:" and 64 hex digits over the item's canonical JSON.
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest"`
	// words is the digest of the item without what differs by itself from one start of a
	// server to the next: times, numbers, ids, the order of words in a list. Empty if it
	// is the same, or not known.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Words string `json:"words,omitempty"`
}

// Drift lists what changed from one manifest to another. Entries read as
// Capability.String: "tool format_note".
type Drift struct {
	// added items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Added []string `json:"added,omitempty" cap:"32x512" shrink:"drift"`
	// removed items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Removed []string `json:"removed,omitempty" cap:"32x512" shrink:"drift"`
	// changed items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Changed []string `json:"changed,omitempty" cap:"32x512" shrink:"drift"`
	// renamed are "tool a to tool b": the same description and definition under
	// another name. They are in no other list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Renamed []string `json:"renamed,omitempty" cap:"32x512" shrink:"drift"`
	// changes are the texts of what changed or was renamed, and the descriptions of what
	// was added, as far as they are known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Changes []Change `json:"changes,omitempty" cap:"32" shrink:"effects"`
}

// Change is one text of a capability, or one member of its schema, that is not what
// it was.
type Change struct {
	// capability reads "tool format_note".
	// +kubebuilder:validation:MaxLength=512
	Capability string `json:"capability" cap:"512"`
	// field is a path: "description", "inputSchema.properties.path.type",
	// "annotations.readOnlyHint".
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field" cap:"256"`
	// before is the text, or JSON, that there was; empty if there was none. Of a long
	// text it shows what differs. before and after are both empty where the report does
	// not have all of the field: more of it may differ than is known.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Before string `json:"before,omitempty" cap:"1024" redact:"secrets"`
	// after is the text, or JSON, that there is; empty if there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	After string `json:"after,omitempty" cap:"1024" redact:"secrets"`
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
