// Package manifest canonicalises and hashes what an MCP server advertises.
//
// The probe fills a Manifest with the JSON exactly as the server wrote it;
// reports, baselines and the comparison within a session use its digests. The
// package is pure.
//
// A digest covers what a model or a person reads: names, titles, descriptions,
// schemas, arguments, and hints that differ from their defaults. It leaves out
// `_meta`, icons, ttlMs, cacheScope, sizes and dates, or an upgrade of an SDK, or
// another day, would look like a rug pull.
package manifest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Manifest holds what a server advertises, as raw JSON. Members may be nil.
type Manifest struct {
	// ServerName (serverInfo.name), Instructions and Capabilities are members
	// of the result of initialize or server/discover.
	ServerName   json.RawMessage
	Instructions json.RawMessage
	Capabilities json.RawMessage

	Tools             []json.RawMessage
	Resources         []json.RawMessage
	ResourceTemplates []json.RawMessage
	Prompts           []json.RawMessage
}

// MaxRead bounds the manifests that are read, in bytes. A longer one is not judged: none
// of its tools is called, and no audit of its server passes.
const MaxRead = 4 << 20

// TooLong reports whether a manifest is longer than MaxRead.
func (m Manifest) TooLong() bool { return m.Size() > MaxRead }

// Size returns the manifest's length in bytes of JSON.
func (m Manifest) Size() int {
	n := len(m.ServerName) + len(m.Instructions) + len(m.Capabilities)
	for _, raw := range slices.Concat(m.Tools, m.Resources, m.ResourceTemplates, m.Prompts) {
		n += len(raw)
	}
	return n
}

// Or returns known if it equals m, so that only one of two equal lists is held in
// memory.
func (m Manifest) Or(known Manifest) Manifest {
	if reflect.DeepEqual(m, known) {
		return known
	}
	return m
}

// Kinds are the kinds of lists, in the order in which they are read.
var Kinds = []report.CapabilityKind{report.CapabilityTool, report.CapabilityResource, report.CapabilityResourceTemplate, report.CapabilityPrompt}

// List returns the list of one kind.
func (m *Manifest) List(of report.CapabilityKind) *[]json.RawMessage {
	switch of {
	case report.CapabilityResource:
		return &m.Resources
	case report.CapabilityResourceTemplate:
		return &m.ResourceTemplates
	case report.CapabilityPrompt:
		return &m.Prompts
	}
	return &m.Tools
}

// With returns m with the lists of some kinds as they are in from.
func (m Manifest) With(kinds []report.CapabilityKind, from Manifest) Manifest {
	for _, of := range kinds {
		*m.List(of) = *from.List(of)
	}
	return m
}

// Item is one advertised item, from its JSON. Texts that are missing or not
// strings are empty.
type Item struct {
	// Name is the tool's or prompt's name, the resource's uri, or the
	// template's uriTemplate.
	Name        string
	Title       string
	Description string
	// Members are the members of the item by their exact, case-sensitive key;
	// nil when the item is no object. The last of a repeated key counts, as in
	// JavaScript and Python.
	Members map[string]json.RawMessage

	kind report.CapabilityKind
	raw  json.RawMessage
	// digest is known of items that share their name.
	digest string
}

// Digest returns "sha256:" and 64 hex digits. Most who read items want none, and it takes longer than the reading.
func (i Item) Digest() string {
	if i.digest != "" {
		return i.digest
	}
	return digestItem(i.kind, i.raw, i.Members)
}

// Items reads the items of one kind and sorts them by name and digest. It keeps
// every element of raw, including repeated names and junk.
func Items(kind report.CapabilityKind, raw []json.RawMessage) []Item {
	items := make([]Item, 0, len(raw))
	named := make(map[string]int, len(raw))
	for _, r := range raw {
		members := Object(r)
		item := Item{
			Name:        Text(members[identifier(kind)]),
			Title:       Text(members["title"]),
			Description: Text(members["description"]),
			Members:     members,
			kind:        kind,
			raw:         r,
		}
		items = append(items, item)
		named[item.Name]++
	}
	for i, item := range items {
		if named[item.Name] > 1 {
			items[i].digest = item.Digest()
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.digest, b.digest))
	})
	return items
}

// Report returns the manifest in the form of the report. Its Digest is that of the
// canonical JSON of the envelope's and all items' digests, so a reader of the
// report can check it against the items.
func (m Manifest) Report() report.Manifest {
	r := report.Manifest{
		Instructions:      Text(m.Instructions),
		Envelope:          m.envelope(true).digest(),
		Definition:        m.envelope(false).definition(),
		Tools:             reportItems(report.CapabilityTool, m.Tools),
		Resources:         reportItems(report.CapabilityResource, m.Resources),
		ResourceTemplates: reportItems(report.CapabilityResourceTemplate, m.ResourceTemplates),
		Prompts:           reportItems(report.CapabilityPrompt, m.Prompts),
	}
	steady := Manifest{ServerName: m.ServerName, Instructions: steadyJSON(m.Instructions, true), Capabilities: m.Capabilities}
	r.Words = other(steady.envelope(true).digest(), r.Envelope)
	var text bytes.Buffer
	text.WriteString(`{"envelope":`)
	writeString(&text, r.Envelope)
	for _, list := range []struct {
		key   string // in canonical order
		items []report.Item
	}{{"prompts", r.Prompts}, {"resourceTemplates", r.ResourceTemplates}, {"resources", r.Resources}, {"tools", r.Tools}} {
		fmt.Fprintf(&text, `,%q:[`, list.key)
		for i, item := range list.items {
			if i > 0 {
				text.WriteByte(',')
			}
			writeString(&text, item.Digest)
		}
		text.WriteByte(']')
	}
	text.WriteByte('}')
	r.Digest = digest(text.Bytes())
	return r
}

// reportItems numbers items of the same name ("note", "note (2)"), because a
// comparison by name would ignore all but one of them.
func reportItems(kind report.CapabilityKind, raw []json.RawMessage) []report.Item {
	items := Items(kind, raw)
	taken := make(map[string]bool, len(items))
	for _, item := range items {
		taken[item.Name] = true
	}
	out := make([]report.Item, 0, len(items))
	for i, item := range items {
		name := item.Name
		if i > 0 && items[i-1].Name == item.Name {
			for n := 2; taken[name]; n++ {
				name = item.Name + " (" + strconv.Itoa(n) + ")"
			}
			taken[name] = true
		}
		digest := item.Digest()
		out = append(out, report.Item{
			Name: name, Title: item.Title, Description: item.Description, Digest: digest,
			Definition: item.definition(kind), Words: other(item.words(kind), digest),
		})
	}
	slices.SortStableFunc(out, func(a, b report.Item) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// words returns the digest of the item's steady form.
func (i Item) words(kind report.CapabilityKind) string {
	steady := steadyJSON(i.raw, false)
	return digestItem(kind, steady, Object(steady))
}

// other returns a digest, or "" if it equals the first.
func other(digest, first string) string {
	if digest == first {
		return ""
	}
	return digest
}

// Object decodes a JSON object by exact keys; nil if raw is none. (encoding/json
// ignores case in the fields of structs; other clients do not.)
func Object(raw json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// Text decodes a JSON string; "" if raw is none.
func Text(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
