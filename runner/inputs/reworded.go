package inputs

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// sentenceForm matches what Mark.Text writes, wherever it stands.
var sentenceForm = lazyregexp.New(`A short note about [a-z ]+?(?: \(` + Word + `-c\d+\))?\.`)

// Reworded returns the arguments of tools with drawn sentences in place of the made-up ones, because a server whose
// author has read this package knows those.
func Reworded(arguments map[string]json.RawMessage, draw *rand.Rand) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(arguments))
	for name, raw := range arguments {
		all[name] = json.RawMessage(sentenceForm.ReplaceAllStringFunc(string(raw), func(string) string { return sentence(draw) }))
	}
	return all
}

// Respoken returns arguments with a drawn sentence in place of each text of three words or more, except commands and
// code; false if there is none.
func Respoken(arguments json.RawMessage, draw *rand.Rand) (respoken json.RawMessage, changed bool) {
	all, _ := Decode(arguments).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if text, _ := all[name].(string); strings.Count(text, " ") > 1 && !Commands(name) {
			all[name], changed = sentence(draw), true
		}
	}
	raw, err := json.Marshal(all)
	return raw, changed && err == nil
}

// sentence draws one of some thousand sentences shorter than the shortest that Mark.Text writes, 33 bytes.
func sentence(draw *rand.Rand) string {
	of := func(words []string) string { return words[draw.IntN(len(words))] }
	return of(requests) + " " + of(people) + " about " + of(matters) + "."
}

var (
	requests = strings.Fields("Ask Call Email Remind Tell Text Thank Warn")
	people   = strings.Fields("Amir Anna Ben Carla Chloe David Elena Emma Farid Hana Ines Jack Jonas Julia Kemal Laura Leo Lucy Marta Mei Nils Nora Olga Omar Paul Priya Rosa Sam Tariq Tom Vera Yuki")
	matters  = strings.Split("the rent,lunch,the bill,the car,a refund,the keys,the trip,dinner,the roof,a loan,the dog,new shoes,the party,the lease,her book,his visa,the news,the tax,a ticket,the boat,the order,the bike,a gift,the desk", ",")
)
