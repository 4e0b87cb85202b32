package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestClientConfigs(t *testing.T) {
	for name, text := range map[string]string{
		"claude":             `{"theme":"dark","mcpServers":{"b":{"command":"node","args":["b.js"]},"a":{"command":"npx","args":["-y","a"]}}}`,
		"visual studio code": `{"inputs":[],"servers":{"a":{"type":"stdio","command":"npx","args":["-y","a"]},"b":{"command":"node","args":["b.js"]}}}`,
		"its settings":       `{"mcp":{"servers":{"a":{"command":"npx","args":["-y","a"]},"b":{"command":"node","args":["b.js"]}}}}`,
	} {
		all, err := parseClientConfig([]byte(text))
		if err != nil || len(all) != 2 || all[0].name != "a" || all[0].Command != "npx" || !slices.Equal(all[1].Args, []string{"b.js"}) {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	for text, want := range map[string]string{
		"{\n// comment\n}": "invalid JSON at line 2", "": "invalid JSON at line 1", `{"mcpServers":{}}`: "no servers", `{"mcpServers":{"a":{"args":7}}}`: "cannot unmarshal",
	} {
		if all, err := parseClientConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, all, err)
		}
	}
}

// TestClientLaunch: the server gets no secret, whether it is one by its name, by what it looks like, or by what is asked for.
func TestClientLaunch(t *testing.T) {
	t.Setenv("CITY", "Bern")
	t.Setenv("REAL_TOKEN", "the real one")
	t.Setenv("DATABASE", "postgres://u:the-real-one@db.corp.example/app")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := clientServer{Command: "node", Args: []string{"${workspaceFolder}/s.js", "--key=${REAL_TOKEN}", "${input:api-key}", "${NONE:-x}", "--db=${DATABASE}"}, Env: map[string]string{
		"API_KEY": "abc", "WHERE": "${env:CITY}", "DSN": "postgres://u:dr0wssap-7c@db.corp.example/app", "OTHER": "${input:password}", "PLAIN": "1",
	}}
	command, env, secrets := s.launch()
	if command[1] != dir+"/s.js" || command[4] != "x" || strings.Contains(command[2], "real") || strings.Contains(command[5], "real") || len(command[2]) < 16 || strings.Contains(command[3], "$") {
		t.Errorf("command %q", command)
	}
	if !slices.Equal(env, []string{"PLAIN=1", "WHERE=Bern"}) || !slices.Equal(secrets, []string{"API_KEY", "DSN", "OTHER"}) {
		t.Errorf("env %q, secrets %q", env, secrets)
	}
}

func FuzzClientConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"${input:x}","env":{"A":"${"}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := parseClientConfig(text)
		for _, s := range all {
			command, env, secrets := s.launch()
			if err != nil || len(command) != 1+len(s.Args) || len(env)+len(secrets) != len(s.Env) {
				t.Errorf("%v: %q, %q, %q", err, command, env, secrets)
			}
		}
	})
}

// TestClientAddress: a client that names the address twice means one server.
func TestClientAddress(t *testing.T) {
	s := clientServer{URL: "https://a.example/mcp", ServerURL: "https://a.example/mcp"}
	if s.address() != s.URL || !s.elsewhere() {
		t.Errorf("address %q", s.address())
	}
}
