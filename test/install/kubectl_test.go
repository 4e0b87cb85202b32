//go:build install

package install

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait; it measures nothing.
const patience = 4 * time.Minute

// try runs a command as a user would, and returns all that it says.
func try(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := try(t, name, args...)
	if err != nil {
		t.Fatalf("$ %s %s\n%s\n%v", filepath.Base(name), strings.Join(args, " "), out, err)
	}
	return out
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, "kubectl", args...)
}

func helm(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, os.Getenv("HELM"), append(args, "--namespace", system)...)
}

// printed is the standard output of kubectl alone, without its warnings.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", args...).Output()
	if err != nil {
		t.Fatalf("$ kubectl %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// apply sends manifests to the API server.
func apply(t *testing.T, manifest string, args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, append([]string{"apply", "-f", file}, args...)...)
}

// await asks until the answer is yes; what it said last is the failure.
func await(t *testing.T, what string, ask func() (string, bool)) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		said, ok := ask()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting for %s: %s", what, said)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// verdict returns what `kubectl get` shows of an audit.
func verdict(t *testing.T, audit string) string {
	t.Helper()
	return kubectl(t, "-n", team, "get", "mcpserveraudit", audit, "-o", "jsonpath={.status.verdict}")
}

// pinned is the honest image by the digest that passed.
func pinned(t *testing.T) string {
	t.Helper()
	return honest + "@" + kubectl(t, "-n", team, "get", "mcpserveraudit", "honest", "-o", "jsonpath={.status.audited.digests[0]}")
}

// deploy asks for a Deployment of an image, and for nothing to come of it.
func deploy(t *testing.T, image string) (string, error) {
	t.Helper()
	return try(t, "kubectl", "-n", team, "create", "deployment", "try", "--replicas=0", "--image="+image, "--dry-run=server")
}

// denied reports whether the gate denies the leaky image, for what was found.
func denied(t *testing.T) (string, bool) {
	t.Helper()
	out, err := deploy(t, leaky)
	return out, err != nil && strings.Contains(out, "which failed its audit "+team+"/leaky")
}

// objects lists all that the cluster keeps, a line each, but events and leases of nodes.
func objects(t *testing.T) map[string]bool {
	t.Helper()
	kinds := strings.Fields(printed(t, "api-resources", "--verbs=list", "-o", "name"))
	for i := len(kinds) - 1; i >= 0; i-- {
		if strings.HasPrefix(kinds[i], "events") {
			kinds = append(kinds[:i], kinds[i+1:]...)
		}
	}
	all := map[string]bool{}
	for line := range strings.Lines(printed(t, "get", strings.Join(kinds, ","), "-A", "--ignore-not-found", "--no-headers",
		"-o", "custom-columns=K:.kind,NS:.metadata.namespace,N:.metadata.name")) {
		all[strings.Join(strings.Fields(strings.Replace(line, "<none>", "-", 1)), " ")] = true
	}
	return all
}

// scrape reads the metrics of a replica with the token of who may.
func scrape(t *testing.T, address, token string) (int, string) {
	t.Helper()
	// the certificate is the manager's own, as docs/operations.md says
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+":8443/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
