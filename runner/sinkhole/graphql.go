package sinkhole

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// The bounds of a GraphQL query: its tokens, the depth of its fields, and the fields of
// the answer. Generated clients select all fields of their objects, by fragments in fragments.
const (
	maxTokens  = 16 << 10
	maxDepth   = 24
	maxAnswers = 8 << 10
)

// graphQL returns the GraphQL document in the body of a request, or else in its URL (GraphQL over HTTP), and its text;
// nil if there is none.
func graphQL(r *http.Request, sent []byte) (*ast.QueryDocument, string) {
	var body struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(sent, &body) != nil {
		body.Query = r.URL.Query().Get("query")
	}
	if !strings.Contains(body.Query, "{") {
		return nil, ""
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: body.Query}, maxTokens)
	if err != nil || len(document.Operations) == 0 {
		return nil, ""
	}
	return document, body.Query
}

// selected builds the answer to an operation: an object in the shape of the query.
type selected struct {
	fragments ast.FragmentDefinitionList
	url       string
	left      int
}

func answerGraphQL(document *ast.QueryDocument, url string) any {
	s := selected{document.Fragments, url, maxAnswers}
	data := map[string]any{}
	if slices.ContainsFunc(document.Operations[0].SelectionSet, introspects) {
		return map[string]any{"data": json.RawMessage(schema)}
	}
	s.fill(data, document.Operations[0].SelectionSet, maxDepth)
	return map[string]any{"data": data}
}

// introspects reports whether a selection asks for the schema.
func introspects(each ast.Selection) bool {
	f, is := each.(*ast.Field)
	return is && f.Name == "__schema"
}

// schema is the answer to an introspection: clients build a schema of it, which has to be consistent.
const schema = `{"__schema":{"queryType":{"name":"Query"},"mutationType":null,"subscriptionType":null,"directives":[],"types":[` +
	`{"kind":"OBJECT","name":"Query","description":null,"inputFields":null,"interfaces":[],"enumValues":null,"possibleTypes":null,"fields":[` +
	`{"name":"notes","description":null,"args":[],"isDeprecated":false,"deprecationReason":null,"type":{"kind":"LIST","name":null,"ofType":{"kind":"OBJECT","name":"Note","ofType":null}}}]},` +
	`{"kind":"OBJECT","name":"Note","description":null,"inputFields":null,"interfaces":[],"enumValues":null,"possibleTypes":null,"fields":[` +
	`{"name":"id","description":null,"args":[],"isDeprecated":false,"deprecationReason":null,"type":{"kind":"SCALAR","name":"ID","ofType":null}},` +
	`{"name":"name","description":null,"args":[],"isDeprecated":false,"deprecationReason":null,"type":{"kind":"SCALAR","name":"String","ofType":null}}]},` +
	`{"kind":"SCALAR","name":"ID","description":null,"fields":null,"inputFields":null,"interfaces":null,"enumValues":null,"possibleTypes":null},` +
	`{"kind":"SCALAR","name":"String","description":null,"fields":null,"inputFields":null,"interfaces":null,"enumValues":null,"possibleTypes":null},` +
	`{"kind":"SCALAR","name":"Boolean","description":null,"fields":null,"inputFields":null,"interfaces":null,"enumValues":null,"possibleTypes":null}]}}`

// fill sets the fields of an object that a selection requests.
func (s *selected) fill(into map[string]any, selection ast.SelectionSet, depth int) {
	for _, each := range selection {
		if s.left--; s.left < 0 || depth == 0 {
			return
		}
		switch each := each.(type) {
		case *ast.Field:
			into[each.Alias] = s.value(each, into[each.Alias], depth-1)
		case *ast.InlineFragment:
			s.fill(into, each.SelectionSet, depth-1)
		case *ast.FragmentSpread:
			if f := s.fragments.ForName(each.Name); f != nil {
				s.fill(into, f.SelectionSet, depth-1)
			}
		}
	}
}

// value returns a scalar that fits the name of a field, or an object with the fields it
// selects: in a list if the name is a plural, unless it is a page of a connection. Selections of the same field are
// merged with what it has (GraphQL, 5.3.2).
func (s *selected) value(f *ast.Field, before any, depth int) any {
	if len(f.SelectionSet) == 0 {
		return guess(f.Name, s.url)
	}
	if list, is := before.([]any); is {
		before = list[0]
	}
	one, is := before.(map[string]any)
	if !is {
		one = map[string]any{}
	}
	s.fill(one, f.SelectionSet, depth)
	for _, page := range []string{"nodes", "edges", "pageInfo", "totalCount", "items", "results"} {
		if _, is := one[page]; is {
			return one
		}
	}
	if f.Name == "nodes" || listName.MatchString(f.Name) {
		return []any{one}
	}
	return one
}
