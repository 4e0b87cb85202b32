package inputs

import (
	"slices"
	"strings"
)

// The audit itself causes the effects of commands and code that it hands in. So it tries none that
// another tool has shown, and none that discloses secrets. Nor does it end a process that a tool has
// listed, which may be the server's own.

var programWords = []string{"command", "commands", "cmd", "code", "script", "shell", "program", "argv", "args", "stdin", "exec"}

// isProgram reports whether a place takes a command or code.
func isProgram(n *node) bool { return has(split(n.name), programWords) }

// Commands reports whether a field of arguments ("cmd", "options.args[0]") takes a command or code.
func Commands(field string) bool {
	name := field[strings.LastIndexByte(field, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return has(split(name), programWords)
}

// IsCode reports whether a field of arguments asks for code in some language.
func IsCode(field string) bool {
	return has(split(field), []string{"code", "script", "snippet", "source", "stdin", "program"})
}

// isPID reports whether a place takes the number of a process, ends whether the tool ends that.
func isPID(n *node) bool { return has(split(n.name), []string{"pid", "pids"}) }

func (f *Form) ends(n *node) bool {
	return isPID(n) && has(f.about, []string{"kill", "terminate", "stop", "end", "signal", "interrupt"})
}

// noPID is above all numbers of processes, which end at 1 << 22 (proc(5), pid_max).
const noPID = 1 << 30

// bare are the words of commands and code that show the environment, or are about
// accounts, keys, schedules and the machine itself.
var bare = words("env printenv environ getenv export declare compgen set history " +
	"passwd shadow gshadow chpasswd chage su sudo doas login useradd usermod groupadd visudo vipw " +
	"ssh scp sftp gpg crontab systemctl mount mkfs shutdown reboot halt poweroff")

// clients are programs that use an account. They may run if the tool itself gives such a command as an example.
var clients = words("gh aws az gcloud kubectl helm docker podman")

// baring reports whether a command, or code, may reveal secrets. shown: the tool itself gives it as an example.
func baring(text string, shown bool) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }),
		func(word string) bool { return bare[word] || !shown && clients[word] })
}
