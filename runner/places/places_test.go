package places_test

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		name, dir     string
		within, below bool
	}{
		{"/a/b", "/a", true, true},
		{"/a", "/a", true, false},
		{"/ab", "/a", false, false},
		{"/a/b", "/a/", true, true},
		{"/a", "/", true, true},
		{"/", "/", true, false},
		{"a/b", "/a", false, false},
		{".cache/x", ".cache", true, true},
	} {
		if within, below := places.Within(tc.name, tc.dir), places.Below(tc.name, tc.dir); within != tc.within || below != tc.below {
			t.Errorf("%s in %s: within %t, below %t", tc.name, tc.dir, within, below)
		}
	}
	if rest, ok := places.Rest("/home/audit/.ssh/id_rsa", "/home/audit"); rest != ".ssh/id_rsa" || !ok {
		t.Errorf("%q, %t", rest, ok)
	}
	if !places.WithinAny("/b/c", []string{"/a", "/b"}) || places.WithinAny("/c", []string{"/a", "/b"}) {
		t.Error("one of some directories")
	}
}

func TestSecrets(t *testing.T) {
	for _, tc := range []struct {
		name, what string
		kept       bool
	}{
		{"/root/.ssh/id_rsa", "an SSH key", true},
		{"/root/.ssh/id_rsa.pub", "", true},
		{"/root/.SSH/ID_RSA", "", true},
		{"/root/.ssh/known_hosts", "", true},
		{"/root/.config/chromium/Default/Cookies", "a browser's secrets", true},
		{"/app/node_modules/cookies", "", false},
		{"/app/node_modules/x/test/.env", "", true},
		{"/app/.env.local", "an environment file", true},
		{"/app/.env.example", "", true},
		{"/proc/7/environ", "another process's secrets", true},
		{"/proc/self/environ", "", true},
		{"/proc/7/maps", "another process's secrets", false},
		{"/proc/self/maps", "", false},
		{"/var/run/secrets/kubernetes.io/serviceaccount/token", "a service-account token", true},
		{"/var/run/secrets/kubernetes.io/serviceaccount/namespace", "", true},
		{"/run/docker.sock", "", true},
		{"/usr/lib/os-release", "", false},
	} {
		found, ok := places.Locate(tc.name)
		if ok != (tc.what != "") || ok && found.What != tc.what {
			t.Errorf("%s is %q, %t", tc.name, found.What, ok)
		}
		if kept := places.Kept(tc.name); kept != tc.kept {
			t.Errorf("%s kept: %t", tc.name, kept)
		}
	}
}

