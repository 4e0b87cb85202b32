package rules

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// Whatever a later program obeys is found where it is written unasked, and not where that is
// what the tool is for.
func TestObeyed(t *testing.T) {
	finds := []string{
		home + "/CLAUDE.md", "/src/AGENTS.md", "/src/.cursorrules", "/src/.cursor/rules/x.mdc", "/src/.github/copilot-instructions.md", "/src/Makefile", "/src/package.json",
		"/src/.git/config", home + "/.gitconfig", home + "/.config/git/config", "/src/.npmrc", home + "/.config/pip/pip.conf", home + "/.local/bin/git", "/usr/local/bin/ls",
		home + "/.config/gdb/gdbinit", home + "/.ripgreprc", home + "/.urxvt/ext/clip", home + "/.lessfilter", home + "/.volta/bin/node",
		"/etc/ld.so.preload", home + "/.vscode/settings.json", "/src/.vscode/tasks.json", home + "/.vimrc", home + "/.config/Claude/claude_desktop_config.json", home + "/.cursor/mcp.json",
		home + "/.config/systemd/user/x.service", "/etc/cron.d/x", home + "/.config/autostart/x.desktop", home + "/.ssh/config", home + "/.ssh/authorized_keys", "/src/.github/workflows/ci.yml",
		home + "/.config/nvim/init.lua", "/src/.envrc", "/usr/lib/python3/site-packages/x.pth", "/usr/lib/python3/site-packages/json5/__init__.py", "/src/conftest.py",
	}
	for _, name := range finds {
		expect(t, input(silent, touches(call, name)), "PERSIST-001 High: Tool format_note changed "+name)
	}
	for _, name := range []string{"/src/notes.md", home + "/models/model.pth", "/src/node_modules/x/package.json", "/src/.git/hooks/pre-commit.sample", "/tmp/x/package.json"} {
		for _, f := range Judge(input(silent, touches(call, name))) {
			if f.Rule == "MCPA-PERSIST-001" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	says := func(description string) server {
		return server{name: "x", tools: []string{"format_note: " + description}}
	}
	for description, name := range map[string]string{
		"Keeps the project's AGENTS.md up to date.": "/src/AGENTS.md", "Sets the user's name with git config.": "/src/.git/config", "Sets up a project with npm.": "/src/package.json",
		"Installs a binary.": home + "/.local/bin/x", "Writes tasks for VSCode.": "/src/.vscode/tasks.json", "Edits the Makefile.": "/src/Makefile",
	} {
		expect(t, input(says(description), touches(call, name)), "")
	}
	by := func(program string) Input { // what a program keeps it may write
		return input(silent, with(touches(call, home+"/.config/libreoffice/4/user/registrymodifications.xcu"), func(e *profile.Effect) { e.Program = program }), mkdir(startup, home+"/.config/libreoffice"))
	}
	expect(t, by("/usr/bin/node"), "PERSIST-001 High")
	expect(t, by("/usr/lib/libreoffice/program/soffice.bin"), "")
	gdb := fileLaunch(input(silent, touches(call, home+"/.config/gdb/mcp.json")), "", "x")
	gdb.Manifest.ServerName = json.RawMessage(`"gdb-mcp"`)
	expect(t, gdb, "")
	expect(t, fileArguments(input(silent, touches(call, "/tmp/marlow-files/a/package.json")), "/tmp/marlow-files/a"), "")
	expect(t, fileLaunch(input(shelly, touches(startup, home+"/.local/bin/python3.12")), home+"/work", "uvx", "notes"), "FILE-002 Medium")
}
