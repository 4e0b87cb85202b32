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

// A program that the server looks for and does not find has code paths of its own behind
// it: the code that builds its arguments, and that reads what it prints. So the server is
// started once more with a stand-in in place of each such program, at the end of PATH. It
// is a script with our own program as its interpreter, for a file can tell by what name it
// was started, and argv[0] cannot.

// standInDir is where stand-ins lie.
const standInDir = "/tmp/marlow-tools"

// standInCommand is the subcommand of our program that answers for all of them.
const standInCommand = "stand-in"

// StandIns are programs that are to be there.
type StandIns struct {
	// Program is the path of our own program as the server sees it, Names are those of
	// the programs.
	Program string   `json:"program"`
	Names   []string `json:"names"`
}

// plant puts the stand-ins into a directory, in place of what is there.
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

// searched adds standInDir to the end of PATH: what is there without it stays first.
func searched(env []string) []string {
	path := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value + string(filepath.ListSeparator)
		}
	}
	return replace(env, []string{"PATH=" + path + standInDir})
}

// StandIn answers in place of a program when our own program was started as one; ok is
// false when it was not. Its arguments and its environment are in the trace.
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

// standInAnswers has what programs print when they have nothing to show, by the program
// and its first word.
var standInAnswers = map[string]string{
	"docker ps":     "CONTAINER ID   IMAGE     COMMAND   CREATED   STATUS    PORTS     NAMES\n",
	"docker images": "REPOSITORY   TAG       IMAGE ID   CREATED   SIZE\n",
	"docker info":   "Server Version: " + standInVersion + "\nContainers: 0\nImages: 0\nOperating System: Linux\nArchitecture: x86_64\n",
	"adb devices":   "List of devices attached\n\n",
	"kubectl get":   "No resources found in default namespace.\n",
	"helm list":     "NAME\tNAMESPACE\tREVISION\tUPDATED\tSTATUS\tCHART\tAPP VERSION\n",
}

var sameAs = map[string]string{"podman": "docker", "nerdctl": "docker", "oc": "kubectl"}

// listing are the words by which programs are asked for all that there is of something.
var listing = []string{"list", "ls", "ps", "images", "search", "devices", "inspect"}

// standInToken is an unsigned JSON web token that does not expire: it opens nothing.
const standInToken = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJleHAiOjQwNzA5MDg4MDB9."

// tokenAnswer returns what the command-line tool of a cloud prints when it is asked for a token, under the names that
// Azure, Google and OAuth use.
func tokenAnswer(asJSON bool) string {
	if !asJSON {
		return standInToken + "\n"
	}
	return fmt.Sprintf(`{"accessToken":%[1]q,"access_token":%[1]q,"token":%[1]q,"tokenType":"Bearer","token_type":"Bearer",`+
		`"expiresOn":"2099-01-01 00:00:00.000000","expires_on":4070908800,"expires_in":3600}`+"\n", standInToken)
}

// standInAnswer returns what a program prints that has nothing to show.
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
		return "" // a template that is printed for each of nothing
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
