package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// kind is the apparent kind of a value.
type kind string

const (
	uri   kind = "uri"
	path_ kind = "path"
	email kind = "email"
	uuid  kind = "uuid"
	id    kind = "id"
	word  kind = "word"
	prose kind = "prose"
)

var (
	uriForm   = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+$`)
	emailForm = lazyregexp.New(`^[^\s@/]{1,64}@[^\s@/]{1,128}$`)
	uuidForm  = lazyregexp.New(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	idForm    = lazyregexp.New(`^(?:#?\d{1,18}|[A-Za-z]{1,24}[-_#:]?\d{1,18}|[0-9a-f]{7,64}|[\w-]*` + Word + `[-_]c\d+|(?i:` + lettered + `))$`)

	// found matches values in running text that are recognizable by themselves.
	found = lazyregexp.New(`(?i)[a-z][a-z0-9+.-]{0,30}://[^\s"'<>)\]}]{1,256}|` +
		`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[a-z][a-z0-9]{0,15}[-_]\d{1,12}\b|\b` + lettered + `\b|#\d{1,9}\b`)
	paths = lazyregexp.New(`(?:^|[\s"'(=:])(/[^\s"'<>)\]},;]{1,255})`)
	// lines matches lines of a single word, or of several between commas.
	lines = lazyregexp.New(`(?m)^[ \t]*([\pL\pN][\pL\pN_.@-]+(?:, ?[\pL\pN][\pL\pN_.@-]+)*)[ \t]*\r?$`)
	// rows matches the first column of a table: "notes.txt<tab>12 bytes".
	rows = lazyregexp.New(`(?m)^[ \t]*([\pL\pN][\pL\pN_.@/-]{2,127})(?:[ \t]*\t|  +)[ \t]*\S`)
	// pairs matches lines such as "ID: 7" and "- name = notes".
	pairs = lazyregexp.New(`(?m)^[ \t]*(?:[-*•][ \t]+)?\**([A-Za-z][\w -]{0,31}?)\**[ \t]*[:=][ \t]*(\S[^\n]{0,127})$`)
)

// lettered matches an id with four or more letters and digits after a prefix: "brd-3f2a1b",
// not "utf-8" or "well-known".
const lettered = `[a-z][a-z0-9]{0,15}[-_](?:\d[a-z0-9]{3,39}|[a-z]\d[a-z0-9]{2,38}|[a-z]{2}\d[a-z0-9]{1,37}|[a-z]{3,36}\d[a-z0-9]{0,36})`

func kindOf(value string) kind {
	switch {
	case uriForm.MatchString(value):
		return uri
	case len(value) > 1 && value[0] == '/' && !strings.ContainsAny(value, "\n\t"):
		return path_
	case emailForm.MatchString(value):
		return email
	case uuidForm.MatchString(value):
		return uuid
	case idForm.MatchString(value):
		return id
	case len(value) > 64 || strings.Count(value, " ") > 4 || strings.ContainsAny(value, "\n\t{}<>"):
		return prose
	}
	return word
}

// harvest searches one text.
type harvest struct {
	allowance
	pool         *Pool
	from, source string
	// marked: only values with a mark; unmarked: only values without one, other than planted files.
	marked, unmarked bool
	// echoes, if set, reports whether a value was part of the call.
	echoes func(word string) bool
	// parameters are names that a description may quote.
	parameters []string
	// records are the JSON objects around it, the innermost first.
	records []int
}

func (h *harvest) add(value string, key, about []string) {
	value = strings.TrimSpace(value)
	if first, _, _ := strings.Cut(strings.ToLower(value), ":"); complaints[first] && len(first) < len(value) {
		return
	}
	if len(value) > maxValue || !h.spend(16+len(value)) {
		return
	}
	kind := kindOf(value)
	if kind == uri && strings.ContainsAny(value, "{}<>*") {
		return // a template of URIs
	}
	if h.passes(value) {
		return
	}
	h.pool.add(entry{value: value, kind: kind, key: key, about: about, from: h.from, source: h.source, records: h.records})
}

// passes reports whether a value is skipped, such as the call's own values in an error.
func (h *harvest) passes(value string) bool {
	_, marked := Marked(value)
	switch {
	case h.marked:
		return !marked || strings.Contains(value, " ")
	case h.unmarked && (marked || strings.Contains(value, FilesDir+"/")):
		return true
	}
	return echoed.MatchString(value) || slices.Contains(h.parameters, value) || h.echoes != nil && h.echoes(value)
}

// echoed matches values that only repeat the call's arguments.
var echoed = lazyregexp.New(`(?i)^` + Word + `[-_]c\d+$|^\S*\bc\d+\.pages\.example\.net\S*$`)

// json searches a JSON text.
func (h *harvest) json(raw []byte, key, about []string) {
	if len(raw) > maxHarvest {
		h.text(head(string(raw), maxHarvest), key, about)
		return
	}
	h.value(Decode(raw), key, about, 0)
}

// dull are members without content.
var dull = words("type mimeType mimetype annotations role encoding blob jsonrpc isError resultType _meta icons sizes audience priority")

func (h *harvest) value(v any, key, about []string, depth int) {
	if depth > 2*maxDepth || !h.spend(16) {
		return
	}
	switch v := v.(type) {
	case string:
		h.string(v, key, about, depth)
	case json.Number:
		h.add(v.String(), key, about)
	case []any:
		for _, item := range v {
			if !h.spend(1) {
				return
			}
			h.value(item, singular(key), about, depth+1)
		}
	case map[string]any:
		h.object(v, key, about, depth)
	}
}

func (h *harvest) object(v map[string]any, key, about []string, depth int) {
	if !h.spend(16 * len(v)) {
		return
	}
	defer func(outer []int) { h.records = outer }(h.records)
	h.pool.objects++
	h.records = append([]int{h.pool.objects}, h.records[:min(len(h.records), 2)]...)
	inner := about
	if words := meaning(singular(slices.Clone(key))); len(words) > 0 && len(about) < maxWords {
		inner = append(words, about...)
	}
	objects := 0
	names := slices.Sorted(maps.Keys(v))
	for _, name := range names {
		if _, is := v[name].(map[string]any); is {
			objects++
		}
	}
	for _, name := range names {
		if dull[name] {
			continue
		}
		if objects == len(v) && len(v) > 1 { // by name: {"billing": {...}, "auth": {...}}
			h.add(name, singular(key), about)
		}
		h.value(v[name], singular(split(name)), inner, depth+1)
	}
}

// content lists the members of results that contain prose.
var content = words("text content message description contents output body instruction note summary comment prompt thought observation")

func (h *harvest) string(text string, key, about []string, depth int) {
	if !h.spend(len(text)) {
		return
	}
	trimmed := strings.TrimSpace(text)
	if len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(trimmed)) {
		h.value(Decode([]byte(trimmed)), key, about, depth+1)
		return
	}
	isContent := len(key) > 0 && content[key[len(key)-1]]
	if !isContent {
		h.add(trimmed, key, about)
	} else if kind := kindOf(trimmed); kind != word && kind != prose && !strings.Contains(trimmed, " ") {
		h.add(trimmed, nil, about)
	}
	if isContent || kindOf(trimmed) == prose {
		h.text(text, nil, about)
	}
}

