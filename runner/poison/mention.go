package poison

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Some honest tools look for orders to a model, or have rules and instructions of their own. Their descriptions use the
// words of poisoned texts, but in the forms below, which order the model nothing.

var (
	// detects begin what a tool says that it looks for; urging is what others do to a model.
	detects = verbs("detects")
	urging  = words.SetOf("tell", "tells", "ask", "asks", "instruct", "instructs", "urge", "urges", "make", "makes", "order", "orders", "want", "wants", "get", "gets", "cause", "causes")
	// attempts are what others do, too: "prompts that try to override instructions".
	attempts = words.SetOf("try", "tries", "tried", "trying", "attempt", "attempts", "attempted", "attempting", "seek", "seeks", "seeking")
	// compared tell the rules of a rule book apart.
	compared  = words.SetOf("last", "later", "latter", "first", "second", "higher", "lower", "specific", "newer", "closer", "longer", "a", "each")
	ruleNouns = words.SetOf("rule", "rules", "value", "values", "setting", "settings", "directive", "directives", "entry", "entries", "selector", "selectors", "line", "lines")
	spokenTo  = words.SetOf("you", "your")
	partOf    = words.SetOf("of", "in", "from")
	// models are whom an order is for.
	models = words.SetOf("you", "your", "user", "users", "user's", "model", "model's", "assistant", "assistant's", "agent", "ai", "llm", "system", "conversation", "chat", "session")
)

// mentioned matches what a tool looks for: "finds sentences that tell the model to ignore its instructions".
func (s *sentence) mentioned(i int) bool {
	return s.any(i-2, i-1, attempts) || detects[s.text(0)] && s.any(i-6, i-1, urging) && !s.any(0, i+6, spokenTo)
}

// ownMatter matches what a tool says that it does to its own: "ignores earlier rules of the style sheet", "overrides its
// default prompt". object is the noun.
func (s *sentence) ownMatter(verb, object int) bool {
	if !s.ownVerb(verb) {
		return false
	}
	its := s.find(verb+1, object-1, func(i int) bool { return s.text(i) == "its" }) >= 0
	return its || partOf[s.text(object+1)] && s.text(object+2) != "" && !s.any(object+2, object+5, models)
}

// ownVerb reports whether a verb has the tool for its subject: it opens the sentence, or continues one that another such verb
// opens, in the third person.
func (s *sentence) ownVerb(verb int) bool {
	return thirdPerson(s.text(verb)) && (verb == 0 || thirdPerson(s.text(0)) && (s.text(verb-1) == "and" || s.text(verb-1) == "or"))
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
