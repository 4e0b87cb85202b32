package scripts

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// action has the fields of an action.yml that are read (docs.github.com, Metadata syntax for GitHub Actions).
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			ID, Uses, Run, Shell string
			Env                  map[string]string
		}
	}
}

// workflow runs the steps of the action as a runner of GitHub does.
type workflow struct {
	action  action
	root    string
	dir     string
	inputs  map[string]string
	outputs map[string]string
}

var expression = regexp.MustCompile(`\$\{\{ *([^ ]+) *\}\}`)

// expand fills in the expressions of a text.
func (w *workflow) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		switch input, isInput := strings.CutPrefix(name, "inputs."); {
		case name == "github.action_path":
			return w.root
		case name == "runner.temp":
			return filepath.Join(w.dir, "temp")
		case name == "github.action_ref":
			return "v9.9.9"
		case isInput:
			if value, ok := w.inputs[input]; ok {
				return value
			}
			return w.expand(w.action.Inputs[input].Default)
		}
		return w.outputs[name]
	})
}

// run runs the steps up to the first that fails, and returns what they print.
func (w *workflow) run(t *testing.T) (printed string, err error) {
	t.Helper()
	w.outputs = map[string]string{}
	for _, step := range w.action.Runs.Steps {
		if step.Uses != "" {
			continue
		}
		if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
			t.Fatalf("what a workflow says is read as shell: %q", step.Run)
		}
		said := filepath.Join(w.dir, "output")
		if err := os.WriteFile(said, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = w.dir
		cmd.Env = append(os.Environ(), "HOME="+w.dir, "GITHUB_OUTPUT="+said, "GITHUB_STEP_SUMMARY="+filepath.Join(w.dir, "summary"))
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+w.expand(value))
		}
		out, err := cmd.CombinedOutput()
		printed += string(out)
		if err != nil {
			return printed, err
		}
		text, err := os.ReadFile(said)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			w.outputs["steps."+step.ID+".outputs."+name] = value
		}
	}
	return printed, nil
}

// release serves the built program as a release, and returns where, and the public key that its checksums are signed with.
func release(t *testing.T) (url string, key []byte) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(built, "mcpaudit"))
	if err != nil {
		t.Fatal(err)
	}
	name := "mcpaudit-linux-" + runtime.GOARCH
	sums := fmt.Appendf(nil, "%x  kubectl-%s\n%x  %s\n", sha256.Sum256(nil), name, sha256.Sum256(program), name)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(sums)
	signature, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"SHA256SUMS": sums, "SHA256SUMS.sig": []byte(base64.StdEncoding.EncodeToString(signature)), name: program}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		body, ok := files[file]
		switch {
		case !ok || version != "v9.9.9" && version != "v6.6.6":
			http.NotFound(w, r)
			return
		case version == "v6.6.6" && file == name: // other bytes than the checksums are of
			body = append([]byte("#!/bin/sh\n"), body...)
		}
		_, _ = w.Write(body) // the client says whether it came
	}))
	t.Cleanup(server.Close)
	return server.URL, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
}

// TestAction: GitHub's action checks the release that it installs, audits, and fails by the verdict.
func TestAction(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil || a.Runs.Using != "composite" {
		t.Fatalf("%v, %+v", err, a)
	}
	url, key := release(t)
	honest, leaky := filepath.Join(built, "honest"), filepath.Join(built, "leaky")
	for name, tc := range map[string]struct {
		inputs        map[string]string
		fails         bool
		verdict       string
		printed, says string
	}{
		"honest":          {map[string]string{"server": honest, "public-key": "release.pub"}, false, "Pass", "Pass, of 1 of 1 tools", "Pass, of 1 of 1 tools"},
		"leaky":           {map[string]string{"server": leaky}, true, "Fail", "MCPA-SECRET-002", "MCPA-SECRET-002"},
		"a configuration": {map[string]string{"config": "mcp.json"}, false, "Pass", "notes  Pass", "notes  Pass"},
		"no server":       {map[string]string{}, true, "", "::error::mcpaudit: server: no value", ""},
		"shell":           {map[string]string{"server": "$(touch injected) ; touch injected"}, true, "Inconclusive", "", ""},
		"other bytes":     {map[string]string{"server": honest, "version": "v6.6.6"}, true, "", "is not what SHA256SUMS of v6.6.6 says", ""},
		"another key":     {map[string]string{"server": honest, "public-key": "other.pub"}, true, "", "are not signed with other.pub", ""},
		"no release":      {map[string]string{"server": honest, "version": "main"}, true, "", "version: invalid value 'main'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := workflow{action: a, root: root, dir: t.TempDir(), inputs: tc.inputs}
			tc.inputs["releases"] = url
			if tc.inputs["flags"] == "" {
				tc.inputs["flags"] = "--depth quick"
			}
			_, other := release(t)
			for file, text := range map[string][]byte{"release.pub": key, "other.pub": other, "mcp.json": fmt.Appendf(nil, `{"mcpServers": {"notes": {"command": %q}}}`, honest)} {
				if err := os.WriteFile(filepath.Join(w.dir, file), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			printed, err := w.run(t)
			if (err != nil) != tc.fails || w.outputs["steps.audit.outputs.verdict"] != tc.verdict || !strings.Contains(printed, tc.printed) {
				t.Errorf("%v, %q: %s", err, w.outputs, printed)
			}
			summary, _ := os.ReadFile(filepath.Join(w.dir, "summary")) // there is none where nothing was audited
			if !strings.Contains(string(summary), tc.says) {
				t.Errorf("the summary says %q", summary)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "injected")); err == nil {
				t.Error("an input was read as shell")
			}
		})
	}
}
