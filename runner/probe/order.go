package probe

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// effect says what a tool most likely does, by its name and hint. It only decides
// the order of the calls: nothing is believed.
type effect int

const (
	reads effect = iota
	creates
	changes
	destroys
)

// rank orders the calls of a round: reads before writes, what makes things before
// what wants them, and last what takes them away.
type rank struct {
	effect effect
	// wants is how many arguments have to be given: a list wants none, and what it
	// lists is what others want.
	wants int
}

func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(a.effect, b.effect), cmp.Compare(a.wants, b.wants))
}

// verbs are the words in names that tell what a tool does.
var verbs = map[effect][]string{
	reads: {"list", "get", "search", "read", "find", "query", "show", "describe", "fetch", "view", "count", "check", "lookup",
		"status", "info", "browse", "explore", "inspect", "help", "ls", "cat", "tree", "stat", "head", "tail", "print", "explain"},
	creates: {"create", "add", "new", "insert", "open", "start", "init", "register", "write", "make", "put", "save", "store",
		"upload", "import", "generate", "post", "begin", "connect", "clone", "allocate"},
	changes: {"update", "set", "edit", "append", "move", "rename", "modify", "patch", "replace", "toggle", "change", "merge",
		"assign", "copy", "push", "send", "run", "execute", "exec"},
	destroys: {"delete", "remove", "reset", "shutdown", "drop", "clear", "purge", "destroy", "kill", "stop", "terminate",
		"uninstall", "wipe", "close", "exit", "quit", "restart", "revoke", "cancel", "disconnect", "logout", "truncate",
		"erase", "rm", "unlink", "reboot", "abort", "end", "disable", "unregister", "flush", "forget"},
}

// effects are the verbs by word.
var effects = func() map[string]effect {
	all := map[string]effect{}
	for of, words := range verbs {
		for _, word := range words {
			all[word] = of
		}
	}
	return all
}()

// rankOf is the rank of an item.
func rankOf(kind report.CapabilityKind, item manifest.Item) rank {
	switch kind {
	case report.CapabilityTool:
		schema := manifest.Object(item.Members["inputSchema"])
		required, _ := array(schema["required"])
		return rank{effectOf(item), len(required)}
	case report.CapabilityPrompt:
		return rank{reads, len(promptArguments(item.Members["arguments"]))}
	case report.CapabilityResourceTemplate:
		return rank{reads, len(templateVariables(item.Name))}
	default:
		return rank{reads, 0}
	}
}

// own are the words of what a server itself works by. What sets that may shut out
// all that comes after it: directories that are allowed, commands that are not.
var own = []string{"config", "configuration", "settings", "policy", "permission", "permissions"}

// effectOf goes by the first word of a name that is a verb: what "delete_list"
// does is not to list. A tool that only reads by its hint does so unless its verb
// takes something away.
func effectOf(item manifest.Item) effect {
	hinted := readOnlyHinted(item)
	named := words(item.Name)
	for _, word := range named {
		of, known := effects[word]
		switch {
		case !known:
		case hinted && of != destroys:
			return reads
		case of > reads && slices.ContainsFunc(named, func(word string) bool { return slices.Contains(own, word) }):
			return destroys
		default:
			return of
		}
	}
	if hinted {
		return reads
	}
	return creates
}

// words are the words of a name, in lower case: of "deleteNote", "delete-note",
// "DeleteNote" and "notes.delete_note".
func words(name string) []string {
	var all []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			all = append(all, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			fallthrough
		default:
			word.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return all
}

// ordered are the targets in the order of their calls; those of one rank in that
// of the manifest.
func ordered(targets []*target) []*target {
	sorted := slices.Clone(targets)
	slices.SortStableFunc(sorted, func(a, b *target) int { return a.rank.compare(b.rank) })
	return sorted
}
