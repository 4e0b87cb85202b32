package sinkhole

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/sources"
)

// The forms of JSON answers, in the order in which they are tried: clients read lists
// and objects, numbers and strings, and say nowhere which.
const (
	formObject = iota // of strings, with empty lists
	formList          // empty
	formNested        // an object of numbers, with objects within
	formLists         // a list of such an object
	formRead          // an object of the fields that the server's code reads
	formReads         // a list of such an object
	forms
)

// The orders in which forms are tried: where the code could not be read, and where it was.
var (
	formsUnread = []int{formObject, formList, formNested, formLists}
	formsRead   = []int{formObject, formRead, formReads, formList, formNested, formLists}
)

// moment is when everything in the answers happened.
const moment = "2024-01-01T00:00:00Z"

// asked is a request for a URL, whose body was sent, and what a service that is known
// answers it with; nil if there is none.
type asked struct {
	url      string
	sent     []byte
	document func() any
	// known: the service answers in no other form.
	known bool
	reads sources.Fields
}

// reply is an answer of a form, with the fields that the caller is known to read.
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
	}
	return document
}

// object returns what APIs say of a thing, the names that they have for lists, and the list
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

// nested is an object whose numbers are numbers and whose fields are objects.
func nested(url string, sent []byte) map[string]any {
	o := object(url, sent)
	maps.Copy(o, map[string]any{
		"id": 1, "number": 1, "status": "OK", "done": true, "completed": true, "next": nil, "next_page_token": nil,
		"data": object(url, nil), "result": object(url, nil), "response": object(url, nil), "user": object(url, nil),
	})
	return o
}

// The bounds of an answer that is made of what code reads: its fields, and how deep lists
// lie in lists.
const (
	maxReadable = 8192
	maxLists    = 3
)

// readable is an object of the fields that code reads, and of those of every other object.
// What a list holds may be any of them, for code seldom says which: these come after what it
// does say, so that the bound leaves that.
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

// unfilled is an object of an answer in the making, the fields that it is to have, and the
// lists that it lies in. any: it may have those of any other object, where it has none.
type unfilled struct {
	object map[string]any
	names  []string
	lists  int
	any    bool
}

// put adds a field, and returns the object that comes with it, if any.
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

// echo sets the fields of an object that the body has too, of the same type: who
// creates a thing reads it back.
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

// field is a part of an answer that a caller was seen to read.
type field struct {
	// path leads there from the root; "*" is every element of a list. anywhere: from
	// every object of the answer.
	path     string
	anywhere bool
	// kind is the type of its value: one of JSON's, or a format of JSON Schema; ""
	// when only the name tells. literal is the value itself, in JSON.
	kind, literal string
}

const anyElement = "*"

// maxWithin is how deep "anywhere" goes, and maxSpreads how many objects of one answer
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

// spread returns a value with the field in each object that is in it, and with an
// object in each list that was empty: callers read the first.
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

// put sets the value at the end of the steps and returns what it was put into, which
// is made where it is not there. Lists and objects that fit stay as they are.
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

func textFor(name, url string) string {
	text, is := guess(name, url).(string)
	if !is && !nextName.MatchString(name) {
		return "note"
	}
	return text // "" where a page after this one would be named
}

// What the name of a field says of its value.
var (
	timeName   = lazyregexp.New(`(?:_at|At|_on|[dD]ate|[tT]ime|[tT]imestamp)$`)
	urlName    = lazyregexp.New(`(?i)(?:url|uri|href|link|website)$`)
	numberName = lazyregexp.New(`(?i)(?:count|total|number|size|length|limit|offset|page|pages|version|width|height|score|amount|price|duration|lat|lng|lon|latitude|longitude|index|rank|percent|iid)$`)
	truthName  = lazyregexp.New(`^(?:is|has|can|should|allow)(?:_|[A-Z])|^(?:ok|success|enabled|active|completed|done)$`)
	listName   = lazyregexp.New(`(?:[^su]s|ies|List|_list|children)$`)
	idName     = lazyregexp.New(`(?:^|_)(?:id|ID|gid|key|sha)$|I[dD]$`)
	moreName   = lazyregexp.New(`(?i)^has_?(?:more|next)`)
	nextName   = lazyregexp.New(`(?i)^(?:next|after$|cursor$)|next_?(?:page)?_?(?:token|cursor|link|url)$|end_?cursor$`)
	emailName  = lazyregexp.New(`(?i)email$`)
)

// guess is a value for a field of which only the name is known.
func guess(name, url string) any {
	switch {
	case moreName.MatchString(name):
		return false
	case nextName.MatchString(name): // there is one page
		return nil
	case timeName.MatchString(name):
		return moment
	case urlName.MatchString(name):
		return url
	case idName.MatchString(name):
		return "1"
	case emailName.MatchString(name):
		return "note@example.com"
	case truthName.MatchString(name):
		return true
	case numberName.MatchString(name):
		return 1
	case listName.MatchString(name) && name != "status" && name != "address":
		return []any{}
	default:
		return "note"
	}
}

// camel is a name of words with dashes or underscores in camel case.
func camel(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' })
	for i, w := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