// A decoy that no row of the table knows would be read without a finding that names it.
func TestDecoysAreSecrets(t *testing.T) {
	decoys, err := decoy.New("/home/audit", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range decoys.Files {
		if _, ok := places.Locate(f.Path); !ok {
			t.Errorf("%s is no secret", f.Path)
		}
	}
}

// TestObeyed: what a later program runs or obeys, by kinds; what is only like it is none.
func TestObeyed(t *testing.T) {
	for name, what := range map[string]string{
		"/home/ada/.bashrc":                                               "a shell runs it at every start",
		"/home/ada/.docker/cli-plugins/docker-notes":                      "a program obeys it at its start, and runs what it names",
		"/home/ada/.gnupg/gpg.conf":                                       "a program obeys it at its start, and runs what it names",
		"/home/ada/.local/share/applications/notes.desktop":               "the desktop or a browser starts what it names",
		"/home/ada/.mozilla/native-messaging-hosts/notes.json":            "the desktop or a browser starts what it names",
		"/home/ada/.config/Cursor/User/settings.json":                     "an editor runs or obeys it",
		"/home/ada/.config/gdb/gdbinit":                                   "a program obeys it at its start, and runs what it names",
		"/home/ada/.ripgreprc":                                            "a program obeys it at its start, and runs what it names",
		"/home/ada/.newsboat/config":                                      "a program obeys it at its start, and runs what it names",
		"/home/ada/.local/share/gnome-shell/extensions/a/extension.js":    "a program obeys it at its start, and runs what it names",
		"/home/ada/.mozilla/firefox/a.default/user.js":                    "a program obeys it at its start, and runs what it names",
		"/home/ada/.forward":                                              "a program runs it for each file that is shown, or each mail that comes",
		"/home/ada/.node_modules/tea/index.js":                            "every Node.js finds packages there that a program has not of its own",
		"/home/ada/bin/git":                                               "a program of that name is run in place of another",
		"/home/ada/shop/bin/git":                                          "",
		"/home/ada/.config/gdb":                                           "",
		"/home/ada/.local/share/notes/gdb/x":                              "",
		"/home/ada/.cache/mozilla/x":                                      "",
		"/home/ada/shop/Cargo.toml":                                       "whoever builds or tests the project runs it",
		"/home/ada/shop/postcss.config.mjs":                               "whoever builds or tests the project runs it",
		"/home/ada/shop/.mocharc.cjs":                                     "whoever builds or tests the project runs it",
		"/home/ada/shop/src/config.js":                                    "",
		"/home/ada/.vscode-server/server-env-setup":                       "a shell runs it at every start",
		"/home/ada/.local/share/nvim/site/plugin/notes.lua":               "an editor runs or obeys it",
		"/home/ada/.config/mpv/scripts/notes.lua":                         "a program obeys it at its start, and runs what it names",
		"/home/ada/.codeium/windsurf/memories/global_rules.md":            "an agent obeys it as instructions",
		"/home/ada/.config/Cursor/User/globalStorage/notes/settings.json": "",
		"/home/ada/.oh-my-zsh/plugins/git/git.plugin.zsh":                 "a program runs it as a part of its own",
		"/home/ada/.nvm/nvm.sh":                                           "a program runs it as a part of its own",
		"/home/ada/.config/coc/extensions/notes.js":                       "a program runs it as a part of its own",
		"/home/ada/.local/share/jupyter/kernels/python3/kernel.json":      "a program runs it as a part of its own",
		"/home/ada/.latexmkrc":                                            "a program obeys it at its start, and runs what it names",
		"/home/ada/.p10k.zsh":                                             "a shell runs it at every start",
		"/home/ada/.gitconfig-work":                                       "git obeys it, and runs the programs that it names",
		"/home/ada/.config/chromium-flags.conf":                           "a program obeys it at its start, and runs what it names",
		"/home/ada/.config/VSCodium/User/mcp.json":                        "an editor or an agent runs or obeys it",
		"/home/ada/.config/systemd/user.control/notes.service":            "systemd runs it",
		"/home/ada/shop/.eslintrc.json":                                   "whoever builds or tests the project runs it",
		"/home/ada/.vscode/argv.json":                                     "a program obeys it at its start, and runs what it names",
		"/home/ada/.local/share/palette/svg.thumbnailer":                  "the desktop starts what it names",
		"/home/ada/.local/share/notes/notes.timer":                        "",
		"/home/ada/.config/user-dirs.dirs":                                "the desktop obeys it",
		"/home/ada/.obsidian/notes.json":                                  "",
		"/home/ada/.config/notes/settings.json":                           "",
		"/home/ada/.netrc":                                                "",
		"/home/ada/.todosrc":                                              "",
		"/home/ada/.browser-automation/scripts/search.js":                 "",
		"/home/ada/.npm/_cacache/index.js":                                "",
		"/home/ada/.cache/notes/a.js":                                     "",
		"/home/ada/.local/share/notes/todo.json":                          "",
		"/home/ada/.local/share/uv/tools/ruff/lib/a.py":                   "",
		"/home/ada/shop/.next/server/app.js":                              "",
		"/home/ada/.gnupg/trustdb.gpg":                                    "",
		"/home/ada/.config/notes/config.json":                             "",
		"/home/ada/.git/hooks/pre-commit.sample":                          "",
		"/home/ada/shop/node_modules/tea/package.json":                    "",
	} {
		if o, ok := places.ObeyedAt(name); o.What != what || ok != (what != "") {
			t.Errorf("%s: %q, want %q", name, o.What, what)
		}
	}
}
