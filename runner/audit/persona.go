package audit

import (
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// persona is the client that a launch says to be, with the environment that a server finds
// there: a server that looks for its victims finds in one launch what it looks for, and
// one that looks for an audit finds none. The zero value is our own client in a bare environment.
//
// Language and time zone differ only where no manifest is compared, for an honest server may
// advertise itself in the user's language.
type persona struct {
	// name and version are those of the client (clientInfo).
	name, version string
	// parent is the program of the client that starts servers.
	parent string
	// sockets: it is made with Node, which starts servers with socket pairs for their standard streams.
	sockets bool
	// env holds what the client sets in the environment of its servers ("NAME=value").
	env []string
}

// editor holds what a terminal of Visual Studio Code sets, and the editors made of it.
var editor = []string{
	"TERM_PROGRAM=vscode", "TERM_PROGRAM_VERSION=1.106.2", "VSCODE_PID=4127", "VSCODE_CRASH_REPORTER_PROCESS_TYPE=extensionHost",
	"VSCODE_L10N_BUNDLE_LOCATION=", "DISPLAY=:0", "XDG_SESSION_TYPE=x11", "XDG_CURRENT_DESKTOP=ubuntu:GNOME",
	"DESKTOP_SESSION=ubuntu", "XDG_RUNTIME_DIR=/run/user/1000", "COLORTERM=truecolor", "TERM=xterm-256color", "SHELL=/bin/zsh",
}

// The personas, by client. Their names are those that the clients give themselves. Where a server is exercised it is met by one
// that sets nothing in its environment, and by the name that the Python SDK gives a client which has none of its own: no
// server looks for that.
var (
	anyClient     = persona{name: "mcp", version: "0.1.0"}
	claudeDesktop = persona{"claude-ai", "0.1.0", "/usr/bin/claude", true, slices.Concat(editor, []string{
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "USER=alex", "LOGNAME=alex",
	})}
	cursorEditor = persona{"cursor-vscode", "1.0.0", "/usr/share/cursor/cursor", true, slices.Concat(editor, []string{
		"CURSOR_TRACE_ID=3f1c5d0e8a7b4c6d9e2f1a0b3c4d5e6f", "CURSOR_AGENT=1", "TZ=Europe/Berlin", "LANG=de_DE.UTF-8",
		"USER=m.schmidt", "LOGNAME=m.schmidt", "SSH_CONNECTION=192.0.2.7 52144 192.0.2.31 22", "KUBERNETES_SERVICE_HOST=10.96.0.1",
		"KUBERNETES_SERVICE_PORT=443", "npm_config_user_agent=npm/10.9.2 node/v22.14.0 linux x64 workspaces/false", "npm_lifecycle_event=npx", "npm_command=exec",
	})}
	visualStudioCode = persona{"Visual Studio Code", "1.106.2", "/usr/share/code/code", true, slices.Concat(editor, []string{
		"USER=jordan", "LOGNAME=jordan",
	})}
	windsurf = persona{"windsurf-client", "1.0.0", "/usr/bin/node", true, []string{"TERM_PROGRAM=vscode", "TZ=Asia/Tokyo", "LANG=ja_JP.UTF-8", "USER=haruka", "LOGNAME=haruka"}}
	zed      = persona{"Zed", "0.213.3", "/usr/libexec/zed-editor", false, []string{"TERM_PROGRAM=zed", "CI=true", "GITHUB_ACTIONS=true", "USER=runner", "LOGNAME=runner"}}
)

// unless is the environment without the variables that somebody has set.
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

// sockets reports whether the server's standard streams are socket pairs. They cannot be opened by name, as programs do that
// log to /dev/stderr, so that no launch has them that an audit cannot do without, and nothing that listens.
func (how launch) sockets(plan Plan) bool {
	return how.identity.sockets && !how.row().needed && !plan.listens()
}

// person reports whether the server runs as somebody who works at the machine. Where manifests are compared as a whole it is
// who it was, for an honest one may advertise its home.
func (how launch) person() bool {
	return how.identity.env != nil && !slices.Contains(asAWhole, how.moment)
}

// disguise makes the launch in which everything is called once by a client in an editor
// of somebody abroad, with a project open, in a night of the weekend. The client speaks the oldest revision of MCP,
// and declares no capabilities.
func disguise(plan Plan, how *launch, runs []observation) {
	callAgain(plan, how, runs)
	how.clock, how.project = weekend(time.Now()), true
	how.identity, how.revision = cursorEditor, transport.Revisions[0].Date
	how.untold = !networked(runs) // else its TLS connections would fail
}
