package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTreat(t *testing.T) {
	v := newView("/home/ann",
		[]mountPoint{
			{"/", "ext4"}, {"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}, {"/run", "tmpfs"},
			{"/srv/data", "xfs"}, {"/srv/cg", "cgroup2"}, {"/etc/resolv.conf", "ext4"},
		},
		[]string{"/tmp/srv", "/tmp/srv/server.py", "/tmp/deep/in/project", "/tmp/deep/in/project/dist/x.js", "/home/ann/.tools/bin/server", "/home/ann/.ssh/id_rsa", "/home/bob/shared/x.js"},
		[]string{"/home/ann/.ssh/id_rsa", "/home/ann/.config/gh/hosts.yml"},
	)
	for path, want := range map[string]treatment{
		"/usr": whole, "/opt": whole, "/mnt": whole,
		"/proc": special, "/sys": special, "/dev": special,
		"/srv": descend, "/srv/data": whole, "/srv/cg": empty, "/srv/other": whole,
		"/etc": descend, "/etc/resolv.conf": whole, "/etc/ssl": whole,
		"/tmp": descend, "/tmp/srv": whole, "/tmp/other": hide,
		"/tmp/deep": descend, "/tmp/deep/other": hide, "/tmp/deep/in": descend, "/tmp/deep/in/other": hide, "/tmp/deep/in/project": whole,
		"/run": descend, "/run/docker.sock": hide, "/run/user": hide,
		"/run/systemd": descend, "/run/systemd/resolve": whole, "/run/systemd/private": hide,
		"/home": descend, "/home/ann": descend, "/home/carl": hide, "/home/bob": descend,
		"/home/ann/project": whole, "/home/ann/.bash_history": hide, "/home/ann/.gnupg": hide,
		"/home/ann/.nvm": whole, "/home/ann/.tools": whole, "/home/ann/.ssh": hide,
		"/home/ann/.config": descend, "/home/ann/.config/gh": hide, "/home/ann/.config/Slack": hide,
		"/home/ann/.local": descend, "/home/ann/.local/bin": whole, "/home/ann/.local/share": descend,
		"/home/ann/.local/share/uv": descend, "/home/ann/.local/share/uv/python": whole, "/home/ann/.local/share/keyrings": hide,
		"/home/ann/.cargo": descend, "/home/ann/.cargo/bin": whole, "/home/ann/.cargo/credentials.toml": hide,
		"/root": descend, "/root/.ssh": hide, "/var": descend, "/var/lib": descend,
		"/var/lib/docker": empty, "/var/lib/other": whole,
		"/etc/rancher": empty, "/var/lib/etcd": empty,
	} {
		if got := v.treat(path); got != want {
			t.Errorf("treat(%s) = %d, want %d", path, got, want)
		}
	}
}

// TestAB5RuntimesKeepTheirSecrets: package managers store the user's credentials and keys beside what they install.
func TestAB5RuntimesKeepTheirSecrets(t *testing.T) {
	v := newView("/home/ann", nil, []string{"/home/ann/.local/share/uv/tools/notes/bin/notes"}, nil)
	for path, shown := range map[string]bool{
		".local/share/uv/credentials/credentials.toml": false, ".local/share/uv/tools/notes/bin/notes": true, ".local/share/uv/python/3.12/bin/python3": true,
		".dotnet/corefx/cryptography/x509stores/my/a.pfx": false, ".dotnet/tools/notes": true,
		".cargo/credentials.toml": false, ".npmrc": false, ".pypirc": false, ".config/pip/pip.conf": false,
	} {
		if v.hides("/home/ann/"+path) == shown {
			t.Errorf("%s: shown %t, want %t", path, !shown, shown)
		}
	}
}

func TestReadMounts(t *testing.T) {
	got, err := readMounts(strings.NewReader(`24 30 0:22 / /proc rw,relatime shared:5 - proc proc rw
31 30 8:1 /a /mnt/with\040space rw - ext4 /dev/sda1 rw
32 30 0:9 / /odd/\134path rw shared:1 master:2 - tmpfs - rw
short line
33 30 0:9 / /nothing rw -
`))
	want := []mountPoint{{"/proc", "proc"}, {"/mnt/with space", "ext4"}, {`/odd/\path`, "tmpfs"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func FuzzReadMounts(f *testing.F) {
	f.Add("24 30 0:22 / /proc rw,relatime shared:5 - proc proc rw\n")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, _ := readMounts(strings.NewReader(text))
		for _, m := range mounts {
			if m.path == "" {
				t.Errorf("a mount without a path in %q", text)
			}
		}
	})
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{
		"PATH=/bin", "LC_ALL=C", "SECRET_TOKEN=x", "HOME=/real", "SSH_AUTH_SOCK=/run/x", "HTTP_PROXY=y", "NVM_DIR=/n",
	}, "/home/ann", []string{"GITHUB_TOKEN=ghp_x"})
	want := []string{"PATH=/bin", "LC_ALL=C", "NVM_DIR=/n", "HOME=/home/ann", "GITHUB_TOKEN=ghp_x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHomeOf(t *testing.T) {
	for entry, want := range map[string]string{
		"HOME=/home/nobody-here": "/home/nobody-here", "HOME=/": homeless, "HOME=relative": homeless, "OTHER=x": homeless,
		"HOME=/proc/self/root/tmp/": "/tmp",
	} {
		if got := homeOf([]string{entry}); got != want {
			t.Errorf("homeOf(%s) = %s, want %s", entry, got, want)
		}
	}
}

// TestProject: of the directories for temporary files, a program sees its project.
func TestProject(t *testing.T) {
	top, err := os.MkdirTemp("/tmp", "mcpaudit-test-") // whatever TMPDIR is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	for _, name := range []string{"app/node_modules/pkg/package.json", "app/package.json", "app/dist/x.js", "alone/x.py"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"app/dist/x.js": "app", "app/dist": "app", "app/node_modules/pkg": "app", "alone/x.py": "alone", "alone": "alone",
	} {
		if got := project(filepath.Join(top, path)); got != filepath.Join(top, want) {
			t.Errorf("project(%s) = %s, want %s", path, got, want)
		}
	}
	modules, err := os.MkdirTemp("/tmp", "mcpaudit-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(modules) })
	tempDirs[0] = modules // in place of /tmp, for this test
	t.Cleanup(func() { tempDirs[0] = "/tmp" })
	for path, want := range map[string]string{
		"node_modules/.bin/x": "node_modules", "node_modules/x/cli.js": "node_modules", "app/node_modules/.bin/x": "app",
	} {
		if err := os.MkdirAll(filepath.Join(modules, path), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := project(filepath.Join(modules, path)); got != filepath.Join(modules, want) {
			t.Errorf("project(%s) = %s, want %s", path, got, want)
		}
	}
	tempDirs[0] = "/tmp"
	for _, path := range []string{"/usr/bin/env", "/tmp"} {
		if got := project(path); got != path {
			t.Errorf("project(%s) = %s", path, got)
		}
	}
}
