package trace

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// SessionLookup is the Event.Program of all that a shell starts whose text looks up one variable of the desktop session
// in the environments of the user's processes, such as DISPLAY: nothing else of them passes.
const SessionLookup = "(look-up of the session)"

const (
	ofSession   = `(?:DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|XDG_(?:RUNTIME_DIR|SESSION_TYPE|SESSION_ID|CURRENT_DESKTOP|DATA_DIRS)|DESKTOP_SESSION)`
	ofProcesses = `/proc/(?:\{\}|\d+|self|\$\w+|\$\{\w+\}|N)/environ`
)

// The stages of such a pipeline: those that list processes or pass an environment on, the one that selects a variable
// in a line of its own, and those after it.
var (
	passes = lazyregexp.New(`^(?:(?:ps|pgrep|pidof|head|tail|tr|strings)(?: [\w\\'"= ,.:%-]*)?|cat ` + ofProcesses + `|xargs(?: -[\w{}]+| \d+)* cat ` + ofProcesses +
		`|(?:tr [\w\\'" -]+|strings)(?: <)? ?` + ofProcesses + `)$`)
	selects = lazyregexp.New(`^(?:[ef]?grep(?: -(?:[zaoshEwx]+|-text|-null-data|-max-count=\d+|z?a?m ?\d+))* ['"]?\^` + ofSession + `=['"]?|sed -z?n ['"]s/\^` + ofSession + `=//p['"])(?: ` + ofProcesses + `)?$`)
	after   = lazyregexp.New(`^(?:(?:cut|head|tail|tr|sort|uniq)(?: [\w\\'"= ,.:-]*)?|sed(?: -[neE])? ['"]s/\^?` + ofSession + `=//p?['"])$`)
	// byZero matches the options by which grep and sed split variables themselves.
	byZero = lazyregexp.New(` -(?:[a-zE]*z|-null-data\b)`)
	// expanded are words that a shell replaces by ids of users and processes, silenced what hides errors.
	expanded = lazyregexp.New(`\$\((?:id -u|whoami|(?:pgrep|pidof) [\w $-]+)\)|\$(?:USER|UID)\b`)
	silenced = lazyregexp.New(`\s*2>\s*/dev/null`)
)

// Altered begins the Event.Program of a program that the server had load other code: it is not what its path says.
const Altered = "(altered) "

// started records a program that the process executes, and its arguments, which may be cut. env is new in its environment.
func (p *process) started(program string, argv []string, cut bool, env []string) {
	altered := slices.ContainsFunc(env, alters)
	if altered {
		p.program = Altered + p.program
	}
	p.lookup = p.lookup || !cut && !altered && looksUpSession(program, argv)
}

// alters reports whether a variable has every program, or a shell, load other code.
func alters(variable string) bool {
	name, value, _ := strings.Cut(variable, "=")
	return loading.MatchString(name) && environ.Loads(name, value) != ""
}

var loading = lazyregexp.New(`^(?:LD_.*|GCONV_PATH|LOCPATH|ENV|BASH.*|SHELLOPTS|PS4|PROMPT_COMMAND)$`)

// shells are the programs that a look-up may run in. They are known by their paths, because argv[0] can be anything.
var shells = lazyregexp.New(`^(?:/usr)?/bin/(?:sh|bash|dash|zsh|ash|busybox)$`)

// looksUpSession reports whether a program is a shell that only does that.
func looksUpSession(program string, argv []string) bool {
	if !shells.MatchString(program) || len(argv) != 3 || argv[1] != "-c" || !strings.HasSuffix(argv[0], "sh") || !strings.Contains(argv[2], "environ") {
		return false
	}
	text := expanded.ReplaceAllLiteralString(silenced.ReplaceAllLiteralString(argv[2], ""), "N")
	return !strings.ContainsAny(text, ";&`>\n()") && selectsOne(strings.Split(text, "|"))
}

// selectsOne reports whether the stages of a pipeline let only one variable of the session pass.
func selectsOne(stages []string) bool {
	apart, selected := false, false // whether the variables are on lines of their own
	for _, stage := range stages {
		stage = strings.TrimSpace(stage)
		switch {
		case selected && after.MatchString(stage):
		case !selected && selects.MatchString(stage) && (apart || byZero.MatchString(stage)):
			selected = true
		case !selected && passes.MatchString(stage):
			apart = apart || strings.HasPrefix(stage, "tr ") || strings.HasPrefix(stage, "strings")
		default:
			return false
		}
	}
	return selected
}
