package packages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestLaunchOfServerJSON: with its arguments and variables as a client fills them in.
func TestLaunchOfServerJSON(t *testing.T) {
	for arguments, want := range map[string][]string{
		`{"type": "positional", "value": "serve"}`:                                                                                        {"serve"},
		`{"type": "positional", "valueHint": "dir", "format": "filepath", "isRequired": true}`:                                            {"/tmp"},
		`{"type": "positional", "valueHint": "dir", "format": "filepath"}`:                                                                nil,
		`{"type": "named", "name": "--port", "default": "8080"}`:                                                                          {"--port", "8080"},
		`{"type": "named", "name": "--level", "choices": ["low", "high"], "isRequired": true}`:                                            {"--level", "low"},
		`{"type": "named", "name": "--level", "choices": ["low", "high"]}`:                                                                nil,
		`{"type": "named", "name": "--stdio"}`:                                                                                            {"--stdio"},
		`{"type": "named", "name": "--retries", "format": "number", "isRequired": true}`:                                                  {"--retries", "1"},
		`{"type": "positional", "value": "--at={host}:{port}{x}", "variables": {"host": {"default": "a"}, "port": {"placeholder": "1"}}}`: {"--at=a:1{x}"},
	} {
		var s serverJSON
		text := `{"packages": [{"registryType": "oci", "identifier": "x"}, {"registryType": "npm", "identifier": "@a/b", "version": "1.0.0", "packageArguments": [` + arguments + `]}]}`
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		l, err := s.launch()
		if err != nil || l.String() != "npm:@a/b@1.0.0" || !slices.Equal(l.Arguments, want) {
			t.Errorf("%s: %s %q, %v; want %q", arguments, l, l.Arguments, err, want)
		}
	}
}

func TestVariablesOfServerJSON(t *testing.T) {
	var s serverJSON
	text := `{"packages": [{"registryType": "pypi", "identifier": "b", "version": "1.0", "environmentVariables": [
		{"name": "B_TOKEN", "isSecret": true}, {"name": "B_PASSWORD", "isRequired": true}, {"name": "B_AUTH", "value": "Basic {key}", "variables": {"key": {"isSecret": true}}},
		{"name": "B_MODE", "default": "fast"}, {"name": "B_DEBUG"}, {"name": "B_DIR", "format": "filepath", "isRequired": true}]}]}`
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	l, err := s.launch()
	if err != nil || !slices.Equal(l.Secrets, []string{"B_TOKEN", "B_PASSWORD", "B_AUTH"}) || !slices.Equal(l.Env, []string{"B_MODE=fast", "B_DIR=/tmp"}) {
		t.Errorf("secrets %q, environment %q, %v", l.Secrets, l.Env, err)
	}
}

// TestNoLaunchOfServerJSON: what cannot be audited by its name says so in one line.
func TestNoLaunchOfServerJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "has no packages",
		`{"packages": [{"registryType": "nuget", "identifier": "a/b\u001b[2J"}]}`:                                                   `it comes as "a/b\x1b[2J" of "nuget"`,
		`{"packages": [{"registryType": "npm", "identifier": "--global"}]}`:                                                         "invalid name",
		`{"packages": [{"registryType": "pypi", "identifier": "a", "version": "latest --index-url x"}]}`:                            "invalid version",
		`{"packages": [{"registryType": "npm", "identifier": "a", "registryBaseUrl": "https://npm.evil.test"}]}`:                    `in the registry "https://npm.evil.test"`,
		`{"packages": [{"registryType": "npm", "identifier": "a", "runtimeArguments": [{"type": "named", "name": "--registry"}]}]}`: `the argument "--registry"`,
		`{"remotes": [{"url": "https://mcp.example.com"}]}`:                                                                         `mcpaudit connect "https://mcp.example.com"`,
	} {
		var s serverJSON
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if l, err := s.launch(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v; want %s", text, l, err, want)
		}
	}
}

// FuzzServerJSON: whatever a registry answers, what is installed has a name that the installer takes for one.
func FuzzServerJSON(f *testing.F) {
	f.Add(`{"packages": [{"registryType": "npm", "identifier": "a", "packageArguments": [{"value": "{a}{b}", "variables": {"a": {"value": "{b}"}}}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s serverJSON
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		if l, err := s.launch(); err == nil && l.Registry != MCPB && strings.HasPrefix(l.spec(), "-") {
			t.Errorf("it becomes %q", l.spec())
		}
	})
}

// TestResolve asks a registry, whose answers are bounded.
func TestResolve(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.EscapedPath() {
		case "/sub/v0.1/servers/com.example%2Fa/versions/latest":
			_, _ = w.Write([]byte(`{"server": {"version": "2.0.0", "packages": [{"registryType": "npm", "identifier": "a", "version": "1.2.3"}]}}`))
		case "/sub/v0.1/servers/com.example%2Ffile/versions/latest":
			_, _ = w.Write([]byte(`{"server": {"packages": [{"registryType": "mcpb", "identifier": "/dev/zero"}]}}`))
		case "/sub/v0.1/servers/com.example%2Fservice/versions/latest":
			_, _ = w.Write([]byte(`{"server": {"packages": [{"registryType": "mcpb", "identifier": "http://127.0.0.1:1/stop"}]}}`))
		case "/sub/v0.1/servers/com.example%2Flarge/versions/1.0.0":
			_, _ = w.Write([]byte(strings.Repeat(" ", maxServerJSON+1)))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for reference, want := range map[string]string{
		"registry:com.example/a": "", "registry:com.example/large@1.0.0": "more than", "registry:com.example/none": "404",
		"registry:com.example/file": "neither at an https URL", "registry:com.example/service": "neither at an https URL",
	} {
		p, _, err := Parse(reference)
		if err != nil {
			t.Fatal(err)
		}
		exact, l, err := p.Resolve(t.Context(), server.URL+"/sub")
		if want == "" && (err != nil || l.String() != "npm:a@1.2.3" || exact.String() != "registry:com.example/a@2.0.0" || len(l.ServerJSON) == 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s, %v", reference, l, err)
		}
	}
}

// TestBundleOfURL: its bytes are those that the server.json names.
func TestBundleOfURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	}))
	t.Cleanup(server.Close)
	p := Package{Registry: MCPB, Name: server.URL + "/x.mcpb", SHA256: strings.Repeat("0", 64)}
	if _, err := p.Install(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "it has the SHA-256 8739c76e681f900923b900c9df0ef75cf421d39cabb54650c4b9ad19b6a76d85, and not 000") {
		t.Error(err)
	}
}

// TestU12Redirect: from https to no service of this machine.
func TestU12Redirect(t *testing.T) {
	asked := false
	local := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(local.Close)
	server := httptest.NewTLSServer(http.RedirectHandler(local.URL, http.StatusFound))
	t.Cleanup(server.Close)
	transport := client.Transport
	client.Transport = server.Client().Transport
	t.Cleanup(func() { client.Transport = transport })
	if _, err := get(t.Context(), server.URL, 1); err == nil || !strings.Contains(err.Error(), "not to an https URL") || asked {
		t.Errorf("%v, asked %v", err, asked)
	}
}
