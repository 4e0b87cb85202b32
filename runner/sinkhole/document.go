package sinkhole

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/sources"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// The forms of JSON answers: clients expect lists or objects, numbers or strings, and do
// not say which.
const (
	formObject = iota // of strings, with empty lists
	formList          // empty
	formNested        // an object of numbers, with objects within
	formLists         // a list of such an object
	formRead          // an object of the fields that the server's code reads
	formReads         // a list of such an object
	forms
)

// The orders in which forms are tried: without and with knowledge of the fields read.
var (
	formsUnread = []int{formObject, formList, formNested, formLists}
	formsRead   = []int{formObject, formRead, formReads, formList, formNested, formLists}
)

// moment is the only point in time in answers.
const moment = "2024-01-01T00:00:00Z"

// asked is a request with its body, and the answer of a known service, if any.
type asked struct {
	url      string
	sent     []byte
	document func() any
	// known is set when the service answers in no other form.
	known bool
	reads sources.Fields
}

// reply returns an answer of a form with the fields the caller is known to read.
func (a asked) reply(form int, known []field) any {
	for _, f := range known {
		form = f.fit(form)
	}
	var document any
	switch {
	case a.known, form == formObject && a.document != nil:
		document = a.document()
	case form == formList:
		document = []any{}
	case form == formNested:
		document = nested(a.url, a.sent)
	case form == formLists:
		document = []any{nested(a.url, a.sent)}
	case form == formRead:
		document = readable(a.reads, a.url, a.sent)
	case form == formReads:
		document = []any{readable(a.reads, a.url, a.sent)}
	default:
		document = object(a.url, a.sent)
	}
	spreads := maxSpreads
	for _, f := range known {
		document = f.addTo(document, a.url, &spreads)
		if other := f.respelled(); other.path != f.path {
			document = other.addTo(document, a.url, &spreads)
		}
	}
	return document
}

// respelled returns a field that an error names as the client's code does, as answers spell it: layout_type for layoutType.
func (f field) respelled() field {
	if f.anywhere {
		f.path = strings.ReplaceAll(strings.ToLower(words.Spell(f.path)), " ", "_")
	}
	return f
}

// object returns the fields that APIs commonly have, common names of lists, and the list
// that the path names.
func object(url string, sent []byte) map[string]any {
	o := map[string]any{
		"id": "1", "status": "ok", "ok": true, "success": true, "name": "note", "title": "note", "key": "note", "type": "note",
		"description": "note", "text": "note", "content": "note", "message": "ok", "path": "note", "state": "open",
		"url": url, "html_url": url, "web_url": url, "created_at": moment, "updated_at": moment,
		"total": 0, "total_count": 0, "count": 0, "size": 0, "has_more": false,
	}
	for _, list := range []string{"data", "items", "results", "records", "values", "entries", "list", "rows"} {
		o[list] = []any{}
	}
	if named := url[strings.LastIndexByte(url, '/')+1:]; word.MatchString(named) && strings.HasSuffix(named, "s") {
		o[camel(named)], o[strings.ReplaceAll(named, "-", "_")] = []any{}, []any{}
	}
	echo(o, sent)
	return o
}

// nested returns an object with numbers for numbers and objects within.
func nested(url string, sent []byte) map[string]any {
	o := object(url, sent)
	maps.Copy(o, map[string]any{
		"id": 1, "number": 1, "status": "OK", "done": true, "completed": true, "next": nil, "next_page_token": nil,
		"data": object(url, nil), "result": object(url, nil), "response": object(url, nil), "user": object(url, nil),
	})
	return o
}

// The bounds of an answer made of the fields that code reads: their number, and how deep
// lists nest.
const (
	maxReadable = 8192
	maxLists    = 3
)

// readable returns an object with the fields that code reads. The elements of a list get
// all fields, for code seldom says which it has; they come last, so that the bound cuts
// these first.
func readable(reads sources.Fields, url string, sent []byte) map[string]any {
	root := object(url, nil)
	left, later := maxReadable, []unfilled(nil)
	for todo := []unfilled{{object: root, names: reads[""].Within}}; len(todo) > 0 && left > 0; {
		for _, name := range todo[0].names {
			next := todo[0].put(name, reads, url)
			if left--; len(next.names) > 0 {
				todo = append(todo, next)
			}
			if next.any {
				later = append(later, unfilled{object: next.object, names: reads[""].Within, lists: next.lists, any: true})
			}
		}
		if todo = todo[1:]; len(todo) == 0 && len(later) > 0 {
			todo, later = []unfilled{later[0]}, later[1:]
		}
	}
	echo(root, sent)
	return root
}

// unfilled is an object of an unfinished answer, the names of its fields, and how many
// lists it is nested in. any is set if it may also have the fields of any other object.
type unfilled struct {
	object map[string]any
	names  []string
	lists  int
	any    bool
}

