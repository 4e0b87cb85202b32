package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// worded is the text of an error without the JSON that it is put in: what it says in
// words, and the lists of what can be had. The names of members and codes would pass
// for values.
func worded(text string) string {
	at := strings.IndexAny(text, "{[")
	if at < 0 || !json.Valid([]byte(text[at:])) {
		return text
	}
	said := []string{strings.TrimSpace(text[:at])}
	gather(Decode([]byte(text[at:])), "", 0, &said)
	return strings.Join(said, "\n")
}

// located are the members that say where something was wrong.
var located = words("path loc instancePath schemaPath")

// gather appends what a JSON value says.
func gather(v any, key string, depth int, said *[]string) {
	if depth > 2*maxDepth || len(*said) > maxEntries {
		return
	}
	switch v := v.(type) {
	case string:
		if strings.Contains(strings.TrimSpace(v), " ") {
			*said = append(*said, v)
		}
	case []any:
		var names []string
		for _, item := range v {
			if name, is := item.(string); is && !strings.ContainsAny(name, " '\n") {
				names = append(names, "'"+name+"'")
				continue
			}
			gather(item, key, depth+1, said)
		}
		if len(names) > 0 && !located[key] {
			*said = append(*said, "one of: "+strings.Join(names, ", "))
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			gather(v[name], name, depth+1, said)
		}
	}
}
