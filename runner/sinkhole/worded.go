package sinkhole

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Parts of the sentences that say what an answer misses: a path such as a.b[0].c, and
// a value that was expected, be it a type or a literal.
const (
	pathWords = `([A-Za-z_$][\w$]*(?:\.[\w$]+|\[\d*\])*|\[\d+\](?:\.[\w$]+|\[\d*\])*)`
	valueWord = `("[^"]{0,64}"|[A-Za-z]+)`
	quote     = "[\"'`]?"
	sortWord  = quote + `([A-Za-z][\w.-]{0,63})` + quote
)

// sentence is a form of messages about missing fields. path, value, text and name are
// numbers of its groups, 0 for none. A text is the value itself without quotes.
type sentence struct {
	says                    *lazyregexp.Regexp
	path, value, text, name int
	// root is set if it is about the whole answer. kind is the expected type.
	root bool
	kind string
}

// sentences are messages of Zod, Pydantic, Python, Node.js, Go and validators of JSON
// Schema, in the order in which they are tried.
var sentences = []sentence{
	{says: lazyregexp.New(`\b[Ee]xpected ` + valueWord + `(?:, received [\w ]+)?\s*(?:→ )?at ` + pathWords), value: 1, path: 2},
	{says: lazyregexp.New(`[Ii]nvalid option: expected one of ` + valueWord + `[^\n]*? at ` + pathWords), value: 1, path: 2},
	{says: lazyregexp.New(pathWords + `: [Ii]nvalid option: expected one of ` + valueWord), path: 1, value: 2},
	{says: lazyregexp.New(pathWords + `: [Ee]xpected ` + valueWord + `,? (?:but )?received`), path: 1, value: 2},
	{says: lazyregexp.New(pathWords + `: Required\b`), path: 1},
	{says: lazyregexp.New(pathWords + `: [Ii]nvalid input(?:[,;]|\s*$)`), path: 1}, // of a union
	{says: lazyregexp.New(`\bRequired at "?` + pathWords), path: 1},
	{says: lazyregexp.New(`(?m)^` + pathWords + `\n\s+[^\n]*\[type=(\w+)`), path: 1, value: 2},
	{says: lazyregexp.New(`(?i)\b(type|kind|status|state)(?: is| was|:)? ` + sortWord + `(?:,? but|,| and|;)? (?:is )?(?:not|expected|must be|should be|wanted|want|instead of|rather than) ` + sortWord), path: 1, text: 3},
	{says: lazyregexp.New(`(?i)\b(?:expected|wanted|want|requires?|not) (?:of )?(?:a |the )?(?:\w{1,32} )?(type|kind|status|state):? ` + sortWord + `,? (?:but )?(?:got|received|found|was|is)\b`), path: 1, text: 2},
	{says: lazyregexp.New(`\b([A-Za-z_]\w{0,63})["'` + "`" + `]? (?:is not|should be|must be|to be) an? (?:valid |JSON |non-empty ){0,3}(object|array|list|map|dict|string|number|boolean|integer)\b`), name: 1, value: 2},
	{says: lazyregexp.New(`\bKeyError: '([\w$-]{1,64})'`), name: 1},
	{says: lazyregexp.New(`(?:^|: )'([A-Za-z_][\w$-]{0,63})'$`), name: 1},
	{says: lazyregexp.New(`(?i)\b(?:missing|required)(?: required)? (?:property|field|key|attribute|parameter):? ['"` + "`" + `]?([A-Za-z_][\w$]{0,63})`), name: 1},
	{says: lazyregexp.New(`must have required property '([\w$-]{1,64})'`), name: 1},
	{says: lazyregexp.New(`'([\w$-]{1,64})' is a required property`), name: 1},
	{says: lazyregexp.New(`\b(?:[Nn]o|[Mm]issing|[Ww]ithout an?) ` + quote + `([a-z][a-z0-9]*(?:_[a-z0-9]+|[A-Z][a-z0-9]+){1,6})` + quote + ` (?:was |were )?(?:returned|received|provided by|(?:found |present )?in)\b`), name: 1}, // only a name of several words is that of a field
	{says: lazyregexp.New(`\b([a-z][a-zA-Z0-9_]{1,31})(?: (?:URL|address|id|field|value|name))? (?:could not|cannot|can't) be (?:resolved|determined|read from)\b`), name: 1},
	{says: lazyregexp.New(`Go struct field \w+\.([\w.]{1,128}) of type (\[\]|[\w.]+)`), path: 1, value: 2},
	{says: lazyregexp.New(`cannot unmarshal (?:object|string|number|bool) into Go value of type \[\]`), root: true, kind: "array"},
	{says: lazyregexp.New(`cannot unmarshal (?:array|string|number|bool) into Go value of type `), root: true, kind: "object"},
	{says: lazyregexp.New(`'Array<|[Ee]xpected (?:array|list|an array),? (?:but )?(?:received|got) object|invalid type: map, expected a sequence`), root: true, kind: "array"},
	{says: lazyregexp.New(`list indices must be integers or slices, not str|'list' object has no attribute '(?:get|items|keys)'|` +
		`[Ee]xpected (?:object|an object|dict),? (?:but )?(?:received|got) (?:array|list)|invalid type: sequence, expected (?:a map|struct)`), root: true, kind: "object"},
	{says: lazyregexp.New(`\(intermediate value\)\.(?:` + strings.Join(ofLists, "|") + `) is not a function`), root: true, kind: "array"},
	{says: lazyregexp.New(`Cannot read propert(?:y|ies) of (?:undefined|null) \(reading '([\w$]{1,64})'\)`), name: 1},
	{says: lazyregexp.New(`Cannot destructure property '([\w$]{1,64})' of`), name: 1},
	{says: lazyregexp.New(`\b([A-Za-z_$][\w$]{0,63})\??\.(?:` + strings.Join(ofLists, "|") + `) is not a function`), name: 1, kind: "array"},
	{says: lazyregexp.New(`\.([A-Za-z_$][\w$]{0,63}) is not iterable`), name: 1, kind: "array"},
}

