package scope

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// readOnlyPromises match promises to change nothing, in a part of a sentence in lower case. The object
// has to be everything: "does not modify the original" says that a copy is made.
var readOnlyPromises = []*lazyregexp.Regexp{
	// "read-only", "a read-only tool", "read-only access to the database"; not "read-only files"
	lazyregexp.New(`^(?:(?:this|the|it|all|both|a|an|is|are|tool|tools|operation|operations|server|strictly|purely|entirely|completely|fully|100%|only|performs?|provides?)\s+)*` +
		`read[- ]?only(?: (?:tool|tools|operation|operations|server|access|query|queries|and safe|safe|action|call|function|view|search|lookup|inspection)\b.*)?$`),
	lazyregexp.New(`\b(?:is|are) (?:strictly |purely |entirely |completely |fully )?read[- ]?only$`),
	// "does not modify any files", "never writes to disk", "makes no changes"
	lazyregexp.New(`^(?:(?:and|but|or|it|that|which|this|the|tool|tools|server|command|call|operation|query|safe|only|just|ever|will|purely|reads|looks) )*(?:does not|doesn't|do not|will not|won't|cannot|can't|never|without)(?: ever)?(?: (?:` + changing + `)(?:,| or| and|/)?)+` +
		`(?:$| anything\b| any(?: \w+)?$| files?$| data$| state$| (?:to |on )?(?:the |your |its |any )?(?:disk|file ?system|system|files|data|state|database|repository|repo|workspace|environment|cluster|machine|project)$)`),
	lazyregexp.New(`\b(?:makes?|making|with|has|have) no (?:changes|modifications|writes|side[- ]effects)$`),
	lazyregexp.New(`^(?:has |with )?no (?:writes|side[- ]effects|modifications)$|\bside[- ]effect[- ]free$|\bwithout (?:any )?side[- ]effects$`),
	lazyregexp.New(`\bno (?:files?|data) (?:is|are) (?:ever )?(?:written|modified|changed|created|deleted)$`),
}

const changing = `modify|modifies|modifying|write|writes|writing|change|changes|changing|alter|alters|altering|edit|edits|editing|` +
	`delete|deletes|deleting|create|creates|creating|mutate|mutates|mutating|update|updates|updating`

// keeping matches what every such promise has. Searching for it first is much faster.
var keeping = lazyregexp.New(`read[- ]?only|n't|not|no |never|without`)

// partly matches words with which "read-only" is not a promise.
var partly = lazyregexp.New(`\b(?:by default|mode|flag|option|replica|filesystem|file system|volume|mount|token|user|role|permission|permissions|credentials?|transaction|field|fields|property|properties|attribute|original|input|source|in place|in-place|unless|except|otherwise|most|some|many|mostly)\b`)

// promisesReadOnly reports whether a sentence promises that nothing is changed.
func promisesReadOnly(sentence string) bool {
	if len(sentence) > maxSentence {
		return false
	}
	plain := plainly(sentence)
	if !keeping.MatchString(plain) || conditions.MatchString(plain) || partly.MatchString(plain) {
		return false
	}
	for _, part := range append(strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune(",()[]", r) }), plain) {
		part = strings.Trim(part, " .!?:;()*_[]`")
		if slices.ContainsFunc(readOnlyPromises, func(p *lazyregexp.Regexp) bool { return p.MatchString(part) }) {
			return true
		}
	}
	return false
}

// plainly returns a sentence in lower case, with single spaces and plain apostrophes.
func plainly(sentence string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(sentence, "’", "'"))), " ")
}

// ReadOnly finds the promise of a text that a capability changes nothing ("read-only",
// "does not modify any files"): in its own declaration, or else in the server's
// instructions, and only where neither speaks of changing anything. The hint that
// says the same is Hint(of, "readOnlyHint"); it counts whatever the texts say. For
// Kind Server it speaks of the server as a whole.
func (s Scope) ReadOnly(of report.Capability) (Clause, bool) {
	own := s.server
	if of.Kind != report.CapabilityServer {
		own = s.items[of]
		if len(own.readOnly) == 0 && len(own.writing) == 0 {
			own = s.server
		}
	}
	if len(own.readOnly) == 0 || len(own.writing) > 0 {
		return Clause{}, false
	}
	return own.readOnly[0], true
}