// put adds a field and returns the object within it, if any.
func (o unfilled) put(name string, reads sources.Fields, url string) unfilled {
	if _, has := o.object[name]; has && o.any {
		return unfilled{}
	}
	known := reads[name]
	value := field{path: name, kind: known.Kind, literal: known.Literal}.value(url)
	_, isList := value.([]any)
	within := unfilled{object: map[string]any{}, names: known.Within, lists: o.lists}
	switch {
	case known.Element != "":
		o.object[name] = []any{field{path: strings.TrimSuffix(name, "s"), kind: known.Element}.value(url)}
		return unfilled{}
	case (known.Kind == "array" || isList) && o.lists < maxLists:
		within.lists++
		within.any = o.lists == 0 || len(within.names) == 0
		o.object[name] = []any{within.object}
	case known.Kind == "object":
		o.object[name] = within.object
	default:
		o.object[name] = value
		return unfilled{}
	}
	return within
}

// echo copies texts from the body to fields of the same name: the client reads back
// what it created.
func echo(o map[string]any, sent []byte) {
	var body map[string]any
	if json.Unmarshal(sent, &body) != nil {
		return
	}
	for name, value := range body {
		text, isText := value.(string)
		if _, known := o[name].(string); known && isText && len(text) <= maxString {
			o[name] = text
		}
	}
}

// field is a part of an answer that a caller reads.
type field struct {
	// path leads there from the root, or from every object if anywhere is set; "*" is
	// every element of a list.
	path     string
	anywhere bool
	// kind is the type of its value: one of JSON's, or a format of JSON Schema; "" if
	// unknown. literal is the value itself, in JSON.
	kind, literal string
}

const anyElement = "*"

// maxWithin bounds how deep "anywhere" reaches, maxSpreads how many objects of an answer
// get a field that way.
const (
	maxWithin  = 3
	maxSpreads = 512
)

// addTo returns the document with the field.
func (f field) addTo(document any, url string, spreads *int) any {
	steps := f.steps()
	if _, is := document.([]any); is && len(steps) > 0 && steps[0] != anyElement {
		steps = append([]string{anyElement}, steps...) // of what the list holds
	}
	if f.anywhere {
		return f.spread(document, url, maxWithin, spreads)
	}
	return put(document, steps, f.value(url))
}

// elements maps the form of a list to the form of its elements.
var elements = map[int]int{formList: formObject, formLists: formNested, formReads: formRead}

// fit returns the form nearest to the given one that has the type f requires of the whole
// answer.
func (f field) fit(form int) int {
	if f.path != "" {
		return form
	}
	switch f.value("").(type) {
	case map[string]any:
		if element, isList := elements[form]; isList {
			return element
		}
	case []any:
		for list, element := range elements {
			if form == element {
				return list
			}
		}
	}
	return form
}

func (f field) steps() []string {
	if f.path == "" {
		return nil
	}
	return strings.Split(f.path, ".")
}

// spread returns a value with the field added to each object within, and an object in
// each empty list: callers read the first element.
func (f field) spread(at any, url string, depth int, left *int) any {
	if *left <= 0 {
		return at
	}
	switch v := at.(type) {
	case map[string]any:
		for name, each := range v {
			if depth > 0 {
				v[name] = f.spread(each, url, depth-1, left)
			}
		}
		*left--
		return put(v, f.steps(), f.value(url))
	case []any:
		if len(v) == 0 {
			v = []any{map[string]any{}}
		}
		for i, each := range v {
			v[i] = f.spread(each, url, depth, left)
		}
		return v
	default:
		return at
	}
}

// put sets the value at the end of the steps, makes what is missing on the way, and
// returns the container. Lists and objects of the right type stay as they are.
func put(at any, steps []string, value any) any {
	if len(steps) == 0 {
		_, object := at.(map[string]any)
		_, list := at.([]any)
		_, wantObject := value.(map[string]any)
		_, wantList := value.([]any)
		if object && wantObject || list && wantList {
			return at
		}
		return value
	}
	if steps[0] == anyElement {
		list, _ := at.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		for i := range list {
			list[i] = put(list[i], steps[1:], value)
		}
		return list
	}
	o, is := at.(map[string]any)
	if !is {
		o = map[string]any{}
	}
	o[steps[0]] = put(o[steps[0]], steps[1:], value)
	return o
}

func (f field) value(url string) any {
	if f.literal != "" {
		var value any
		if json.Unmarshal([]byte(f.literal), &value) == nil {
			return value
		}
	}
	name := f.path[strings.LastIndexByte(f.path, '.')+1:]
	switch strings.ToLower(f.kind) {
	case "object", "record", "map", "dict", "dictionary", "struct", "model":
		if f.path == "" {
			return nested(url, nil)
		}
		return map[string]any{}
	case "array", "list", "sequence", "tuple", "set":
		return []any{}
	case "number", "integer", "int", "float", "nan", "bigint", "int64", "float64", "u64", "i64":
		return 1
	case "boolean", "bool":
		return !moreName.MatchString(name)
	case "null", "none":
		return nil
	case "datetime", "date-time", "date":
		return moment
	case "url", "uri":
		return url
	case "email":
		return "note@example.com"
	case "uuid", "guid":
		return "00000000-0000-4000-8000-000000000001"
	case "string", "str":
		return textFor(name, url)
	default:
		return guess(name, url)
	}
}

// camel converts a name with dashes or underscores to camel case.
func camel(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' })
	for i, w := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
