package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/credential"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/packages"
)

// maxClientConfig bounds a client's configuration, in bytes.
const maxClientConfig = 1 << 20

// clientServer is a server in a client's configuration.
type clientServer struct {
	name    string
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Dir     string            `json:"cwd"`
	// URL of a remote server; some clients call it serverUrl.
	URL       string `json:"url"`
	ServerURL string `json:"serverUrl"`
}

// readClientConfig reads the servers in a client's configuration, by name: mcpServers (Claude
// Desktop, Claude Code, Cursor, Windsurf and others), servers (Visual Studio Code, mcp.json) or
// mcp.servers (its settings).
func readClientConfig(file string) ([]clientServer, error) {
	return readFlag("--config", file, maxClientConfig, parseClientConfig)
}

func parseClientConfig(text []byte) ([]clientServer, error) {
	var config struct {
		MCPServers map[string]clientServer `json:"mcpServers"`
		Servers    map[string]clientServer `json:"servers"`
		MCP        struct {
			Servers map[string]clientServer `json:"servers"`
		} `json:"mcp"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &config); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("invalid JSON at line %d: %w (comments and trailing commas are not allowed)", 1+bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")), err)
		}
		return nil, err
	}
	found := config.MCP.Servers
	for _, servers := range []map[string]clientServer{config.Servers, config.MCPServers} {
		if len(servers) > 0 {
			found = servers
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no servers: want an object mcpServers, or servers, with a command for each name")
	}
	var all []clientServer
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s := found[name]
		s.name = name
		all = append(all, s)
	}
	return all, nil
}

// elsewhere reports whether the server is remote.
func (s clientServer) elsewhere() bool { return s.Command == "" && s.address() != "" }

// address returns the URL of a remote server.
func (s clientServer) address() string { return cmp.Or(s.URL, s.ServerURL) }

// startable returns why a server cannot be started here, or nil.
func (s clientServer) startable() error {
	switch {
	case s.Command != "":
		return nil
	case s.elsewhere():
		return fmt.Errorf("%s runs elsewhere; audit it with mcpaudit connect %s", s.name, s.address())
	}
	return fmt.Errorf("%s has no command", s.name)
}

// launch returns how the client starts a server. secrets names the variables that hold a
// secret, by name or value: the server gets decoys instead.
func (s clientServer) launch() (command, env, secrets []string) {
	for _, word := range append([]string{s.Command}, s.Args...) {
		text, _ := fill(word)
		command = append(command, text)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		value, secret := fill(s.Env[name])
		if secret || decoy.Secret(name) || holdsSecret(value) {
			secrets = append(secrets, name)
		} else {
			env = append(env, name+"="+value)
		}
	}
	return command, env, secrets
}

// holdsSecret reports whether a value is a credential, or a URL with a password.
func holdsSecret(value string) bool {
	at, err := url.Parse(value)
	if err == nil && at.User != nil {
		return true
	}
	return len(credential.Find(value)) > 0
}

// fill expands placeholders in a text: ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:ID},
// ${workspaceFolder}. secret reports whether a placeholder was replaced by what looks like a
// secret.
func fill(text string) (filled string, secret bool) {
	return packages.Fill(packages.Dollar, text, func(name string) (value string, secret, known bool) {
		id, asked := strings.CutPrefix(name, "input:")
		name, otherwise, _ := strings.Cut(strings.TrimPrefix(id, "env:"), ":-")
		if dir, err := os.Getwd(); err == nil && strings.HasPrefix(name, "workspaceFolder") {
			return dir, false, true
		}
		if name == "userHome" {
			name = "HOME"
		}
		set, there := os.LookupEnv(name)
		if asked || decoy.Secret(strings.ToUpper(name)) || holdsSecret(set) {
			return decoy.Asked(strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(name)), "").Value, true, true
		}
		if there {
			return set, false, true
		}
		return otherwise, false, true
	})
}
