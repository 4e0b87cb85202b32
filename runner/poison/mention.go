package poison

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Tools that look for orders, and tools that have rules and instructions of their own, speak of what a poisoned text
// orders. These are the forms in which they do, none of which orders the model anything.

var (
	// detects begin what a tool says that it looks for; urging is what others do to a model.
	detects = verbs("detects")
	urging  = words.SetOf("tell", "tells", "ask", "asks", "instruct", "instructs", "urge", "urges", "make", "makes", "order", "orders", "want", "wants", "get", "gets", "cause", "causes")
	// attempts are what others do, too: "prompts that try to override instructions".
	attempts = words.SetOf("try", "tries", "tried", "trying", "attempt", "attempts", "attempted", "attempting", "seek", "seeks", "seeking")
	// compared tell the rules of a rule book apart.
	compared  = words.SetOf("last", "later", "latter", "first", "second", "higher", "lower", "specific", "newer", "closer", "longer", "a", "each")
	ruleNouns = words.SetOf("rule", "rules", "value", "values", "setting", "settings", "directive", "directives", "entry", "entries", "selector", "selectors", "line", "lines")
	// models are whom an order is for.
	models = words.SetOf("you", "your", "user", "users", "user's", "model", "model's", "assistant", "assistant's", "agent", "ai", "llm", "system", "conversation", "chat", "session")
)

// mentioned matches what a tool looks for: "finds sentences that tell the model to ignore its instructions".
func (s *sentence) mentioned(i int) bool {
	return s.any(i-2, i-1, attempts) || detects[s.text(0)] && s.any(i-6, i-1, urging) && !s.any(0, i+6, words.SetOf("you", "your"))
}

// ownMatter matches what a tool says that it does to its own: "ignores earlier rules of the style sheet", "overrides its
// default prompt". object is the noun.
func (s *sentence) ownMatter(verb, object int) bool {
	if !s.ownVerb(verb) {
		return false
	}
	if s.any(verb+1, object-1, words.SetOf("its")) {
		return true
	}
	of := object + 1
	if !s.any(of, of, words.SetOf("of", "in", "from")) {
		return false
	}
	return !s.any(of+1, of+4, models) && s.text(of+1) != ""
}

// ownVerb reports whether a verb has the tool for its subject: it opens the sentence, or continues one that another such verb
// opens, in the third person.
func (s *sentence) ownVerb(verb int) bool {
	return thirdPerson(s.text(verb)) && (verb == 0 || thirdPerson(s.text(0)) && s.any(verb-1, verb-1, words.SetOf("and", "or")))
}

func thirdPerson(verb string) bool {
	return strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss")
}

// ruleBook matches the order among the rules of a file: "a rule with a higher number overrides those with a lower one".
func (s *sentence) ruleBook(verb, object int) bool {
	return ruleNouns[s.text(object)] && s.any(0, verb-1, ruleNouns) && s.any(0, verb-1, compared) && !s.some(func(i int) bool { return models[s.text(i)] })
}

// does matches "does not notify" at the beginning of a sentence, which tells what the tool does.
func (s *sentence) does(verb int) bool { return verb == 2 && s.text(0) == "does" }
