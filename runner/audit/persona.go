package audit

import (
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/counters"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// persona is the client of a launch, with the environment that it gives to servers. A server that looks for victims
// finds them in some launch, and one that looks for an audit finds no sign of it. The zero value is our own client in
// a bare environment.
//
// Language and time zone differ only in launches whose manifest is not compared, because an honest server may
// advertise itself in the user's language.
type persona struct {
	// name and version of the client, and the title and the web site that some tell besides (clientInfo).
	name, version, title, site string
	// parent is the client's program that starts servers.
	parent string
	// sockets is set if the client is made with Node, which uses socket pairs for the standard streams of servers.
	sockets bool
	// parting are the signals by which the client ends servers whose stdin is open, one after the other; nil for SIGTERM.
	parting []syscall.Signal
	// env has the variables that the client sets for its servers ("NAME=value").
	env []string
	// meta has the members of _meta of its calls.
	meta []probe.Meta
}

// editor has the variables of a terminal in Visual Studio Code and the editors based on it.
var editor = []string{
	"TERM_PROGRAM=vscode", "TERM_PROGRAM_VERSION=1.106.2", "VSCODE_PID=4127", "VSCODE_CRASH_REPORTER_PROCESS_TYPE=extensionHost",
	"VSCODE_L10N_BUNDLE_LOCATION=", "DISPLAY=:0", "XDG_SESSION_TYPE=x11", "XDG_CURRENT_DESKTOP=ubuntu:GNOME",
	"DESKTOP_SESSION=ubuntu", "XDG_RUNTIME_DIR=" + places.RuntimeDir, "COLORTERM=truecolor", "TERM=xterm-256color", "SHELL=/bin/zsh",
}

// session has the variables of a session of a desktop. Nobody listens on its sockets, which an honest server may try:
// launches whose behavior is compared most closely are without them.
var session = []string{
	"SSH_AUTH_SOCK=" + places.RuntimeDir + "/keyring/ssh", "DBUS_SESSION_BUS_ADDRESS=unix:path=" + places.RuntimeDir + "/bus", "WAYLAND_DISPLAY=wayland-0",
	"XDG_SESSION_ID=3", "XDG_SESSION_CLASS=user", "GNOME_DESKTOP_SESSION_ID=this-is-deprecated", "GNOME_KEYRING_CONTROL=" + places.RuntimeDir + "/keyring",
	"XDG_DATA_DIRS=/usr/share/ubuntu:/usr/local/share:/usr/share:/var/lib/snapd/desktop", "XDG_MENU_PREFIX=gnome-", "GPG_AGENT_INFO=" + places.RuntimeDir + "/gnupg/S.gpg-agent:0:1",
}

// pipeline has the variables of a job that builds and tests something.
var pipeline = []string{
	"CI=true", "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=11844026531", "GITHUB_RUN_NUMBER=214", "GITHUB_JOB=test", "GITHUB_WORKFLOW=ci", "GITHUB_EVENT_NAME=push",
	"RUNNER_OS=Linux", "RUNNER_NAME=runner-7", "CI_JOB_ID=8814027", "BUILD_ID=214", "BUILD_NUMBER=214",
}

// What Visual Studio Code and Claude Code tell servers of a call.
var (
	ofChat = []probe.Meta{
		{Key: "vscode.conversationId", Form: uuidForm, Stays: true}, {Key: "vscode.requestId", Form: "request_" + uuidForm},
	}
	ofToolUse = []probe.Meta{{Key: "claudecode/toolUseId", Form: "toolu_01wwwwwwwwwwwwwwwwwwwwww"}}
)

const uuidForm = "xxxxxxxx-xxxx-4xxx-9xxx-xxxxxxxxxxxx"

// The personas by client, with the names that these clients use. The exercise uses a client without variables, under
// the default name of the Python SDK, which no server looks for.
var (
	anyClient     = persona{name: "mcp", version: "0.1.0"}
	claudeDesktop = persona{name: "claude-ai", version: "0.1.0", parent: "/usr/bin/claude", sockets: true, parting: []syscall.Signal{syscall.SIGKILL}, env: slices.Concat(editor, []string{
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "USER=alex", "LOGNAME=alex",
	})}
	cursorEditor = persona{name: "cursor-vscode", version: "1.0.0", parent: "/usr/share/cursor/cursor", sockets: true, parting: []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}, env: slices.Concat(editor, session, []string{
		"CURSOR_TRACE_ID=3f1c5d0e8a7b4c6d9e2f1a0b3c4d5e6f", "CURSOR_AGENT=1", "TZ=Europe/Berlin", "LANG=de_DE.UTF-8",
		"USER=m.schmidt", "LOGNAME=m.schmidt", "SSH_CONNECTION=192.0.2.7 52144 192.0.2.31 22", "KUBERNETES_SERVICE_HOST=10.96.0.1",
		"KUBERNETES_SERVICE_PORT=443", "npm_config_user_agent=npm/10.9.2 node/v22.14.0 linux x64 workspaces/false", "npm_lifecycle_event=npx", "npm_command=exec",
	})}
	visualStudioCode = persona{name: "Visual Studio Code", version: "1.106.2", parent: "/usr/share/code/code", sockets: true, meta: ofChat, env: slices.Concat(editor, []string{
		"USER=jordan", "LOGNAME=jordan",
	})}
	windsurf   = persona{name: "windsurf-client", version: "1.0.0", parent: "/usr/bin/node", sockets: true, env: []string{"TERM_PROGRAM=vscode", "TZ=Europe/Paris", "LANG=fr_FR.UTF-8", "USER=camille", "LOGNAME=camille"}}
	claudeCode = persona{name: "claude-code", version: "2.0.51", title: "Claude Code", site: "https://claude.com/claude-code", parent: "/usr/bin/claude", parting: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, meta: ofToolUse, env: slices.Concat(session, []string{
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "TERM=xterm-256color", "COLORTERM=truecolor", "SHELL=/bin/bash",
		"TZ=America/New_York", "LANG=en_US.UTF-8", "LC_ALL=en_US.UTF-8", "USER=taylor", "LOGNAME=taylor",
	})}
	codex = persona{name: "codex-mcp-client", version: "0.63.0", title: "Codex", parent: "/usr/bin/codex", env: []string{
		"TERM=xterm-256color", "SHELL=/bin/zsh", "TZ=Asia/Tokyo", "LANG=ja_JP.UTF-8", "USER=haruka", "LOGNAME=haruka",
	}}
	zed = persona{name: "Zed", version: "0.213.3", parent: "/usr/libexec/zed-editor", env: slices.Concat(pipeline, []string{"TERM_PROGRAM=zed", "USER=runner", "LOGNAME=runner"})}
)

