package attack

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Sent is a request by HTTP: its path with the query, the media type of its body, and that.
type Sent struct {
	Target, Kind string
	Body         []byte
}

// Web is the protocol of a statement that a request by HTTP has in a parameter, or in its body.
const Web = "http"

// Phrases are the statements with a mark in a request: in SQL, GraphQL or Cypher, or in the language of a
// service (JQL, SOQL, OData) if the name of the parameter says so. A prose text is none.
func (s Sent) Phrases() (all []string) {
	take := func(name, text string) {
		if len(text) <= maxStatement && len(inputs.Marks([]byte(text))) > 0 && phrased(name, text) && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	form := func(encoded string) {
		values, _ := url.ParseQuery(encoded) // what can be read of it
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
	take("", string(s.Body)) // Python calls every body a form that says nothing else
	return all
}

// isForm reports whether the body is a form.
func (s Sent) isForm() bool { return s.Kind == "application/x-www-form-urlencoded" }

// maxNested is how deep in a body of JSON is looked.
const maxNested = 16

// eachMember calls a function with the texts in a value of JSON, and the names of the members that they are, or are
// elements of.
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

// phrased reports whether a text is a statement that has something in quotes.
func phrased(name, text string) bool {
	if braced.MatchString(text) && member.MatchString(text) {
		return true
	}
	return (queryName.MatchString(name) || statementOf.MatchString(text)) && compares.MatchString(text)
}

var (
	// queryName matches the names of parameters of services that take a query.
	queryName = lazyregexp.New(`(?i)^\$?(?:[a-z]?[a-z1]ql|sparql|cypher|flux|spl|statement|where|filter(?:byformula|expression)?|formula|search|q|query|expr(?:ession)?|conditions?)$`)
	// statementOf is how statements begin that change or read rows, or the nodes of a graph.
	statementOf = lazyregexp.New(`(?is)^\s*(?:select\b.*\bwhere\b|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s)`)
	// compares is an operator, or the bracket of a function, before quotes.
	compares = lazyregexp.New(`(?i)(?:[=~<>(,+|]|\b(?:like|ilike|contains|matches|eq|ne|lt|gt|le|ge|in|with|values)\s)\s*["']`)
	// braced is how a query in GraphQL or Cypher begins, member a field of one before quotes.
	braced = lazyregexp.New(`(?is)^\s*(?:(?:(?:query|mutation|subscription)\b[^{"']*)?\{|(?:optional\s+)?(?:match|merge|create)\s*\()`)
	member = lazyregexp.New(`\b[A-Za-z_]\w{0,64}\s*[:=]\s*\[?\s*["']`)
)
