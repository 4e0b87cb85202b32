package probe

import (
	"encoding/json"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// lengthy are the words of a parameter that says how long something takes.
var lengthy = []string{"duration", "delay", "seconds", "wait", "sleep", "interval", "timeout", "time", "secs", "minutes", "milliseconds", "ms"}

// hurried are the arguments of a slow call with the least durations that the
// schema allows, from 1 on: its defaults are a hint.
func hurried(schema map[string]json.RawMessage, arguments json.RawMessage) json.RawMessage {
	properties := manifest.Object(schema["properties"])
	given := manifest.Object(arguments)
	for name, value := range given {
		var number float64
		if json.Unmarshal(value, &number) != nil || !slices.ContainsFunc(words.OfName(name), func(w string) bool { return slices.Contains(lengthy, w) }) {
			continue
		}
		if least := leastOf(manifest.Object(properties[name])); least < number {
			given[name], _ = json.Marshal(least) // of a number: no error
		}
	}
	text, err := json.Marshal(given)
	if err != nil || given == nil {
		return arguments
	}
	return text
}

// leastOf is the least number from 1 on that a schema allows.
func leastOf(property map[string]json.RawMessage) float64 {
	least := 1.0
	var bound float64
	if raw := property["minimum"]; raw != nil && json.Unmarshal(raw, &bound) == nil {
		least = max(least, bound)
	}
	if raw := property["exclusiveMinimum"]; raw != nil && json.Unmarshal(raw, &bound) == nil && bound >= least {
		least = bound + 1
	}
	return least
}
