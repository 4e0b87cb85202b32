package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// The parts of a text: a URL's scheme and host, or a run of letters and digits.
var (
	part = lazyregexp.New(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:"]+|(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[\pL\pN]+`)
	// list matches single words between commas or bars.
	list = lazyregexp.New(word + `(?:(?:, ?| ?\| ?)` + word + `)+`)
	runs = lazyregexp.New(`#(?:[-:.,+/_]#)+`)
)

const word = `['"\x60]?[\pL\pN_#*@/+-]+(?:\.[\pL\pN_#*@/+-]+)*['"\x60]?`

// calendar has the words of dates and times.
var calendar = map[string]bool{}

func init() {
	for _, name := range strings.Fields("january february march april may june july august september october november december " +
		"monday tuesday wednesday thursday friday saturday sunday") {
		calendar[name], calendar[name[:3]] = true, true
	}
	for _, name := range strings.Fields("am pm utc gmt") {
		calendar[name] = true
	}
}

// spoken has the members of a JSON text, at any depth, that a person or a model
// reads, and that may contain a time, a counter or a port.
var spoken = map[string]bool{"title": true, "description": true, "default": true, "examples": true}

// unordered has the members of a schema whose order does not matter.
var unordered = map[string]bool{"enum": true, "required": true}

// Steady returns the manifest without the parts of its texts that differ between
// starts of an unchanged server: times, dates, numbers, ids, and the order of a list
// of words, which some languages take from a hash table. Two manifests with equal
// steady forms say the same. Names, URIs and the structure of schemas stay; so does
// an address outside the machine, because another address means something else.
func (m Manifest) Steady() Manifest {
	each := func(items []json.RawMessage) []json.RawMessage {
		steady := make([]json.RawMessage, len(items))
		for i, item := range items {
			steady[i] = steadyJSON(item, false)
		}
		return steady
	}
	return Manifest{
		ServerName: m.ServerName, Instructions: steadyJSON(m.Instructions, true), Capabilities: m.Capabilities,
		Tools: each(m.Tools), Resources: each(m.Resources), ResourceTemplates: each(m.ResourceTemplates), Prompts: each(m.Prompts),
	}
}

// steadyJSON does the same with one JSON text, all of it or the spoken members. A
// text without a canonical form stays as it is.
func steadyJSON(raw json.RawMessage, all bool) json.RawMessage {
	if _, err := Canonical(raw); err != nil {
		return raw
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return raw
	}
	text, err := json.Marshal(steadyValue(value, all))
	if err != nil {
		return raw
	}
	return text
}

func steadyValue(value any, all bool) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = steadyValue(member, all || spoken[key])
			if names, is := v[key].([]any); is && unordered[key] {
				slices.SortFunc(names, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
		}
	case []any:
		for i := range v {
			v[i] = steadyValue(v[i], all)
		}
	case string:
		if all {
			return steadyText(v)
		}
	case json.Number:
		if all {
			return 0
		}
	}
	return value
}

// steadyText puts one sign for parts that may be counted or made up: "12:03",
// "pid 714", "3f2a-77b1".
func steadyText(text string) string {
	text = part.ReplaceAllStringFunc(text, func(s string) string {
		if madeUp(s) {
			return "#"
		}
		return s
	})
	text = list.ReplaceAllStringFunc(text, func(s string) string {
		words := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '|' || r == ' ' })
		slices.Sort(words)
		return strings.Join(words, ", ")
	})
	return runs.ReplaceAllString(text, "#")
}

// longID is the length from which one digit makes a word an id; in a shorter one a
// third must be digits, or all hex, because people write w0rds. Ids are ASCII: a run
// of other letters may be a whole sentence in scripts without spaces.
const longID = 16

func madeUp(s string) bool {
	if strings.ContainsAny(s, ":.") { // an address; this machine's own may vary
		host := s[strings.LastIndexByte(s, '/')+1:]
		return strings.HasPrefix(host, "127.") || host == "0.0.0.0"
	}
	if calendar[strings.ToLower(s)] {
		return true
	}
	digits, hex, ascii, length := 0, true, true, 0
	for _, r := range s {
		length++
		ascii = ascii && r < unicode.MaxASCII
		if unicode.IsDigit(r) {
			digits++
		} else {
			hex = hex && strings.ContainsRune("abcdefABCDEF", r)
		}
	}
	if digits == 0 {
		return hex && length%4 == 0 // a part of a UUID
	}
	return hex || ascii && length >= longID || 3*digits >= length
}
