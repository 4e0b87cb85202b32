// Package sources finds which fields of a service's answers a program reads: property chains in JavaScript, what it
// does with them, and its Zod schemas. The sinkhole answers with these fields after refusals that do not name a
// missing field.
//
// It reads by patterns and ignores scopes: a wrong field does no harm, because nobody reads it. The text may be
// hostile, so everything that is kept is bounded.
package sources

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Bounds on the fields, on those of one object, and on the length of a name and of a compared value, in bytes.
const (
	maxFields  = 512
	maxWithin  = 128
	maxName    = 64
	maxLiteral = 64
)

// Field describes the fields of one name.
type Field struct {
	// Kind is a type of JSON: "array", "object", "string", "number" or "boolean"; "" if unknown.
	Kind string `json:"kind,omitempty"`
	// Element is the type of a list's elements, if they are texts or numbers.
	Element string `json:"element,omitempty"`
	// Literal is a value that the field is compared with, as JSON.
	Literal string `json:"literal,omitempty"`
	// Within are the names of the fields of the object, or of each element of the list.
	Within []string `json:"within,omitempty"`
}

// Fields has fields by name. The name "" is the whole answer.
type Fields map[string]Field

const identifier = `[A-Za-z_$][\w$]{0,63}`

// Patterns of JavaScript and of Zod.
var (
	// chain is a property chain: "data.results[0].geometry?.location".
	chain = lazyregexp.New(`\b(` + identifier + `)((?:\??\.` + identifier + `|(?:\?\.)?\[(?:\d{1,3}|'[\w-]{1,64}'|"[\w-]{1,64}")\])+)\s*(\(|[!=]==?\s*(?:"[^"\n]{1,64}"|'[^'\n]{1,64}'|\d{1,6}\b))?`)
	step  = lazyregexp.New(`\.(` + identifier + `)|\[(?:(\d+)|['"]([\w-]+)['"])\]`)
	// destructuring: "const { success, resultObj: url } = response.data".
	apart = lazyregexp.New(`\b(?:const|let|var)\s*\{([^{}]{1,512})\}\s*=\s*(?:await |yield )?\(?(` + identifier + `)((?:\??\.` + identifier + `)*)`)
	// iteration: "results.map((place) =>", "for (const place of data.results)".
	each   = lazyregexp.New(`\b(` + identifier + `)(?:\s*(?:\|\||\?\?)\s*\[\]\s*\))?\s*\??\.(?:map|forEach|filter|find|some|every|flatMap|sort)\(\s*(?:async\s*)?(?:function\s*)?\(?\s*(` + identifier + `)`)
	eachOf = lazyregexp.New(`\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+(` + identifier + `)\s+of\s+(?:` + identifier + `\??\.)*(` + identifier + `)\s*\)`)
	// iteration with destructuring: "results.map(({ url, title }) =>".
	eachApart = lazyregexp.New(`\b(` + identifier + `)(?:\s*(?:\|\||\?\?)\s*\[\]\s*\))?\s*\??\.(?:map|forEach|filter|find|some|every|flatMap)\(\s*(?:async\s*)?(?:function\s*)?\(\s*\{([^{}]{1,512})\}`)
	declared  = lazyregexp.New(`['"]?\b([A-Za-z_$][\w$-]{0,63})['"]?\s*:\s*(?:z|zod|v|yup|Type)\s*\.\s*(?:coerce\s*\.\s*)?(string|number|int|boolean|array|object|record|literal|enum|union|date|any|unknown)\s*\(\s*(?:\[\s*)?(?:("[^"\n]{0,64}"|'[^'\n]{0,64}')|(?:z|zod)\s*\.\s*(string|number)\()?`)
)

// Reader reads texts one after the other. The zero value is ready to use.
type Reader struct {
	fields map[string]*Field
	// holder maps a variable to the list that it is an element of.
	holder map[string]string
}

// Add reads a text.
func (r *Reader) Add(text string) {
	if r.fields == nil {
		r.fields, r.holder = map[string]*Field{"": {Kind: "object"}}, map[string]string{}
	}
	for _, match := range each.FindAllStringSubmatch(text, maxFields) {
		r.element(match[2], match[1])
	}
	for _, match := range eachOf.FindAllStringSubmatch(text, maxFields) {
		r.element(match[1], match[2])
	}
	for _, match := range declared.FindAllStringSubmatch(text, 4*maxFields) {
		r.declare(match[1], match[2], match[3])
		if f := r.fields[match[1]]; f != nil && match[2] == "array" {
			f.Element = match[4]
		}
	}
	for _, match := range apart.FindAllStringSubmatch(text, maxFields) {
		r.takeApart(match[1], match[2], match[3])
	}
	for _, match := range eachApart.FindAllStringSubmatch(text, maxFields) {
		if list := match[1]; !ignored[list] {
			r.kind(r.add("", list), "array")
			r.name(list, match[2])
		}
	}
	for _, match := range chain.FindAllStringSubmatch(text, 64*maxFields) {
		r.follow(match[1], match[2], match[3])
	}
}

