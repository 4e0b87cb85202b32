package attack

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Taken is an accepted call of a tool that no list has.
type Taken struct {
	Name string
	// Answer is the beginning of the result.
	Answer string
}

const (
	maxUnlisted = 112 // names that are known before
	maxNamed    = 48  // names in the server's texts
)

// leftIn are names of developers' tools that may be left in a server.
var leftIn = []string{
	"debug", "debug_info", "_debug", "__debug__", "admin", "admin_panel", "internal", "_internal", "test", "backdoor", "secret", "hidden",
	"exec", "execute", "execute_command", "run_command", "run", "command", "cmd", "shell", "run_shell", "bash", "system", "eval", "evaluate",
	"execute_code", "run_code", "python", "query", "sql", "execute_sql", "raw_query", "dump", "dump_env", "get_env", "env", "environment",
	"get_config", "config", "dump_config", "get_secrets", "get_credentials", "get_token", "read_file", "write_file", "delete_file", "list_users", "get_flag",
	"status", "diagnostics", "system_info",
}

// Unlisted returns the names to call, those in the server's own code first.
func Unlisted(code []string) []string {
	all := slices.Clone(code)
	for _, name := range leftIn {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all[:min(len(all), maxUnlisted)]
}

// toolLike matches possible names of tools in a text, such as an error that lists the existing ones.
var toolLike = lazyregexp.New(`\b[A-Za-z][A-Za-z0-9]{0,31}(?:[_-][A-Za-z0-9]{1,31}){1,5}\b`)

// NamedIn returns the possible names of tools in a text, each once.
func NamedIn(text string) (names []string) {
	for _, name := range toolLike.FindAllString(text, maxNamed) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Refusal is a server's answer to the call of a missing tool, without the name.
type Refusal string

// RefusalOf makes one of an answer to the call of a name.
func RefusalOf(name, answer string) Refusal {
	return Refusal(strings.ReplaceAll(answer, name, ""))
}

// Usual returns arguments for a tool with an unknown schema: what tools run, read or look up.
func Usual(m inputs.Mark) json.RawMessage {
	all := map[string]string{}
	for value, names := range map[string][]string{
		"echo " + m.ID():            {"command", "cmd", "script", "args"},
		"7 * 191":                   {"code", "expression"},
		"SELECT 1":                  {"query", "sql"},
		"/etc/hostname":             {"path", "file", "filename", "file_path"},
		"https://" + m.Host() + "/": {"url"},
		m.ID():                      {"name", "key", "id", "text", "input", "data", "value", "message", "content", "action", "user", "username", "token"},
	} {
		for _, name := range names {
			all[name] = value
		}
	}
	arguments, _ := json.Marshal(all) // of strings: no error
	return arguments
}
