package decoy_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

func TestSecretsAreUniqueAndInTheirFiles(t *testing.T) {
	seen := map[string]string{}
	check := func(name, content string, secrets []string) {
		t.Helper()
		if len(secrets) == 0 {
			t.Errorf("%s has no secret", name)
		}
		for _, secret := range secrets {
			// The registry's password is in base64.
			if !strings.Contains(content, secret) && !strings.HasSuffix(name, "/.docker/config.json") || len(secret) < 16 {
				t.Errorf("%s: secret %q is not in %q", name, secret, content)
			}
			if before, ok := seen[secret]; ok {
				t.Errorf("%s: same secret as %s", name, before)
			}
			seen[secret] = name
		}
	}
	for range 2 {
		set := newSet(t, "/home/server", false)
		if len(set.Files) < 15 || len(set.Vars) < 25 {
			t.Errorf("%d files, %d variables", len(set.Files), len(set.Vars))
		}
		for _, f := range set.Files {
			check(f.Path, string(f.Content), f.Secrets)
		}
		for _, v := range set.Vars {
			check(v.Name, v.Value, v.Secrets)
		}
	}
}

func TestNoVariableSteersARuntime(t *testing.T) {
	set := newSet(t, "/home/server", false)
	for _, entry := range set.Env() {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || value == "" || strings.ContainsAny(value, "{}") {
			t.Errorf("entry %q is not NAME=value", entry)
		}
		for _, prefix := range []string{"NODE_", "PYTHON", "LD_", "GIT_", "GODEBUG", "GOFLAGS", "GOM", "GOP", "npm_", "PIP_", "UV_", "AWS_REGION", "AWS_PROFILE", "KUBE", "DOCKER_HOST", "HTTP", "http", "NO_PROXY", "ALL_PROXY", "SSL_"} {
			if strings.HasPrefix(name, prefix) {
				t.Errorf("%s is one that a runtime obeys", name)
			}
		}
	}
}

func TestRoutineFiles(t *testing.T) {
	for _, tc := range []struct {
		name    string
		livedIn bool
		want    bool
	}{
		{".npmrc", false, true}, {".netrc", false, true},
		{".ssh/id_rsa", true, false}, {".env", false, false}, {".env", true, true},
	} {
		f, ok := newSet(t, "/home/server", tc.livedIn).Find("/home/server/" + tc.name)
		if !ok || f.Routine != tc.want {
			t.Errorf("%s, lived in %v: found %v, routine %v; want %v", tc.name, tc.livedIn, ok, f.Routine, tc.want)
		}
	}
}

func TestFormats(t *testing.T) {
	set := newSet(t, "/home/server", false)
	content := func(name string) []byte {
		f, ok := set.Find("/home/server/" + name)
		if !ok {
			t.Fatalf("no decoy %s", name)
		}
		return f.Content
	}
	block, rest := pem.Decode(content(".ssh/id_rsa"))
	if block == nil || len(rest) != 0 {
		t.Fatal("id_rsa is not one PEM block")
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		t.Errorf("id_rsa: %v", err)
	}
	if block, _ := pem.Decode(content(".ssh/id_ed25519")); block == nil || !strings.HasPrefix(string(block.Bytes), "openssh-key-v1\x00") {
		t.Error("id_ed25519 is not an OpenSSH key")
	}
	for _, name := range []string{".docker/config.json", ".claude.json", ".config/gcloud/application_default_credentials.json"} {
		if !json.Valid(content(name)) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

// TestSSHReadsTheKeys asks ssh-keygen itself, if it is installed.
func TestSSHReadsTheKeys(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Logf("no ssh-keygen here: %v", err)
		return
	}
	dir := t.TempDir()
	if err := newSet(t, dir, false).Plant(dir, decoy.Private); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id_rsa", "id_ed25519"} {
		if out, err := exec.Command(keygen, "-y", "-f", filepath.Join(dir, ".ssh", name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

func TestPlantSetsModes(t *testing.T) {
	for _, tc := range []struct {
		access    decoy.Access
		dir, file os.FileMode
	}{{decoy.Private, 0o700, 0o600}, {decoy.Shared, 0o777, 0o644}} {
		dir := t.TempDir()
		if err := newSet(t, "/home/server", false).Plant(dir, tc.access); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{
			".config": tc.dir, ".config/gh": tc.dir, ".ssh": tc.dir, ".ssh/id_rsa": tc.file, ".env": tc.file,
		} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s: mode %o, want %o", name, got, want)
			}
		}
	}
}

func TestServiceAccount(t *testing.T) {
	set := newSet(t, "/home/server", false)
	set.AddServiceAccount()
	home, dir := t.TempDir(), t.TempDir()
	if err := set.Plant(home, decoy.Shared); err != nil {
		t.Fatal(err)
	}
	if err := set.PlantServiceAccount(dir, decoy.Shared); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil || strings.Count(string(token), ".") != 2 {
		t.Fatalf("token %q, %v", token, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside it: %v, %v", entries, err)
	}
	if found, _ := decoy.NewMatcher(set).Find(token[len(token)-100:]); len(found) != 1 || found[0].Decoy.Name != decoy.ServiceAccount+"/token" {
		t.Errorf("found %+v", found)
	}
}

func TestPlantStaysBelowItsDirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".ssh")); err != nil {
		t.Fatal(err)
	}
	if err := newSet(t, "/home/server", false).Plant(dir, decoy.Shared); err == nil {
		t.Error("a link led out of the home and was followed")
	}
}

func newSet(t *testing.T, home string, livedIn bool) decoy.Set {
	t.Helper()
	set, err := decoy.New(home, livedIn)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
