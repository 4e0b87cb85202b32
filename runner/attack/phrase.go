package attack

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Sent is an HTTP request: its path with the query, the media type of its body, and the body.
type Sent struct {
	Target, Kind string
	Body         []byte
}

// Web is the protocol of a statement in a parameter or the body of an HTTP request, Directory that of
// an attribute that a filter of LDAP tests.
const (
	Web       = "http"
	Directory = "ldap"
)

// Phrases returns the statements with a mark in a request: in SQL, GraphQL or Cypher, or in the language of a
// service (JQL, SOQL, OData) if the name of the parameter says so. It leaves prose out.
func (s Sent) Phrases() (all []string) {
	take := func(name, text string) {
		if len(text) <= maxStatement && len(inputs.Marks([]byte(text))) > 0 && phrased(name, text) && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	form := func(encoded string) {
		values, _ := url.ParseQuery(encoded) // the part that can be parsed
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, text := range values[name] {
				take(name, text)
			}
		}
	}
	_, query, _ := strings.Cut(s.Target, "?")
	form(query)
	if inJSON := inputs.Decode(s.Body); inJSON != nil {
		eachMember(inJSON, "", 0, take)
		return all
	}
	if s.isForm() {
		form(string(s.Body))
	}
	take("", string(s.Body)) // Python calls every body a form unless it is told otherwise
	return all
}

// isForm reports whether the body is a form.
func (s Sent) isForm() bool { return s.Kind == "application/x-www-form-urlencoded" }

// maxNested bounds how deep a JSON body is searched.
const maxNested = 16

// eachMember calls a function with each text in a JSON value, and the name of the member that holds it.
func eachMember(value any, name string, depth int, do func(name, text string)) {
	if depth > maxNested {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, each := range slices.Sorted(maps.Keys(value)) {
			eachMember(value[each], each, depth+1, do)
		}
	case []any:
		for _, each := range value {
			eachMember(each, name, depth+1, do)
		}
	case string:
		do(name, value)
	}
}

// phrased reports whether a text is a statement with something in quotes.
func phrased(name, text string) bool {
	if braced.MatchString(text) && member.MatchString(text) {
		return true
	}
	return (queryName.MatchString(name) || statementOf.MatchString(text)) && compares.MatchString(text)
}

var (
	// queryName matches the names of parameters of services that take a query.
	queryName = lazyregexp.New(`(?i)^\$?(?:[a-z]?[a-z1]ql|sparql|cypher|flux|spl|statement|where|filter(?:byformula|expression)?|formula|search|q|query|expr(?:ession)?|conditions?)$`)
	// statementOf matches statements that read or change rows.
	statementOf = lazyregexp.New(`(?is)^\s*(?:select\b.*\bwhere\b|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s)`)
	// compares matches an operator, or the bracket of a function, before a quote.
	compares = lazyregexp.New(`(?i)(?:[=~<>(,+|]|\b(?:like|ilike|contains|matches|eq|ne|lt|gt|le|ge|in|with|values)\s)\s*["']`)
	// braced matches the beginning of a query in GraphQL or Cypher, member a field before a quote.
	braced = lazyregexp.New(`(?is)^\s*(?:(?:(?:query|mutation|subscription)\b[^{"']*)?\{|(?:optional\s+)?(?:match|merge|create)\s*\()`)
	member = lazyregexp.New(`\b[A-Za-z_]\w{0,64}\s*[:=]\s*\[?\s*["']`)
)
