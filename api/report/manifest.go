package report

import (
	"net/netip"
	"strings"
)

// Manifest lists what the server advertises. The items of each list are sorted by name.
type Manifest struct {
	// digest of the canonical manifest.
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
	// envelope is the digest of what belongs to no item: the server's name, instructions and
	// capabilities.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Envelope string `json:"envelope,omitempty"`
	// definition is the canonical JSON of the server's name and capabilities; empty if it does
	// not fit.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Definition string `json:"definition,omitempty" cap:"8192" keep:"whole" redact:"secrets"`
	// words is the digest of the envelope without times, numbers, ids and the order of lists.
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
	// definition is the canonical JSON of what else the digest covers: schemas, arguments, hints
	// other than their defaults; "{}" if there is nothing, and empty if it does not fit.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Definition string `json:"definition,omitempty" cap:"8192" shrink:"definition" keep:"whole" redact:"secrets"`
	// digest is "sha256:" and 64 hex digits over the item's canonical JSON.
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest"`
	// words is the digest of the item without what may differ between starts of the server:
	// times, numbers, ids, the order of words in a list. Empty if equal to digest, or unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Words string `json:"words,omitempty"`
}

// Drift lists what changed from one manifest to another, in entries such as "tool
// format_note".
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
	// renamed items, as "tool a to tool b": the same description and definition under another
	// name. The other lists do not repeat them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Renamed []string `json:"renamed,omitempty" cap:"32x512" shrink:"drift"`
	// changes to the texts of changed and renamed items, and the descriptions of added ones, as
	// far as the reports have them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Changes []Change `json:"changes,omitempty" cap:"32" shrink:"effects"`
}

// Change is one changed text of a capability, or one changed member of its schema.
type Change struct {
	// capability, such as "tool format_note".
	// +kubebuilder:validation:MaxLength=512
	Capability string `json:"capability" cap:"512"`
	// field by its path, such as "description", "inputSchema.properties.path.type" or
	// "annotations.readOnlyHint".
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field" cap:"256"`
	// before is the old text or JSON; empty if there was none. Long texts are reduced to what
	// differs. If before and after are both empty, the report does not have the whole field, and
	// more of it may differ.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Before string `json:"before,omitempty" cap:"1024" redact:"secrets"`
	// after is the new text or JSON; empty if there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	After string `json:"after,omitempty" cap:"1024" redact:"secrets"`
}

// Empty reports whether nothing changed.
func (d Drift) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Renamed) == 0 }

// String returns one line, such as "changed: tool a; added: tool b, prompt c".
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
