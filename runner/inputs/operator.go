package inputs

import (
	"cmp"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Objects that say what to do have operators for their keys, as the documents that update
// others, and the stages of pipelines, of MongoDB have ("Update Operators", "Aggregation
// Stages", MongoDB Manual).

var (
	operators = lazyregexp.New(`\$[a-z][A-Za-z]{1,30}\b`)
	operating = lazyregexp.New(`(?i)\b(?:update|atomic|modification) (?:operators?|operations?|expressions?)\b|\boperator expressions?\b`)
)

// operator returns a key for an object that may have any: the first operator that its
// description names, or the usual one of its kind; "" if it takes none.
func operator(n *node) string {
	if len(n.fields) > 0 || n.extra != nil && len(n.extra.s) > 0 {
		return "" // it has a certain form
	}
	said, _ := n.s["description"].(string)
	said = head(said, maxText)
	name := operators.FindString(said)
	switch words := split(n.name); {
	case has(words, []string{"pipeline", "stages"}):
		return cmp.Or(name, "$match")
	case !has(words, []string{"update", "updates", "modification", "modifications"}):
		return ""
	case name == "" && operating.MatchString(said):
		return "$set"
	}
	return name
}

// operand returns the operand of an operator.
func operand(name string, mark Mark) any {
	switch name {
	case "$set", "$unset", "$setOnInsert", "$push", "$addToSet":
		return map[string]any{"note": mark.Text()}
	}
	return map[string]any{}
}