// in returns the persona in another time zone.
func (p persona) in(zone string) persona {
	p.env = slices.Clone(p.env)
	for i, variable := range p.env {
		if strings.HasPrefix(variable, "TZ=") {
			p.env[i] = "TZ=" + zone
		}
	}
	return p
}

// unless returns the environment without variables that are set already.
func (p persona) unless(taken map[string]string) []string {
	return slices.DeleteFunc(slices.Clone(p.env), func(variable string) bool {
		for name := range set([]string{variable}) {
			if _, found := taken[name]; found {
				return true
			}
		}
		return false
	})
}

// sockets reports whether the server's standard streams are socket pairs. Sockets cannot be opened by name, which
// programs do that log to /dev/stderr, so launches that an audit needs, and servers that listen, have pipes.
func (how launch) sockets(plan Plan) bool {
	return how.identity.sockets && !how.row().needed && !plan.listens()
}

// openProject is the directory below the home that the client has open. The decoys include a project there.
const openProject = "src/app"

// commonRevision of MCP is the one that most clients ask for.
const commonRevision = "2025-06-18"

// atHome prepares the launch that calls everything once, by a client in a terminal in America with a project of the
// user's open, on an afternoon in the middle of a month, or when the dates and hours in the server's code say. In other
// launches, the client's root is a temporary directory, and the revision of MCP the newest or the oldest. The client ends
// the server while its stdin is still open.
func atHome(plan Plan, how *launch, runs []observation) {
	callReworded(plan, how, runs)
	how.clock, how.identity, how.abrupt, how.revision = afternoon(time.Now()), claudeCode, true, commonRevision
	usual := time.Now().Add(how.clock.Forward).In(summerInNewYork)
	if then, found := exercised(runs).moments.Next(time.Now().AddDate(0, 0, 1), usual); found {
		how.clock, how.identity = trace.Clock{Forward: time.Until(then)}, claudeCode.in("Etc/UTC") // local dates are those of UTC
	}
	how.aged, how.favourite = longUsed(runs), 3
	if plan.Decoys.Home != "" {
		how.root = path.Join(plan.Decoys.Home, openProject)
	}
}

// summerInNewYork is the time zone of that launch.
var summerInNewYork = time.FixedZone("EDT", -4*60*60)

// longUsed returns the files in which the server counts, as they would be after long use.
func longUsed(runs []observation) []counters.File {
	var launches []*counters.Launch
	for _, o := range runs {
		if o.kept != nil {
			launches = append(launches, o.kept)
		}
	}
	return counters.Aged(launches)
}

// person reports whether the server runs as an ordinary user. Where whole manifests are compared, the user stays the
// same, because an honest server may advertise its home directory.
func (how launch) person() bool {
	return how.identity.env != nil && how.root == "" && !slices.Contains(asAWhole, how.moment)
}

// disguise prepares the launch that calls everything once, by a client in an editor abroad with an open project, in a
// weekend night. The client speaks the oldest revision of MCP and declares no capabilities. It ends the server while its
// stdin is still open.
func disguise(plan Plan, how *launch, runs []observation) {
	callReworded(plan, how, runs)
	how.clock, how.project, how.abrupt, how.aged = weekend(time.Now()), true, true, longUsed(runs)
	how.identity, how.revision, how.incapable = cursorEditor, transport.Revisions[0].Date, true
	how.favourite = 2
	how.untold = !networked(runs) // otherwise its TLS connections would fail
}
