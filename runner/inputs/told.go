package inputs

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// What a clause of a description, or of an error, says about several properties.
var (
	clauses = lazyregexp.New(`[;\n!?。；]|\.(?:\s|$)|\),|，`)
	// exclusive clauses allow one of the properties, bundled ones all or none.
	exclusive = lazyregexp.New(`(?i)\b(?:not both|but not (?:both|more)|mutually exclusive|(?:exactly|only|at most|no more than) one|one and only one|` +
		`(?:cannot|can't|can not|must not|mustn't|may not|should not|do not|don't) (?:be )?(?:\w+ ){0,2}(?:both|together|combined|simultaneously|at the same time|alongside|in combination|with)|` +
		`(?:not (?:allowed|valid|compatible|permitted|supported)|incompatible|conflicts?) with)\b|其中之一|其中一个|二选一|いずれか一方|nicht (?:beide|gleichzeitig)|mutuellement exclusi|mutuamente excluyent`)
	bundled = lazyregexp.New(`(?i)\b(?:together|both|or neither|neither or both|or none|in pairs?)\b`)
	// optionally bundled clauses do not ask for either.
	bundle = lazyregexp.New(`(?i)\b(?:together|neither|none|pairs?|if|when)\b`)
	// demanded clauses ask for something, in one word of many languages; offering ones for one of several.
	demanded  = lazyregexp.New(`(?i)\b(?:required|requires?|missing|mandatory|must|needs?|necessary)\b|` + inOtherWords)
	demanding = lazyregexp.New(`(?i)^(?:requires?|needs?|must|expects?)\b`)
	offering  = lazyregexp.New(`(?i)\b(?:either|exactly one|one and only one|(?:provide|specify|give|pass|supply|set|requires?|needs?) (?:one|any) of|at least one|one of)\b|entweder|其中之一|其中一个|二选一|いずれか`)
	either    = lazyregexp.New(`(?i)\b(?:or|oder|ou|или)\b|或`)
	forbids   = lazyregexp.New(`(?i)\b(?:not (?:be )?(?:allowed|valid|supported|permitted|used|applicable|accepted|provided|specified|set|given)|cannot|can't|must not|ignored)\b`)
	solely    = lazyregexp.New(`(?i)\bonly\b`)
	optional  = lazyregexp.New(`(?i)^['"\x60*]*\s*(?:\?|\(?optional|\[optional)`)
	// withOthers and dependsOn come before what a property needs, whenGiven before what needs it; absence turns that round.
	withOthers = lazyregexp.New(`(?i)\b(?:requires?|needs?|depends on|must be (?:used|given|set|provided|combined|specified) (?:together )?with|in conjunction with|only (?:\w+ )?(?:together )?with)\b`)
	whenGiven  = lazyregexp.New(`(?i)\b(?:required|mandatory|needed|must be (?:given|set|provided|specified)) (?:when|if|with|for|unless)\b`)
	absence    = lazyregexp.New(`(?i)\b(?:unless|without|omitted|absent|not (?:given|set|provided|specified|present))\b`)
	// leadIn is all that comes before a choice at the beginning of a clause; decides ends before one elsewhere.
	leadIn  = lazyregexp.New(`(?i)^[^\pL\pN]*(?:(?:for|when|if|with|on)\s+)?(?:(?:the|an?)\s+)?(?:[\w ]{0,16}?(?:=|:|\bis)\s*)?['"\x60*]*$`)
	decides = lazyregexp.New(`(?i)(?:\b(?:for|when|if|with|is|are|equals?|by|and|or|to|in|action|operation|mode|command|type)|[=:,/])\s*(?:the |an? )?['"\x60]?$`)
)

// inOtherWords matches "required" and "missing" in other languages.
const inOtherWords = `erforderlich|angegeben werden|fehlt|obligatoi?r|requis\b|requerid|необходим|обязательн|не указан|必須|必须|必需|缺少|不能为空|필수|verplicht|zorunlu|wymagan`

// maxClauses bounds the clauses of one text.
const maxClauses = 128

// read returns the constraints that a text tells. self is the property that it describes; "" for another text.
func (m *members) read(text, self string) (found []tie) {
	for _, clause := range clauses.Split(text, maxClauses) {
		mentions := m.mentioned(clause)
		var names []string
		for _, each := range mentions {
			names = append(names, each.name)
		}
		if self != "" && !slices.Contains(names, self) {
			names = append([]string{self}, names...)
		}
		if group := m.firstGroup(clause); len(group) > 1 {
			found = append(found, need(condition{}, group...))
			continue
		}
		if len(names) == 0 {
			continue
		}
		if when, leads := m.deciding(clause); when.name != "" && (self != when.name || len(names) > 1) {
			found = append(found, m.decided(clause, self, mentions, when, leads)...)
		} else if len(names) > 1 {
			found = append(found, related(clause, self, names, mentions)...)
		}
	}
	return found
}

