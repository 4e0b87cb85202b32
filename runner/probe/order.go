package probe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// effect says what a tool most likely does, by its name and hint. It only decides
// the order of the calls: nothing is believed.
type effect int

const (
	reads effect = iota
	creates
	changes
	moves
	destroys
	ends // what other tools need: a connection, a session, the server
)

// rank orders the calls of a round: reads before writes, what makes things before
// what wants them, and last what takes them away, be it to another name.
// Of what takes things away, that comes first which has to be told the most: the index of a
// table goes before the table, and that before the database.
type rank struct {
	effect effect
	// wants is how many arguments have to be given: a list wants none, and shows
	// what others want.
	wants int
}

func (a rank) compare(b rank) int {
	wants := cmp.Compare(a.wants, b.wants)
	if a.effect == destroys {
		wants = -wants
	}
	return cmp.Or(cmp.Compare(a.effect, b.effect), wants)
}

// stages are the parts of a round: nothing of a later one is called while there is something new to call in
// an earlier one.
var stages = [][2]effect{{reads, changes}, {moves, destroys}, {ends, ends}}

// effects are the verbs in names that show what a tool does.
var effects = func() map[string]effect {
	lists := words.Read[struct{ Reads, Creates, Changes, Moves, Destroys, Ends []string }]("probe")
	all := map[string]effect{}
	for of, verbs := range [][]string{reads: lists.Reads, creates: lists.Creates, changes: lists.Changes, moves: lists.Moves, destroys: lists.Destroys, ends: lists.Ends} {
		for _, verb := range verbs {
			all[verb] = effect(of)
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
	named := words.OfName(item.Name)
	for _, word := range named {
		of, known := effects[strings.TrimRight(word, "0123456789")]
		switch {
		case !known:
		case hinted && of < moves:
			return reads
		case of > reads && slices.ContainsFunc(named, func(word string) bool { return slices.Contains(own, word) }):
			return ends
		default:
			return of
		}
	}
	if hinted {
		return reads
	}
	return creates
}

// ordered are the targets in the order of their calls; those of one rank in that
// of the manifest.
func ordered(targets []*target) []*target {
	sorted := slices.Clone(targets)
	slices.SortStableFunc(sorted, func(a, b *target) int { return a.rank.compare(b.rank) })
	return sorted
}
