package places

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// installer has programs that make others run or obey something on their own, as an Obeyed file does.
type installer struct {
	programs []string
	// installs matches the arguments with which they do, joined by blanks; asks those with which they only show something.
	// Nil matches all and none, respectively.
	installs, asks *lazyregexp.Regexp
	Obeyed
}

var serviceTopics = append([]string{"service", "services", "unit", "units", "enable", "enables", "autostart"}, UnitTopics...)

var installers = []installer{
	{programs: []string{"crontab"}, asks: lazyregexp.New(`(?:^| )(?:-[lVTh]|--help|--version)(?: |$)`), Obeyed: Obeyed{
		What: "cron runs what it was given", Topics: []string{"crontab", "schedule", "schedules", "scheduled", "scheduler", "scheduling", "job", "jobs"}}},
	{programs: []string{"at", "batch"}, asks: lazyregexp.New(`(?:^| )-[lrdcV]`), Obeyed: Obeyed{
		What: "what it was given runs later", Topics: []string{"schedule", "schedules", "scheduled", "scheduler", "scheduling", "job", "jobs", "reminder", "reminders"}}},
	{programs: []string{"systemctl"}, installs: lazyregexp.New(`(?:^| )(?:re)?(?:enable|link|edit|preset|unmask|add-wants|add-requires|set-default|set-environment|import-environment)(?: |$)`),
		Obeyed: Obeyed{What: "systemd runs or obeys it from then on", Topics: serviceTopics}},
	{programs: []string{"loginctl"}, installs: lazyregexp.New(`(?:^| )enable-linger(?: |$)`), Obeyed: Obeyed{What: "the user's units run without a login from then on", Topics: serviceTopics}},
	{programs: []string{"systemd-run"}, installs: lazyregexp.New(`(?:^| )--(?:on-|timer-property)`), Obeyed: Obeyed{What: "systemd runs it later",
		Topics: append([]string{"schedule", "schedules", "scheduled", "timer", "timers"}, serviceTopics...)}},
	{programs: []string{"launchctl"}, installs: lazyregexp.New(`^(?:load|bootstrap|enable|submit|setenv|config)(?: |$)`), Obeyed: Obeyed{What: "launchd runs or obeys it from then on",
		Topics: append([]string{"launchd", "launchctl", "launchagent"}, serviceTopics...)}},
	{programs: []string{"update-rc.d", "chkconfig", "rc-update", "insserv"}, installs: lazyregexp.New(`(?:^| )(?:defaults|enable|on|--add|add)(?: |$)`),
		Obeyed: Obeyed{What: "the system starts it at boot", Topics: serviceTopics}},
	{programs: []string{"gsettings", "dconf", "xdg-mime", "xdg-settings", "update-alternatives", "kwriteconfig5", "kwriteconfig6"},
		installs: lazyregexp.New(`(?:^| )(?:set|write|load|default|install|--install|--set|--file)(?: |$)`), asks: lazyregexp.New(`(?:^| )(?:query|get|read)(?: |$)`),
		Obeyed: Obeyed{What: "the desktop or the system obeys it from then on", Topics: []string{"desktop", "gnome", "kde", "dconf", "gsettings", "xdg", "setting", "settings",
			"preference", "preferences", "theme", "wallpaper", "default application", "default browser", "alternatives"}}},
	{programs: []string{"claude", "codex", "gemini", "code", "cursor", "windsurf", "code-insiders", "codium"}, installs: lazyregexp.New(`(?:^| )(?:mcp add(?:-json)?|--add-mcp|--install-extension|plugin install)(?: |$)`),
		Obeyed: Obeyed{What: "an agent or an editor starts it from then on", Topics: append([]string{"extension", "extensions"}, agentTopics...)}},
	{programs: []string{"chsh", "usermod", "useradd", "adduser", "chpasswd", "visudo"}, asks: lazyregexp.New(`(?:^| )(?:-l|-h|--list-shells|--help|--version)(?: |$)`),
		Obeyed: Obeyed{What: "the system obeys it at every login", Topics: []string{"account", "accounts", "login", "user management", "user accounts", "add user", "create user"}}},
}

// InstalledBy returns what a command line makes others run or obey on their own; false if it does nothing of the kind.
func InstalledBy(argv []string) (Obeyed, bool) {
	if len(argv) == 0 {
		return Obeyed{}, false
	}
	program, arguments := path.Base(argv[0]), strings.Join(argv[1:], " ")
	for _, i := range installers {
		if slices.Contains(i.programs, program) && (i.installs == nil || i.installs.MatchString(arguments)) && (i.asks == nil || !i.asks.MatchString(arguments)) {
			return i.Obeyed, true
		}
	}
	return Obeyed{}, false
}