// groups matches a choice between several properties and several others: "either (old + new) or (range + content)".
var groups = lazyregexp.New(`(?i)(\([^()]*(?:\+|,|&|\band\b)[^()]*\))\s*,?\s*or\s*\([^()]*(?:\+|,|&|\band\b)[^()]*\)`)

// firstGroup returns the properties of the first group of such a choice; nil for none.
func (m *members) firstGroup(clause string) (names []string) {
	if match := groups.FindStringSubmatch(clause); match != nil {
		for _, each := range m.mentioned(match[1]) {
			names = append(names, each.name)
		}
	}
	return names
}

// onceGiven matches a clause that begins with the property for which it holds: "When using kind, either name or label is required".
var onceGiven = lazyregexp.New(`(?i)(?:^|:)[^\pL]*(?:when|if)\s[^,:]{0,48},`)

// under returns what a clause says about properties once another is given; nil if it says no such thing.
func under(clause string, mentions []mention) []tie {
	lead := onceGiven.FindStringIndex(clause)
	if lead == nil || len(mentions) < 2 || mentions[0].at >= lead[1] || mentions[1].at < lead[1] || absence.MatchString(clause[:lead[1]]) || !demanded.MatchString(clause) {
		return nil
	}
	t := tie{when: condition{name: mentions[0].name}, most: len(mentions) - 1}
	for _, each := range mentions[1:] {
		t.names = append(t.names, each.name)
	}
	t.least = len(t.names)
	if either.MatchString(clause) {
		t.least = 1
	}
	return []tie{t}
}

// related returns what a clause says about several properties, names, whatever their values.
func related(clause, self string, names []string, mentions []mention) []tie {
	conditional := under(clause, mentions)
	switch offers := offering.MatchString(clause); {
	case conditional != nil && !exclusive.MatchString(clause):
		return conditional
	case exclusive.MatchString(clause):
		t := apart(names...)
		if offers || demanded.MatchString(clause) && !forbids.MatchString(clause) {
			t.least = 1
		}
		return []tie{t}
	case bundled.MatchString(clause) && !offers:
		return bundles(clause, names)
	case withOthers.MatchString(clause) || whenGiven.MatchString(clause):
		return dependent(clause, self, mentions)
	case offers, demanded.MatchString(clause) && either.MatchString(clause):
		return []tie{anyOne(names...)}
	}
	return nil
}

// decided returns what a clause says about properties if another has a value.
func (m *members) decided(clause, self string, mentions []mention, when condition, leads bool) []tie {
	var names []string
	rest := clause
	for _, each := range mentions {
		if each.name != when.name && !optional.MatchString(clause[each.at+len(each.name):]) {
			names = append(names, each.name)
		}
		rest = strings.Replace(rest, each.name, "", 1)
	}
	if self != "" && self != when.name {
		names = []string{self}
	}
	switch {
	case len(names) == 0:
	case solely.MatchString(clause):
		return []tie{{when: m.unless(when), names: names}}
	case forbids.MatchString(clause):
		return []tie{{when: when, names: names}}
	case demanded.MatchString(clause), leads && len(strings.Fields(rest)) < 5+len(names):
		return []tie{need(when, names...)}
	}
	return nil
}

// bundles returns the constraints of "both are required", and of "must be given together".
func bundles(clause string, names []string) (found []tie) {
	if demanded.MatchString(clause) && !bundle.MatchString(clause) {
		return []tie{need(condition{}, names...)}
	}
	for i, name := range names {
		found = append(found, need(condition{name: name}, slices.Concat(names[:i], names[i+1:])...))
	}
	return found
}

// dependent returns the constraints of "page requires per_page", and of "per_page is required if page is given".
func dependent(clause, self string, mentions []mention) (found []tie) {
	form, reversed := withOthers, whenGiven.MatchString(clause)
	if reversed {
		form = whenGiven
	}
	at := form.FindStringIndex(clause)[1]
	before, after := []string{}, []string{}
	for _, each := range mentions {
		if each.at < at {
			before = append(before, each.name)
		} else if each.name != self {
			after = append(after, each.name)
		}
	}
	if self != "" {
		before = []string{self}
	}
	switch {
	case len(before) == 0 || len(after) == 0:
		return nil
	case reversed && absence.MatchString(clause):
		return []tie{anyOne(slices.Concat(before, after)...)}
	case reversed:
		before, after = after, before
	}
	for _, name := range before {
		found = append(found, need(condition{name: name}, after...))
	}
	return found
}
