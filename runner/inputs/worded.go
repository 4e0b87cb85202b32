package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

var (
	// pydanticPlace matches the line that has the place of an error of Pydantic, pydanticInput the object that lacks something,
	// and the link below.
	pydanticPlace = lazyregexp.New(`(?m)^(?:[\w.]+\.)?(\w+)\n  (\S)`)
	pydanticInput = lazyregexp.New(` \[type=\w+, input_value=\{[^\n]*|\n    For further information visit \S+`)
)

// worded extracts the prose and the lists of choices from the JSON of an error, because the names of its
// members and its codes would pass for values. The place of an error precedes its message,
// after a dash: "name: text" would pass for a pair.
func worded(text string) string {
	at := strings.IndexAny(text, "{[")
	if at < 0 || !json.Valid([]byte(text[at:])) {
		return pydanticPlace.ReplaceAllString(pydanticInput.ReplaceAllLiteralString(text, ""), "$1 - $2")
	}
	said := []string{strings.TrimSpace(text[:at])}
	gather(Decode([]byte(text[at:])), "", 0, &said)
	return strings.Join(said, "\n")
}

// located are the members that say where something was wrong, messages those that say what.
var (
	located  = []string{"path", "loc", "instancePath", "dataPath", "field", "param", "parameter", "property", "argument"}
	messages = []string{"message", "msg", "error", "detail", "description"}
)

// gather appends what a JSON value says.
func gather(v any, key string, depth int, said *[]string) {
	if depth > 2*maxDepth || len(*said) > maxEntries {
		return
	}
	switch v := v.(type) {
	case string:
		if inner := strings.TrimSpace(v); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
			gather(Decode([]byte(inner)), key, depth+1, said)
		} else if strings.Contains(inner, " ") {
			*said = append(*said, v)
		}
	case []any:
		gatherList(v, key, depth, said)
	case map[string]any:
		place := placeOf(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, is := v[name].(string); is && place != "" && slices.Contains(messages, name) && !speaksOf(text, place) {
				*said = append(*said, place+" - "+text)
				continue
			}
			gather(v[name], name, depth+1, said)
		}
	}
}

func gatherList(v []any, key string, depth int, said *[]string) {
	var names []string
	for _, item := range v {
		if name, is := item.(string); is && !strings.ContainsAny(name, " '\n") {
			names = append(names, "'"+name+"'")
			continue
		}
		gather(item, key, depth+1, said)
	}
	switch {
	case len(names) == 0 || key == "schemaPath" || slices.Contains(located, key):
	case strings.Contains(key, "missing") || strings.Contains(key, "required"):
		*said = append(*said, "missing: "+strings.Join(names, ", "))
	default:
		*said = append(*said, "one of: "+strings.Join(names, ", "))
	}
}

// placeOf returns the name of the property that an issue is about: the last name of its path; "" for none.
func placeOf(issue map[string]any) string {
	for _, key := range located {
		steps, _ := texts(issue[key])
		if text, is := issue[key].(string); is {
			steps = strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '.' })
		}
		if len(steps) > 0 {
			return steps[len(steps)-1]
		}
	}
	return ""
}