// text searches running text.
func (h *harvest) text(text string, key, about []string) {
	if h.marked || !h.spend(0) {
		return
	}
	text = head(text, maxText)
	for _, match := range found.FindAllString(text, 4*maxAlike) {
		h.add(strings.TrimRight(match, ".,:;!?"), key, about)
	}
	for _, match := range paths.FindAllStringSubmatch(text, 2*maxAlike) {
		h.add(strings.TrimRight(match[1], ".,:;!?"), key, about)
	}
	for _, match := range pairs.FindAllStringSubmatch(text, 4*maxAlike) {
		h.pair(match[1], strings.Trim(match[2], " \t\r*`'\","), about)
	}
	if has(split(h.from), walkWords) { // a list has a name on each line
		for _, match := range lines.FindAllStringSubmatch(text, maxAlike) {
			for name := range strings.SplitSeq(match[1], ",") {
				h.add(name, nil, about)
			}
		}
		for _, match := range rows.FindAllStringSubmatch(text, maxAlike) {
			h.add(match[1], nil, about)
		}
	}
	for _, each := range slices.Concat(quoted(text), bullets(text)) {
		h.add(each, nil, about)
	}
}

// complaints begin error messages: "Error executing command: no such file".
var complaints = words("error invalid failed unexpected unsafe unknown missing cannot warning")

// pair adds the values of a line such as "Services: billing, auth" or "ID: 7".
func (h *harvest) pair(name, value string, about []string) {
	words := singular(split(name))
	if len(words) == 0 || len(words) > 4 || complaints[words[0]] {
		return
	}
	var list collection
	list.all(value, 2)
	for _, each := range list.values {
		h.add(each, words, about)
	}
	if len(list.values) == 0 && kindOf(value) != prose {
		h.add(value, words, about)
	}
}
