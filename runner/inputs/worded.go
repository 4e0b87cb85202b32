package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// worded extracts the prose and the lists of choices from the JSON of an error, because the names of its
// members and its codes would pass for values.
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
