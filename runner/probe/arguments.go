package probe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// Argument is one text or number that a capability was called with.
type Argument struct {
	// Field is where it stood: "url", "options.paths[0]"; "uri" for what is read.
	Field string
	// Value is at most 4 KiB long.
	Value string
	// Given: the operator has chosen it (Options.Chosen).
	Given bool
}

// The bounds of the arguments that are kept: the length of a value in bytes, how many
// different ones of a capability, and of all together in bytes; and how deep they lie.
const (
	maxArgument      = 4 << 10
	maxDistinct      = 512
	maxAllArguments  = 2 << 20
	maxArgumentDepth = 32
)

// arguments are the values that capabilities were called with. The session, and
// whoever answers the requests of the server, use it at the same time.
type arguments struct {
	mu    sync.Mutex
	of    map[report.Capability][]Argument
	known map[report.Capability]map[Argument]bool
	bytes int
}

func newArguments() *arguments {
	return &arguments{of: map[report.Capability][]Argument{}, known: map[report.Capability]map[Argument]bool{}}
}

// add keeps the values of a JSON text. given has the properties that the operator
// has chosen.
func (a *arguments) add(of report.Capability, raw, given json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	object, isObject := value.(map[string]any)
	if !isObject {
		a.walk(of, "", value, false, 0)
		return
	}
	chosen := manifest.Object(given)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		_, operator := chosen[name]
		a.walk(of, name, object[name], operator, 1)
	}
}

func (a *arguments) walk(of report.Capability, field string, value any, given bool, depth int) {
	if depth > maxArgumentDepth {
		return
	}
	switch value := value.(type) {
	case string:
		a.keep(of, Argument{Field: beginning(field, maxSample), Value: beginning(value, maxArgument), Given: given})
	case json.Number:
		a.keep(of, Argument{Field: beginning(field, maxSample), Value: beginning(value.String(), maxArgument), Given: given})
	case []any:
		for i, item := range value {
			a.walk(of, field+"["+strconv.Itoa(i)+"]", item, given, depth+1)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			a.walk(of, field+"."+name, value[name], given, depth+1)
		}
	}
}

func (a *arguments) keep(of report.Capability, argument Argument) {
	size := len(argument.Field) + len(argument.Value)
	if a.known[of][argument] || len(a.of[of]) >= maxDistinct || a.bytes+size > maxAllArguments {
		return
	}
	if a.known[of] == nil {
		a.known[of] = map[Argument]bool{}
	}
	a.known[of][argument] = true
	a.of[of] = append(a.of[of], argument)
	a.bytes += size
}

// all are the arguments by capability.
func (a *arguments) all() map[report.Capability][]Argument {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.of)
}
