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
	"path"
	"strings"
)

// The values that point outside. A request to Host is one that an argument
// explains.
const (
	Host  = "mcpaudit-probe.example"
	URL   = "https://" + Host + "/notes"
	Email = "probe@" + Host
)

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

// File is the path of the ordinary file that arguments speak of. It need not
// exist; whoever makes Dir may put it there.
func (o Options) File() string { return o.dir() + "/mcpaudit-note.txt" }

// copied is where a file is copied or moved to.
func (o Options) copied() string { return o.dir() + "/mcpaudit-copy.txt" }

// Arguments makes arguments that fit a tool's inputSchema, or the content that
// fits an elicitation's requestedSchema. The result is always a JSON object;
// for a schema that is none it is empty.
func Arguments(schema json.RawMessage, o Options) json.RawMessage {
	root, _ := decode(schema).(map[string]any)
	if root == nil {
		return json.RawMessage("{}")
	}
	g := generator{options: o, root: root, budget: budget}
	if value, ok := g.object(g.flatten(root, 0), 0).(map[string]any); ok {
		if text, err := json.Marshal(value); err == nil {
			return text
		}
	}
	return json.RawMessage("{}")
}

// Prompt makes the arguments of a prompt from the list that prompts/list gives
// ([{"name", "description", "required"}]). Without Options.All only the
// required ones are filled in.
func Prompt(arguments json.RawMessage, o Options) map[string]string {
	list, _ := decode(arguments).([]any)
	values := map[string]string{}
	g := generator{options: o, budget: budget}
	for _, entry := range list {
		argument, _ := entry.(map[string]any)
		name, _ := argument["name"].(string)
		if required, _ := argument["required"].(bool); name == "" || !(required || o.All) || len(values) >= maxItems {
			continue
		}
		values[name] = g.text(argument, name)
	}
	return values
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

// relocate moves a URL that leads outside to Host, and a path that lies
// elsewhere into the directory.
func (o Options) relocate(text string) string {
	lower := strings.ToLower(text)
	scheme, rest, isURL := strings.Cut(lower, "://")
	switch {
	case isURL && scheme == "file":
		return "file://" + o.inDir(rest)
	case isURL && outward[scheme]:
		return scheme + "://" + Host + "/notes"
	case isURL:
		return text
	case len(text) > 1 && (text[0] == '/' || text[0] == '~'), strings.Contains(text, "../"), text == "..",
		len(text) > 2 && text[1] == ':' && text[2] == '\\':
		return o.inDir(text)
	}
	return text
}

// outward are the URL schemes that name a host.
var outward = map[string]bool{
	"http": true, "https": true, "ws": true, "wss": true, "ftp": true, "sftp": true, "ssh": true, "git": true,
	"redis": true, "postgres": true, "postgresql": true, "mysql": true, "mongodb": true, "amqp": true,
}

// inDir gives a path its place under the directory, unless it has one.
func (o Options) inDir(text string) string {
	if clean := path.Clean(text); clean == o.dir() || strings.HasPrefix(clean, o.dir()+"/") {
		return clean
	}
	if path.Ext(text) == "" {
		return o.dir()
	}
	return o.File()
}
