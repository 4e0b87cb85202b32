package canary_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/canary"
)

func TestTokensAreUniqueAndInTheirFiles(t *testing.T) {
	seen := map[string]string{}
	for range 2 {
		set := newSet(t, "/home/server", false)
		for _, f := range set.Files {
			at := strings.Index(string(f.Content), f.Token)
			if at < 0 || at > 2048 || len(f.Token) < 20 {
				t.Errorf("%s: token %q at %d", f.Path, f.Token, at)
			}
			if before, ok := seen[f.Token]; ok {
				t.Errorf("%s: same token as %s", f.Path, before)
			}
			seen[f.Token] = f.Path
		}
		for _, v := range set.Vars {
			if before, ok := seen[v.Token]; ok {
				t.Errorf("%s: same token as %s", v.Name, before)
			}
			seen[v.Token] = v.Name
		}
	}
}

func TestNoVariableSteersARuntime(t *testing.T) {
	set := newSet(t, "/home/server", false)
	for _, entry := range set.Env() {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || value == "" {
			t.Errorf("entry %q is not NAME=value", entry)
		}
		for _, prefix := range []string{"NODE_", "PYTHON", "LD_", "GIT_", "GO", "npm_", "HTTP", "http", "NO_PROXY", "ALL_PROXY", "SSL_"} {
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
			t.Fatalf("no canary %s", name)
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

// TestSSHReadsTheKeys asks the tool itself, where the machine has it.
func TestSSHReadsTheKeys(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Logf("no ssh-keygen here: %v", err)
		return
	}
	dir := t.TempDir()
	if err := newSet(t, dir, false).Plant(dir, canary.Private); err != nil {
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
		access    canary.Access
		dir, file os.FileMode
	}{{canary.Private, 0o700, 0o600}, {canary.Shared, 0o777, 0o644}} {
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

func TestPlantStaysBelowItsDirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".ssh")); err != nil {
		t.Fatal(err)
	}
	if err := newSet(t, "/home/server", false).Plant(dir, canary.Shared); err == nil {
		t.Error("a link led out of the home and was followed")
	}
}

func newSet(t *testing.T, home string, livedIn bool) canary.Set {
	t.Helper()
	set, err := canary.New(home, livedIn)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
