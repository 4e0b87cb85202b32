package noise_test

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/noise"
)

func TestReason(t *testing.T) {
	const none = noise.Reason("")
	node := []string{"/opt/node/bin/node", "/app/server.js"}
	python := []string{"/srv/venv/bin/python3.11", "server.py"}
	npx := []string{"/usr/local/bin/npx", "-y", "@scope/server"}
	for name, tc := range map[string]struct {
		run    []string
		access noise.Access
		want   noise.Reason
	}{
		"the linker's cache":                   {nil, noise.Access{Path: "/etc/ld.so.cache"}, noise.Loader},
		"a library":                            {nil, noise.Access{Path: "/usr/lib/x86_64-linux-gnu/libc.so.6"}, noise.Loader},
		"a search for one":                     {nil, noise.Access{Path: "/app/lib/libz.so.1", Failed: true}, noise.Loader},
		"a library that lies about":            {nil, noise.Access{Path: "/tmp/libz.so.1"}, none},
		"a library of the runtime":             {node, noise.Access{Path: "/opt/node/lib/libnode.so.115"}, noise.Loader},
		"the runtime's own library, of a venv": {python, noise.Access{Path: "/opt/python/lib/libpython3.11.so.1.0"}, noise.Loader},
		"a name that only has .so":             {nil, noise.Access{Path: "/data/x.source"}, none},
		"a change to a library":                {nil, noise.Access{Path: "/usr/lib/libc.so.6", Change: true}, none},
		"a failed change to one":               {nil, noise.Access{Path: "/usr/lib/libc.so.6", Change: true, Failed: true}, none},
		"a locale":                             {nil, noise.Access{Path: "/usr/lib/locale/C.UTF-8/LC_TIME", Failed: true}, noise.Locale},
		"a time zone":                          {nil, noise.Access{Path: "/usr/share/zoneinfo/UTC"}, noise.Locale},
		"a certificate":                        {nil, noise.Access{Path: "/etc/ssl/certs/ca-certificates.crt"}, noise.Certificates},
		"the certificate of the sinkhole":      {nil, noise.Access{Path: "/run/marlow-local/marlow-ca.crt"}, noise.Certificates},
		"a private key":                        {nil, noise.Access{Path: "/etc/ssl/private/server.key"}, none},
		"the resolver":                         {nil, noise.Access{Path: "/etc/resolv.conf"}, noise.Resolver},
		"the resolver, changed":                {nil, noise.Access{Path: "/etc/resolv.conf", Change: true}, none},
		"who is who":                           {nil, noise.Access{Path: "/etc/passwd"}, none},
		"itself":                               {nil, noise.Access{Path: "/proc/self/status"}, noise.SelfInspection},
		"its name":                             {nil, noise.Access{Path: "/proc/self/comm", Change: true}, noise.SelfInspection},
		"its memory":                           {nil, noise.Access{Path: "/proc/self/mem", Change: true}, none},
		"its environment":                      {nil, noise.Access{Path: "/proc/self/environ"}, none},
		"another process":                      {nil, noise.Access{Path: "/proc/1/cmdline"}, none},
		"its cgroup":                           {nil, noise.Access{Path: "/sys/fs/cgroup/memory.max"}, noise.SelfInspection},
		"a cgroup, changed":                    {nil, noise.Access{Path: "/sys/fs/cgroup/cgroup.procs", Change: true}, none},
		"a device":                             {nil, noise.Access{Path: "/dev/null", Change: true}, noise.Devices},
		"a disk":                               {nil, noise.Access{Path: "/dev/sda"}, none},
		"a module":                             {node, noise.Access{Path: "/app/node_modules/zod/index.js"}, noise.Packages},
		"a name like modules":                  {node, noise.Access{Path: "/data/my-node_modules-notes/x"}, none},
		"a change to a module":                 {node, noise.Access{Path: "/app/node_modules/zod/index.js", Change: true}, none},
		"a key among modules":                  {node, noise.Access{Path: "/app/node_modules/zod/.ssh/id_rsa"}, none},
		"settings among modules":               {node, noise.Access{Path: "/app/node_modules/zod/.env"}, none},
		"a look upward":                        {node, noise.Access{Path: "/package.json", Failed: true}, noise.Packages},
		"a program of the system":              {nil, noise.Access{Path: "/usr/bin/env"}, noise.Packages},
		"the server itself":                    {node, noise.Access{Path: "/app/server.js"}, none},
		"the library of Python":                {python, noise.Access{Path: "/opt/python/lib/python3.11/json/decoder.py"}, noise.Interpreter},
		"a package of Python":                  {python, noise.Access{Path: "/srv/venv/lib/python3.11/site-packages/mcp/types.py"}, noise.Packages},
		"the settings of the venv":             {python, noise.Access{Path: "/srv/venv/pyvenv.cfg"}, noise.Interpreter},
		"byte code, written":                   {python, noise.Access{Path: "/app/__pycache__/x.cpython-311.pyc.140234", Change: true}, noise.Interpreter},
		"byte code, put there":                 {python, noise.Access{Path: "/app/__pycache__/x.cpython-311.pyc", Change: true, Opened: true}, none},
		"byte code, renamed":                   {python, noise.Access{Path: "/app/__pycache__/x.cpython-311.pyc", Change: true}, noise.Interpreter},
		"something else written there":         {python, noise.Access{Path: "/app/__pycache__/x.sh", Change: true}, none},
		"notes about Python":                   {python, noise.Access{Path: "/data/lib/pythonic/notes"}, none},
		"data by the runtime's prefix":         {node, noise.Access{Path: "/opt/node/data/x"}, none},
		"a shim of pyenv": {[]string{"/root/.pyenv/shims/python3"},
			noise.Access{Path: "/root/.pyenv/libexec/pyenv-exec"}, noise.Interpreter},
		"pyenv where it was not run": {node, noise.Access{Path: "/root/.pyenv/libexec/pyenv-exec"}, none},
		"a cache of npm's":           {npx, noise.Access{Path: "/home/u/.npm/_cacache/index-v5/ab", Change: true}, noise.PackageManager},
		"the token of npm's":         {npx, noise.Access{Path: "/home/u/.npmrc"}, none},
		"a cache that nobody launched": {node,
			noise.Access{Path: "/home/u/.npm/_cacache/index-v5/ab"}, none},
		"a package manager of a package manager's": {[]string{"/usr/bin/python3", "-m", "pip", "install"},
			noise.Access{Path: "/home/u/.cache/pip/http/a", Change: true}, noise.PackageManager},
		"by way of a shell": {[]string{"/usr/bin/node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "x"},
			noise.Access{Path: "/home/u/.npm/_logs/x", Change: true}, noise.PackageManager},
		"nothing":         {nil, noise.Access{}, none},
		"a relative path": {nil, noise.Access{Path: "notes"}, none},
	} {
		t.Run(name, func(t *testing.T) {
			f := noise.New("/home/u", nil)
			f.Executed("/bin/sh", []string{"sh", "-c", "start"})
			if tc.run != nil {
				f.Executed(tc.run[0], tc.run)
			}
			got, ok := f.Reason(tc.access)
			if got != tc.want || ok != (tc.want != none) {
				t.Errorf("%+v: %q, %t, want %q", tc.access, got, ok, tc.want)
			}
		})
	}
}

// Only what was launched first makes the caches noise.
func TestPackageManagerLater(t *testing.T) {
	f := noise.New("/home/u", nil)
	f.Executed("/usr/bin/env", []string{"env", "node", "server.js"})
	f.Executed("/usr/bin/node", []string{"node", "server.js"})
	f.Executed("/usr/bin/npm", []string{"npm", "install", "x"})
	if reason, ok := f.Reason(noise.Access{Path: "/home/u/.npm/_cacache/x", Change: true}); ok {
		t.Errorf("what a server has npm do is noise (%s)", reason)
	}
}

// What the caller calls sensitive is an effect wherever it lies.
func TestSensitive(t *testing.T) {
	f := noise.New("", func(path string) bool { return strings.HasSuffix(path, "/wallet.dat") })
	for _, path := range []string{"/usr/lib/wallet.dat", "/app/node_modules/x/wallet.dat", "/usr/share/locale/wallet.dat"} {
		if reason, ok := f.Reason(noise.Access{Path: path}); ok {
			t.Errorf("%s is noise (%s)", path, reason)
		}
	}
}

// A server that starts ever new runtimes fills no memory.
func TestBounded(t *testing.T) {
	f := noise.New("", nil)
	for i := range 10_000 {
		f.Executed("/data/"+strings.Repeat("x", i%500)+"/bin/node", nil)
	}
	if reason, ok := f.Reason(noise.Access{Path: "/data/" + strings.Repeat("x", 400) + "/lib/node/x"}); ok {
		t.Errorf("the 400th prefix is still known (%s)", reason)
	}
}