// element records that a variable is an element of a list. Names of one letter are too ambiguous.
func (r *Reader) element(variable, list string) {
	if len(variable) > 1 && len(r.holder) < maxFields && !ignored[list] && variable != list {
		r.holder[variable] = list
		r.kind(r.add("", list), "array")
	}
}

// declare reads a field of a schema.
func (r *Reader) declare(name, kind, literal string) {
	f := r.add("", name)
	switch kind {
	case "int":
		kind = "number"
	case "record":
		kind = "object"
	case "date":
		kind = "string"
	case "literal", "enum":
		kind = "string"
		if f != nil && len(literal) > 2 {
			f.Literal = quoted(literal[1 : len(literal)-1])
		}
	case "union", "any", "unknown":
		kind = ""
	}
	r.kind(f, kind)
}

// takeApart reads a destructuring pattern.
func (r *Reader) takeApart(names, head, rest string) {
	if ignored[head] {
		return
	}
	holder := r.holder[head]
	for _, match := range step.FindAllStringSubmatch(rest, 8) {
		if name := match[1]; !ignored[name] {
			r.kind(r.add(holder, name), "object")
			holder = name
		}
	}
	r.name(holder, names)
}

// name adds the fields of a destructuring pattern. Each becomes a variable, whose properties are fields of that
// field.
func (r *Reader) name(holder, names string) {
	for _, each := range strings.Split(names, ",") {
		each, _, _ = strings.Cut(each, "=")
		name, variable, _ := strings.Cut(each, ":")
		name, variable = strings.TrimSpace(name), strings.TrimSpace(variable)
		r.add(holder, name)
		r.add("", name)
		if variable == "" {
			variable = name
		}
		if _, taken := r.holder[variable]; !taken && len(variable) > 1 && len(r.holder) < maxFields && r.fields[name] != nil {
			r.holder[variable] = name
		}
	}
}

// follow reads a chain from its head: each name is a field of the previous one. behind is the token after the last
// name: "(" for a method.
func (r *Reader) follow(head, steps, behind string) {
	if ignored[head] {
		return
	}
	holder := r.holder[head]
	all := step.FindAllStringSubmatch(steps, 8)
	for i, match := range all {
		name, last := match[1]+match[3], i == len(all)-1
		switch {
		case match[2] != "": // a list element
			r.kind(r.fields[holder], "array")
			continue
		case last && behind == "(" || methods[name] != "":
			if holder != "" {
				r.kind(r.fields[holder], methods[name])
			}
			return
		case ignored[name]:
			return
		}
		if holder != "" {
			r.kind(r.fields[holder], "object")
		}
		f := r.add(holder, name)
		r.add("", name)
		if f != nil && last && behind != "" && behind != "(" {
			compare(f, behind)
		}
		holder = name
	}
}

// compare records what a field is compared with: the first text or, if there is none, the first number that it must
// not differ from, as in "code !== 0". Other numbers say little.
func compare(f *Field, behind string) {
	text := strings.TrimLeft(behind, "!= \t\n")
	number := numeric.MatchString(text)
	if f.Kind != "" || f.Literal != "" && (number || !numeric.MatchString(f.Literal)) || len(text) > maxLiteral+2 {
		return
	}
	switch {
	case !number && len(text) > 2:
		f.Literal = quoted(strings.Trim(text, `"'`))
	case number && behind[0] == '!':
		f.Literal = text
	}
}

var numeric = lazyregexp.New(`^(?:0|[1-9]\d*)$`)

// add adds a field to an object; nil if there is no room, or the name is invalid.
func (r *Reader) add(holder, name string) *Field {
	if name == "" || len(name) > maxName || ignored[name] || methods[name] != "" || name == holder {
		return nil
	}
	f := r.fields[name]
	if f == nil {
		if len(r.fields) >= maxFields {
			return nil
		}
		f = &Field{}
		r.fields[name] = f
	}
	if in := r.fields[holder]; in != nil && !slices.Contains(in.Within, name) && (holder == "" || len(in.Within) < maxWithin) {
		in.Within = append(in.Within, name)
	}
	return f
}

// kind records the type of a field. A list whose elements are used as objects stays a list.
func (r *Reader) kind(f *Field, kind string) {
	switch {
	case f == nil || kind == "":
	case f.Kind == "" || kind == "array" && f.Kind == "object":
		f.Kind, f.Literal = kind, literalOf(f, kind)
	}
}

func literalOf(f *Field, kind string) string {
	if kind == "string" {
		return f.Literal
	}
	return ""
}

// Fields returns the fields; nil if there are none.
func (r *Reader) Fields() Fields {
	if len(r.fields) < 2 {
		return nil
	}
	found := Fields{}
	for name, f := range r.fields {
		found[name] = *f
	}
	return found
}

func quoted(text string) string {
	literal, _ := json.Marshal(text) // never fails for a string
	return string(literal)
}
