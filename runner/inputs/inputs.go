// Package inputs makes up plausible arguments for tools, prompts and resource
// templates, so that a server does with them what it would do in earnest.
//
// It reads JSON Schema (draft-07 and 2020-12, as much as real tools use) and
// names and descriptions for hints. The same schema always gives the same
// arguments. It is pure, and schemas are hostile: every walk has a budget.
//
// What is made up points nowhere: URLs and host names are on a domain that
// RFC 2606 reserves, addresses in ranges that RFC 5737 and RFC 3849 reserve,
// and paths lie in Options.Dir. A URL or path that the schema itself proposes
// (default, examples) is moved there too, so that a server does not get to
// choose where an argument of ours sends it.
package inputs

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
)

// The values that point outside. A request to Host is one that an argument
// explains.
const Host = "mcpaudit-probe.example"

// Options say what arguments may be like.
type Options struct {
	// Seed makes the choices: the same seed makes the same ones again.
	Seed int64
	// Given is a JSON object of values that are used as they are, by property.
	Given json.RawMessage
	// Dir is the absolute directory that all paths lie in; "" is "/tmp".
	Dir string
	// All fills in every optional property. Without it only those are filled
	// in for which the schema itself proposes a value.
	All bool
	// About is the name of what is called. Where a parameter does not say
	// whether its path is a directory, the name of the tool often does.
	About string
}

func (o Options) dir() string {
	if o.Dir == "" {
		return "/tmp"
	}
	return path.Clean(o.Dir)
}

// Arguments makes the content that fits an elicitation's requestedSchema: the
// required properties, with Options.All the others, too. The result is always a
// JSON object; for a schema that is none it is empty.
func Arguments(schema json.RawMessage, o Options) json.RawMessage {
	f := NewForm(schema, o)
	shape := ShapeRequired
	if o.All {
		shape = ShapeAll
	}
	d, _ := f.aimed(shape, -1, nil, Mark{Seed: o.Seed})
	return f.send(d).Arguments
}

// decode keeps numbers as they are written; nil when raw is no JSON.
func decode(raw []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

var errLong = errors.New("too long")