// ofLists are methods and properties of lists: errors about them name no field.
var ofLists = []string{
	"map", "filter", "forEach", "length", "slice", "join", "find", "some", "every", "reduce", "sort", "flatMap", "push", "concat", "includes",
	"entries", "indexOf", "reverse", "at", "splice",
}

// ofTexts are methods of strings.
var ofTexts = []string{
	"split", "toLowerCase", "toUpperCase", "trim", "replace", "startsWith", "endsWith", "substring", "match", "toString", "toFixed", "toISOString", "toLocaleString",
}

// prefix begins the messages of Zod 4; notField are words before a colon that name no field, notValue those
// that say what a value is or is not: types, and the words of an error.
var (
	notValue = lazyregexp.New(`(?i)^(?:an?|the|in|of|one|be|to|any|str|string|int|integer|number|float|bool|boolean|object|array|list|dict|map|null|nil|none\w*|undefined|` +
		`found|valid|invalid|empty|unknown|available|\w+(?:ed|able|ible))$`)
	prefix   = lazyregexp.New(`[Ii]nvalid input: `)
	notField = lazyregexp.New(`(?i)^(?:\w*error|response|arguments|failed|validation|message|details)$`)
)

// worded reads fields from the sentences of a refusal.
func worded(refusal string) (found []field) {
	refusal = prefix.ReplaceAllLiteralString(refusal, "")
	for _, s := range sentences {
		for _, match := range s.says.FindAllStringSubmatch(refusal, maxMissing) {
			if f, ok := s.field(match); ok && !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
		if len(found) > 0 {
			return found // what comes later says less
		}
	}
	return nil
}

func (s sentence) field(match []string) (field, bool) {
	f := field{kind: s.kind}
	switch {
	case s.root:
		return f, true
	case s.name > 0:
		f.path, f.anywhere = match[s.name], true
		if slices.Contains(ofLists, f.path) || slices.Contains(ofTexts, f.path) || !name.MatchString(f.path) {
			return field{}, false
		}
	default:
		steps := stepsOf(match[s.path])
		f.path = strings.Join(steps, ".")
		if len(steps) > maxSteps || notField.MatchString(f.path) || slices.ContainsFunc(steps, func(step string) bool { return step != anyElement && !name.MatchString(step) }) {
			return field{}, false
		}
	}
	if s.value > 0 {
		f.kind, f.literal = expected(match[s.value])
	}
	if s.text > 0 {
		f.path, f.literal = strings.ToLower(f.path), quoted(match[s.text])
		return f, !notValue.MatchString(match[s.text])
	}
	return f, true
}

// expected returns the type, or the literal in JSON, that a word of a refusal names.
func expected(value string) (kind, literal string) {
	switch {
	case strings.HasPrefix(value, `"`):
		return "", value
	case checked[value] != "":
		return checked[value], ""
	case value == "[]":
		return "array", ""
	case strings.Contains(value, "."): // a type of a package of Go
		return "object", ""
	case strings.Contains(value, "_"): // what else Pydantic finds says nothing of the type
		return "", ""
	default:
		return value, ""
	}
}

// stepsOf splits a path such as a.b[0].c or a.0.c.
func stepsOf(path string) []string {
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	var steps []string
	for _, step := range strings.Split(strings.Trim(path, "."), ".") {
		if step == "" || step[0] >= '0' && step[0] <= '9' {
			step = anyElement
		}
		steps = append(steps, step)
	}
	return steps
}
