package scope

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

var errServerJSON = errors.New(`it is no server.json of the MCP registry: that is an object with "name" ("io.github.someone/something") and "description"`)

// CheckServerJSON reports whether a text is an entry for the MCP registry
// (https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json,
// and the earlier ones, whose keys have underscores).
func CheckServerJSON(text []byte) error {
	if !json.Valid(text) {
		return errServerJSON
	}
	members := manifest.Object(text)
	space, name, ok := strings.Cut(manifest.Text(members["name"]), "/")
	if !ok || space == "" || name == "" || manifest.Text(members["description"]) == "" {
		return errServerJSON
	}
	return nil
}

// The bounds of what is read of a server.json.
const (
	maxPackages  = 16
	maxVariables = 64 // of one package, and remotes
)

// serverJSON reads the entry's statements about the server, without the origin of its packages.
func (r *reader) serverJSON(text json.RawMessage) Declaration {
	if CheckServerJSON(text) != nil {
		return Declaration{}
	}
	members := manifest.Object(text)
	d := r.read(ofServer, report.ScopeServerJSON, []field{
		{name: "title", text: manifest.Text(members["title"]), promises: true},
		{name: "description", text: manifest.Text(members["description"]), promises: true},
	})
	for i, remote := range array(members["remotes"], maxVariables) {
		at := fmt.Sprintf("remotes[%d].url", i)
		r.nameURL(&d, at, manifest.Text(manifest.Object(remote)["url"]))
	}
	for i, raw := range array(members["packages"], maxPackages) {
		r.serverPackage(&d, fmt.Sprintf("packages[%d]", i), manifest.Object(raw))
	}
	return d
}

// serverPackage reads the port on which an installed package will listen, and its configuration.
func (r *reader) serverPackage(d *Declaration, at string, of map[string]json.RawMessage) {
	transport := manifest.Object(of["transport"])
	if address := manifest.Text(transport["url"]); address != "" {
		if u, err := url.Parse(address); err == nil && u.Port() != "" {
			if port, err := strconv.Atoi(u.Port()); err == nil {
				d.name(UseListen, func(use Use) bool { return use.Port == port }, Clause{
					Source: report.ScopeServerJSON, Capability: ofServer, Field: at + ".transport.url",
					Means: "may listen on port " + u.Port(), Quote: quote(address),
				})
			}
		}
	}
	for _, key := range []string{"environmentVariables", "packageArguments"} {
		for i, input := range array(member(of, key), maxVariables) {
			r.serverInput(d, fmt.Sprintf("%s.%s[%d]", at, key, i), manifest.Object(input))
		}
	}
}

// Variable is an environment variable that a server.json asks for.
type Variable struct {
	Name string
	// Choice is an allowed value; "" where the entry lists none.
	Choice string
	Secret bool
}

// RequiredVariables returns the variables that an entry for the MCP registry requires and gives no value for.
func RequiredVariables(text json.RawMessage) (all []Variable) {
	if CheckServerJSON(text) != nil {
		return nil
	}
	for _, raw := range array(manifest.Object(text)["packages"], maxPackages) {
		for _, input := range array(member(manifest.Object(raw), "environmentVariables"), maxVariables) {
			v := manifest.Object(input)
			required := string(member(v, "isRequired")) == "true"
			if name := manifest.Text(v["name"]); required && name != "" && v["default"] == nil && v["value"] == nil {
				choice := ""
				for _, first := range array(v["choices"], 1) {
					choice = manifest.Text(first)
				}
				all = append(all, Variable{Name: name, Choice: choice, Secret: string(member(v, "isSecret")) == "true"})
			}
		}
	}
	return all
}

// serverInput reads a variable or an argument that configures the server: its name and description
// state its purpose, and a default URL names a host.
func (r *reader) serverInput(d *Declaration, at string, of map[string]json.RawMessage) {
	name, description := manifest.Text(of["name"]), manifest.Text(of["description"])
	d.absorb(r.read(ofServer, report.ScopeServerJSON, []field{
		{name: at, text: name, identifier: true}, {name: at, text: description}, {name: at, text: manifest.Text(of["format"])},
	}))
	for _, key := range []string{"default", "value"} {
		r.nameURL(d, at+"."+key, manifest.Text(of[key]))
	}
	if name != "" && string(member(of, "isSecret")) == "true" {
		d.said = append(d.said, Clause{
			Source: report.ScopeServerJSON, Capability: ofServer, Field: at,
			Means: "is given the secret " + quote(name), Quote: quote(description),
		})
	}
}

// nameURL adds the host of a URL.
func (r *reader) nameURL(d *Declaration, at, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || len(address) > maxText {
		return
	}
	host := strings.ToLower(u.Hostname())
	if checkHost(host) != nil || strings.Contains(host, "*") || host == "localhost" {
		return
	}
	r.nameHost(d, host, Clause{Source: report.ScopeServerJSON, Capability: ofServer, Field: at, Quote: quote(address)})
}

// member returns a member by its key: "isSecret", or "is_secret" as in earlier schemas.
func member(of map[string]json.RawMessage, key string) json.RawMessage {
	if raw, ok := of[key]; ok {
		return raw
	}
	return of[strings.ReplaceAll(strings.ToLower(words.Spell(key)), " ", "_")]
}

// array decodes at most so many elements of a JSON array; nil for anything else.
func array(raw json.RawMessage, most int) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all[:min(len(all), most)]
}
