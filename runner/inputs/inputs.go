// Package inputs makes up plausible arguments for tools, prompts and resource
// templates, so that a server does with them what it would do in earnest. The probe
// asks a Form for the arguments of call after call, and tells a Pool what came back.
//
// # Values
//
// A value comes from the first step of this ladder that has one: the schema's const
// and enum; its default and examples; what its description quotes, puts in
// parentheses or has for an example; what an error offered; ids, names and URIs that a result, a list or
// the arguments of an earlier call named, matched with the parameter by name; and
// else what the format, the name and the type suggest. Each value that somebody named
// is tried once in each place, at most twelve in one; what was accepted is used again.
//
// # Branches
//
// A branch is an alternative that a schema leaves: an optional property given, and
// not given; each member of an enum (of more than sixteen, sixteen spread over the
// list); true, and false; each alternative of anyOf, oneOf, a list of types, and
// if/then/else; an array, or a map, with nothing in it, and with something. A branch
// is told by its place in the arguments: what two alternatives share counts once, and
// a recursive value is followed into itself once. What the schema offers in one
// place and forbids in another is no branch; this is found out by making arguments
// for each and checking them. Nothing is done before the server has answered, and
// slightly invalid arguments count for nothing. A form takes as many branches in one
// call as go together.
//
// Schemas are hostile: every walk has a budget, and a schema has at most 256
// branches, 64 properties in one object, 16 alternatives in one place and 1024
// places. One that has more never has all of its branches done.
//
// # Constraints
//
// Which properties go together is a list of ties: of some names, so many have to be given, and so many may be,
// perhaps only where another property has a value. They come from the schema (not, dependentRequired), from
// descriptions and from refusals, and are applied where an object is made.
//
// # Marks
//
// Hosts, paths, ids and texts that are made up carry the Mark of their call. What is
// made up points nowhere: URLs and host names are below a domain that RFC 2606
// reserves, addresses in ranges that RFC 5737 and RFC 3849 reserve, and paths in
// Options.Dir. Whatever a default, a description, an error or a result proposes that
// points elsewhere is moved there, too, so that no server gets to choose where an
// argument of ours sends it or another. With Options.Sunk, a tool that refuses our host
// gets the URLs of its own schema as they stand. URIs of schemes that name no host are used
// as they are, and so are values where the schema admits nothing else (const, enum, pattern).
//
// The package is pure, and the same seed, schema and answers give the same arguments.
package inputs

import (
	"bytes"
	"encoding/json"
	"path"
)

// Host is the domain that all hosts in arguments are below (see Named).
const Host = "pages.example.net"

// Options say what arguments may be like.
type Options struct {
	// Seed makes the choices reproducible.
	Seed int64
	// Given is a JSON object of values that are used as they are, by property.
	// Arguments with such values need not fit the schema.
	Given json.RawMessage
	// Dir is the absolute directory of all paths; "" is "/tmp".
	Dir string
	// Root is the absolute directory that the client has open; "" is Dir.
	Root string
	// Bound are absolute directories that the operator has started the server for. Paths
	// lie in them once an error says that they must not lie in Dir.
	Bound []string
	// Sunk: all names lead to the sinkhole. A URL of a description may then be used as it is,
	// if others were refused.
	Sunk bool
	// All makes Arguments fill in every optional property.
	All bool
	// Tools are the names of all tools: an error that mentions one offers no value.
	Tools map[string]bool
	// Ways has what the server's other tools have taught; nil: nothing.
	Ways *Ways
	// About is the name of the tool, prompt or template. It often says whether
	// a path is a directory where the parameter does not.
	About string
	// Said is its description.
	Said string
}

func (o Options) dir() string {
	if o.Dir == "" {
		return "/tmp"
	}
	return path.Clean(o.Dir)
}

// Arguments makes content that fits an elicitation's requestedSchema: the required
// properties, and with Options.All the others. The result is always a JSON object; for
// an invalid schema it is empty.
func Arguments(schema json.RawMessage, o Options, mark Mark) json.RawMessage {
	f := NewForm(schema, o)
	shape := ShapeRequired
	if o.All {
		shape = ShapeAll
	}
	d, _ := f.aimed(shape, -1, nil, mark)
	return f.send(d).Arguments
}

// Decode reads JSON and keeps numbers as they are written; nil if raw is not JSON.
func Decode(raw []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}
