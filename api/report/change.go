package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxNesting bounds the depth to which definitions are compared member by member. Deeper
// values are compared as texts.
const maxNesting = 32

// differ collects changes, MaxChanges at most.
type differ struct{ changes []Change }

func (d *differ) full() bool { return len(d.changes) >= MaxChanges }

func (d *differ) add(capability, field, before, after string) {
	if !d.full() {
		d.changes = append(d.changes, Change{Capability: capability, Field: field, Before: before, After: after})
	}
}

// item compares the texts of one item and records the changes under name.
func (d *differ) item(of Capability, name string, before, after Item) {
	if d.full() {
		return
	}
	described := "description"
	if of.Kind == CapabilityServer {
		described = "instructions"
	}
	d.text(name, "title", before.Title, after.Title)
	d.text(name, described, before.Description, after.Description)
	d.definition(name, before.Definition, after.Definition)
}

// text compares two texts as far as the report has them, and adds an empty change if either
// was cut.
func (d *differ) text(name, field, before, after string) {
	if d.full() {
		return
	}
	was, wasCut := strings.CutSuffix(before, CutMark)
	is, isCut := strings.CutSuffix(after, CutMark)
	switch {
	case wasCut && len(was) < len(is):
		is = Head(is, len(was))
	case isCut && len(is) < len(was):
		was = Head(was, len(is))
	}
	if was != is {
		from, to := excerpts(was, is)
		d.add(name, field, from, to)
	}
	if wasCut || isCut {
		d.add(name, field, "", "")
	}
}

// definition compares two definitions member by member.
func (d *differ) definition(name, before, after string) {
	if before == "" || after == "" {
		d.add(name, "definition", "", "")
		return
	}
	was, ok := decode(before)
	is, too := decode(after)
	if !ok || !too {
		d.add(name, "definition", "", "")
		return
	}
	d.member(name, "", was, is, 0)
}

func decode(text string) (value any, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return value, len(text) <= MaxDefinition && decoder.Decode(&value) == nil
}

// member compares one member; nil stands for null.
func (d *differ) member(name, path string, before, after any, depth int) {
	if d.full() {
		return
	}
	if depth < maxNesting {
		switch was := before.(type) {
		case map[string]any:
			if is, ok := after.(map[string]any); ok {
				d.members(name, path, was, is, depth)
				return
			}
		case []any:
			if is, ok := after.([]any); ok {
				d.elements(name, path, was, is, depth)
				return
			}
		}
	}
	was, is := encode(before), encode(after)
	if was == is {
		return
	}
	from, fromText := before.(string)
	to, toText := after.(string)
	if fromText && toText {
		was, is = from, to
	}
	was, is = excerpts(was, is)
	d.add(name, path, was, is)
}

func (d *differ) members(name, path string, before, after map[string]any, depth int) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, had := before[key]
		is, has := after[key]
		switch at := join(path, key); {
		case !had:
			d.add(name, at, "", shown(is))
		case !has:
			d.add(name, at, shown(was), "")
		default:
			d.member(name, at, was, is, depth+1)
		}
	}
}

// elements compares two lists: of named objects by name, of scalars as a whole (long ones by
// what is missing), all others by position.
func (d *differ) elements(name, path string, before, after []any, depth int) {
	if was, is := named(before), named(after); was != nil && is != nil {
		d.members(name, path, was, is, depth)
		return
	}
	if scalars(before) && scalars(after) {
		if was, is := encode(before), encode(after); was != is {
			if len(was)+len(is) > MaxChangeBytes/2 {
				was, is = encode(missing(before, after)), encode(missing(after, before))
			}
			d.add(name, path, was, is)
		}
		return
	}
	for i := range max(len(before), len(after)) {
		switch at := path + "[" + strconv.Itoa(i) + "]"; {
		case i >= len(before):
			d.add(name, at, "", shown(after[i]))
		case i >= len(after):
			d.add(name, at, shown(before[i]), "")
		default:
			d.member(name, at, before[i], after[i], depth+1)
		}
	}
}

// named returns the elements by name; nil if one has no name or two have the same.
func named(list []any) map[string]any {
	by := map[string]any{}
	for _, element := range list {
		object, _ := element.(map[string]any)
		name, ok := object["name"].(string)
		if _, taken := by[name]; taken || !ok {
			return nil
		}
		by[name] = element
	}
	return by
}

func scalars(list []any) bool {
	return !slices.ContainsFunc(list, func(element any) bool {
		switch element.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

func join(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// shown returns an excerpt of a value that was added or removed: a string as it is, other
// values as JSON.
func shown(value any) string {
	text, ok := value.(string)
	if !ok || text == "" {
		text = encode(value)
	}
	text, _ = excerpts(text, "")
	return text
}

// encode returns the JSON of a value that was decoded from JSON.
func encode(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}
