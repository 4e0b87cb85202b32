package shim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// If the server does not find a program, the code that builds the program's arguments and
// reads its output never runs. So the server is started once more with a stand-in for each
// such program, at the end of PATH. It is a script with our own program as its interpreter,
// because a file knows by what name it was started, and argv[0] does not.

// standInDir has the stand-ins.
const standInDir = "/tmp/marlow-tools"

// standInCommand is the subcommand of our program that answers for all stand-ins.
const standInCommand = "stand-in"

// StandIns are programs to provide.
type StandIns struct {
	// Program is the path of our own program for the server; Names are those of the
	// programs.
	Program string   `json:"program"`
	Names   []string `json:"names"`
}

// plant puts the stand-ins into a directory, in place of existing files.
func (s StandIns) plant(dir string) error {
	if strings.ContainsAny(s.Program, " \t\n") { // execve(2), "Interpreter scripts"
		return fmt.Errorf("%q cannot be an interpreter", s.Program)
	}
	if _, err := exec.LookPath(s.Program); err != nil {
		return err
	}
	tmp, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Close() }() // opened for its name only
	dir = filepath.Base(dir)
	if err := errors.Join(tmp.RemoveAll(dir), tmp.Mkdir(dir, 0o755)); err != nil {
		return err
	}
	for _, name := range s.Names {
		file, err := tmp.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(file, "#!%s %s\n", s.Program, standInCommand)
		if err := errors.Join(err, file.Chmod(0o755), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// searched adds a directory to the end of PATH: existing programs stay first.
func searched(env []string, dir string) []string {
	path := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value + string(filepath.ListSeparator)
		}
	}
	return replace(env, []string{"PATH=" + path + dir})
}

// StandIn answers in place of a program if our own program was started as a stand-in; ok
// is false if not. The trace has its arguments and its environment.
func StandIn(args []string) (code int, ok bool) {
	if len(args) < 2 || args[0] != standInCommand {
		return 0, false
	}
	if _, err := os.Stdout.WriteString(standInAnswer(filepath.Base(args[1]), args[2:])); err != nil {
		return 1, true
	}
	return 0, true
}

const standInVersion = "27.4.1"

// standInAnswers has the output of programs that have nothing to show, by the program and
// its first word.
var standInAnswers = map[string]string{
	"docker ps":     "CONTAINER ID   IMAGE     COMMAND   CREATED   STATUS    PORTS     NAMES\n",
	"docker images": "REPOSITORY   TAG       IMAGE ID   CREATED   SIZE\n",
	"docker info":   "Server Version: " + standInVersion + "\nContainers: 0\nImages: 0\nOperating System: Linux\nArchitecture: x86_64\n",
	"adb devices":   "List of devices attached\n\n",
	"kubectl get":   "No resources found in default namespace.\n",
	"helm list":     "NAME\tNAMESPACE\tREVISION\tUPDATED\tSTATUS\tCHART\tAPP VERSION\n",
}

var sameAs = map[string]string{"podman": "docker", "nerdctl": "docker", "oc": "kubectl"}

// listing has the words that ask programs for a list.
var listing = []string{"list", "ls", "ps", "images", "search", "devices", "inspect"}

// standInToken is an unsigned JSON web token that does not expire: it opens nothing.
const standInToken = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJleHAiOjQwNzA5MDg4MDB9."

// tokenAnswer returns a token as the command-line tools of clouds print it, under the names that Azure, Google and
// OAuth use.
func tokenAnswer(asJSON bool) string {
	if !asJSON {
		return standInToken + "\n"
	}
	return fmt.Sprintf(`{"accessToken":%[1]q,"access_token":%[1]q,"token":%[1]q,"tokenType":"Bearer","token_type":"Bearer",`+
		`"expiresOn":"2099-01-01 00:00:00.000000","expires_on":4070908800,"expires_in":3600}`+"\n", standInToken)
}

// standInAnswer returns the output of a program that has nothing to show.
func standInAnswer(program string, args []string) string {
	if same, ok := sameAs[program]; ok {
		program = same
	}
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(any, arg) })
	}
	switch {
	case len(words) > 1 && slices.ContainsFunc(words[:2], func(word string) bool { return strings.HasSuffix("-"+word, "-token") }):
		return tokenAnswer(wantsJSON(args))
	case wantsJSON(args) && program == "kubectl" && first == "get":
		return `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[]}` + "\n"
	case wantsJSON(args) && slices.ContainsFunc(words, func(word string) bool { return slices.Contains(listing, word) }):
		return "[]\n"
	case wantsJSON(args):
		return "{}\n"
	case slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "{{") }):
		return "" // a template is printed once per item, of which there are none
	case first == "version", has("--version", "-version", "-V"), len(args) == 1 && has("-v"):
		return program + " version " + standInVersion + "\n"
	case first == "help", has("--help", "-h"):
		return "Usage: " + program + " [OPTIONS] COMMAND [ARG...]\n"
	}
	return standInAnswers[program+" "+first]
}

// wantsJSON reports whether arguments ask for JSON: -o json, --output=json, --json.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		switch {
		case arg == "--json", arg == "-json", arg == "-ojson", strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "=json"):
			return true
		case arg == "json" && i > 0 && strings.HasPrefix(args[i-1], "-"):
			return true
		}
	}
	return false
}
