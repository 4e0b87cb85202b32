package codepath_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/codepath"
)

// What audits of ordinary images record.
var (
	node   = []string{"/etc/ssl/openssl.cnf", "/package.json", "/usr/src/app"}
	python = []string{"/app", "/opt/venv"}
	golang = []string{"/server"}
)

func TestS16MountsThatAlter(t *testing.T) {
	for _, c := range []struct {
		mount string
		paths []string
		want  string
	}{
		{"/usr/src/app", node, "/usr/src/app"},
		{"/usr/src/app/plugins", node, "/usr/src/app"},
		{"/usr", node, "/usr/bin"},
		{"/", golang, "/bin"},
		{"/server", golang, "/server"},
		{"server/", golang, "/server"},
		{"/x/../server", golang, "/server"},
		{"/etc/ssl/openssl.cnf", node, "/etc/ssl/openssl.cnf"},
		{"/etc/ssl", node, "/etc/ssl/openssl.cnf"},
		{"/etc", golang, "/etc/alternatives"},
		{"/etc/ld.so.preload", golang, "/etc/ld.so.preload"},
		{"/etc/ld.so.conf.d/x.conf", golang, "/etc/ld.so.conf.d"},
		{"/lib64/ld-linux-x86-64.so.2", golang, "/lib64"},
		{"/usr/local/lib/python3.13/site-packages/certifi", python, "/usr/local/lib/python3.13/site-packages"},
		{"/package.json", node, "/package.json"},
		{"/node_modules/x", golang, "/node_modules"},
		{"/home/u/.local/lib/python3.13/site-packages", golang, "/home/u/.local/lib/python3.13/site-packages"},
		{"/json", []string{"/"}, "/"},
		{"/var/run/app/lib", []string{"/run/app"}, "/run/app"},
		{"/data", nil, "/data"},
		{"", golang, "/bin"},
	} {
		if got := codepath.Altered(c.mount, c.paths); got != c.want {
			t.Errorf("%s with %v: %q, want %q", c.mount, c.paths, got, c.want)
		}
	}
}

// TestR14Homes: the user site of Python and its like are code of who runs an interpreter.
func TestR14Homes(t *testing.T) {
	for mount, alters := range map[string]bool{
		"/root": true, "/home": true, "/home/u": true, "/root/.local/lib": true, "/home/u/.local": true, "/.local": true, "/home/u/.config/x": true,
		"/root/.cache": false, "/home/u/data": false, "/homes/u": false, "/data": false,
	} {
		if code := codepath.Altered(mount, []string{"/app", codepath.Home}); (code != "") != alters {
			t.Errorf("%s: %q", mount, code)
		}
		if code := codepath.Altered(mount, []string{"/app"}); code != "" {
			t.Errorf("%s alters %s of what is no interpreter", mount, code)
		}
	}
	if reduced := codepath.Reduce([]string{codepath.Home, "/usr/bin/python3"}); len(reduced) != 1 || reduced[0] != codepath.Home {
		t.Errorf("got %q", reduced)
	}
}

// Honest workloads mount their settings, secrets and data beside the code.
func TestMountsThatDoNotAlter(t *testing.T) {
	for _, paths := range [][]string{node, python, golang} {
		for _, mount := range []string{
			"/etc/app/config.yaml", "/etc/app", "/var/run/creds", "/run/secrets/db", "/tmp", "/data", "/var/lib/notes", "/config", "/home/u", "/mnt/files", "/workspace",
			"/var/run/secrets/kubernetes.io/serviceaccount", "/etc/ssl/certs/ca.pem", "/usr/share/zoneinfo", "/usr/local/share/ca-certificates", "/applications", "/etc/hosts", "/dev/shm",
		} {
			if got := codepath.Altered(mount, paths); got != "" {
				t.Errorf("%s is over %s of %v", mount, got, paths)
			}
		}
	}
	for _, paths := range [][]string{nil, {"/"}} {
		if got := codepath.Altered("/var/run/secrets/kubernetes.io/serviceaccount", paths); got != "" {
			t.Errorf("the token is over %s of %v", got, paths)
		}
	}
	for _, mount := range []string{"/data", "/tmp", "/etc/app"} {
		if got := codepath.Altered(mount, []string{"/"}); got != "" {
			t.Errorf("%s is over a module of /: %s", mount, got)
		}
	}
}

func TestReduce(t *testing.T) {
	many := func(n int, format string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return all
	}
	for name, c := range map[string]struct{ seen, want []string }{
		"nothing":                          {nil, nil},
		"sorted, each once":                {[]string{"/b", "/a", "/b"}, []string{"/a", "/b"}},
		"below another":                    {[]string{"/app/lib", "/app", "/app-x", "/app/x/y"}, []string{"/app", "/app-x"}},
		"the system's":                     {[]string{"/usr/lib/x", "/app", "/usr/bin/node"}, []string{"/app"}},
		"the system's only":                {[]string{"/usr/bin/node", "/bin/sh"}, []string{"/bin/sh"}},
		"modules in the root":              {[]string{"/server.py", "/"}, []string{"/", "/server.py"}},
		"a relative path":                  {[]string{"/a", "app"}, nil},
		"no text":                          {[]string{"/a\xff"}, nil},
		"a long path":                      {[]string{"/a/" + strings.Repeat("x", 300)}, []string{"/a"}},
		"too many":                         {many(100, "/app/p%d/lib"), []string{"/app"}},
		"too many, and one elsewhere":      {append(many(100, "/app/p%d/lib"), "/srv/x"), []string{"/app", "/srv/x"}},
		"far too many":                     {append(many(4000, "/app/p%d/a/b/c"), "/srv/x"), []string{"/app", "/srv/x"}},
		"too many at the top":              {many(100, "/p%d"), nil},
		"too many bytes":                   {many(40, "/app/%d"+strings.Repeat("x", 200)), []string{"/app"}},
		"what /var/run is":                 {[]string{"/var/run/x"}, []string{"/run/x"}},
		"as many as there may be are kept": {many(64, "/app/p%02d"), many(64, "/app/p%02d")},
	} {
		if got := codepath.Reduce(c.seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// FuzzReduce: whatever was seen is covered by the list, or the list says that it is not known.
func FuzzReduce(f *testing.F) {
	f.Add("/app/a\n/app/b\n/usr/lib/x", "/app/a/c")
	f.Add(strings.Repeat("/a/b/c\n", 100), "/")
	f.Fuzz(func(t *testing.T, seen, mount string) {
		list := strings.Split(seen, "\n")
		reduced := codepath.Reduce(slices.Clone(list))
		if len(reduced) > codepath.MaxPaths || !slices.IsSorted(reduced) {
			t.Fatalf("%q", reduced)
		}
		if reduced == nil {
			return
		}
		if before := codepath.Altered(mount, list); before != "" && codepath.Altered(mount, reduced) == "" {
			t.Fatalf("a mount at %q alters %q of %q, and nothing of %q", mount, before, list, reduced)
		}
	})
}
