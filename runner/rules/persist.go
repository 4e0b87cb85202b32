package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// lasting is a kind of file that something runs or obeys unasked.
type lasting struct {
	what string
	// bases are names of files, below (with slashes) parts of paths.
	bases, below []string
	// topics are the words by which a declaration speaks of it.
	topics []string
}

var (
	unitTopics  = []string{"systemd", "systemctl", "daemon", "daemons"}
	agentTopics = []string{"claude", "cursor ide", "cursor editor", "cursor rules", "cursor config", "cursor settings", "cursor agent",
		"vscode", "windsurf", "gemini", "codex"}
)

var lastings = []lasting{
	{what: "a shell runs it at every start",
		bases: []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile",
			".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".xprofile", ".xinitrc", ".xsessionrc", ".pam_environment"},
		below:  []string{"/.config/fish/", "/.config/environment.d/", "/etc/profile", "/etc/bash.bashrc", "/etc/zsh/", "/etc/environment"},
		topics: []string{"bash", "bashrc", "zsh", "fish", "shell", "dotfile", "dotfiles"}},
	{what: "cron runs it", bases: []string{"crontab"}, below: []string{"/etc/cron", "/var/spool/cron/", "/var/spool/at/"},
		topics: []string{"cron", "crontab", "scheduler"}},
	{what: "the desktop runs it at login", below: []string{"/.config/autostart/", "/etc/xdg/autostart/", "/.config/autostart-scripts/"},
		topics: []string{"autostart"}},
	{what: "it says who may log in by SSH", bases: []string{"authorized_keys", "authorized_keys2"}, below: []string{"/.ssh/rc", "/.ssh/environment"},
		topics: places.SSHTopics},
	{what: "systemd runs it", below: []string{"/systemd/user/", "/systemd/system/", "/etc/init.d/", "/etc/rc.local", "/etc/rc.d/"}, topics: unitTopics},
	{what: "git runs it", below: []string{"/.git/hooks/", "/.githooks/", "/.husky/"}, topics: []string{"git", "hook", "hooks", "husky"}},
	{what: "every program loads what it names", below: []string{"/etc/ld.so.preload", "/etc/ld.so.conf"}},
	{what: "every Python runs it", bases: []string{"sitecustomize.py", "usercustomize.py"}, topics: []string{"python", "pip"}},
	{what: "an agent starts what it names", bases: []string{".claude.json", "claude_desktop_config.json", ".mcp.json"},
		below: []string{"/.claude/settings", "/.claude/commands/", "/.cursor/mcp.json", "/.vscode/tasks.json", "/.vscode/mcp.json",
			"/.codeium/windsurf/mcp_config.json", "/.gemini/settings.json", "/.codex/config.toml", "/Claude/claude_desktop_config.json"}, topics: agentTopics},
}

// lastingAt finds what kind of file a path is.
func lastingAt(name string) (lasting, bool) {
	base := path.Base(name)
	if strings.HasSuffix(base, ".sample") || strings.Contains(name, "/node_modules/") {
		return lasting{}, false
	}
	for _, l := range lastings {
		if slices.Contains(l.bases, base) || slices.ContainsFunc(l.below, func(part string) bool { return strings.Contains(name, part) }) {
			return l, true
		}
	}
	return lasting{}, false
}

func findPersistence(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		l, ok := lastingAt(e.Path)
		answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseWrite, Path: e.Path})
		d.exceeded = answer == scope.Exceeded
		if !ok || answer == scope.Allowed && clause.Source == report.ScopeSpec ||
			!d.exceeded && speaks(in.Scope.Covering(e.Capability), l.topics) {
			return false
		}
		d.severity, d.object = report.SeverityHigh, e.Path
		why := "nothing in its declaration speaks of that"
		if d.exceeded {
			why = beyond(clause)
		}
		d.message = sentence("%s changed %s: %s, and %s", subject(e), clean(e.Path, 256), l.what, why)
		return true
	}, profile.KindWrite)
}
