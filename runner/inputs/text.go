package inputs

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// note is what a text says when nothing better is known.
const note = "A short note about milk and bread."

// formats are the values for JSON Schema's formats (2020-12, section 7.3).
var formats = map[string]string{
	"date-time": "2026-01-15T09:30:00Z", "date": "2026-01-15", "time": "09:30:00Z", "duration": "PT1H",
	"email": Email, "idn-email": Email, "hostname": Host, "idn-hostname": Host,
	"ipv4": "192.0.2.10", "ipv6": "2001:db8::10",
	"uri": URL, "url": URL, "uri-reference": URL, "iri": URL, "iri-reference": URL, "uri-template": URL,
	"uuid": "3f2b8c1e-5d47-4a69-9b0c-7e1d2a3f4b5c", "json-pointer": "/notes", "relative-json-pointer": "0",
	"regex": "note", "byte": "bm90ZQ==",
}

// hint is a value for names that have one of the words.
type hint struct {
	words []string
	value string
}

// pointers come before any word of the description: what points somewhere is
// made up here.
var pointers = []hint{
	{[]string{"url", "urls", "uri", "link", "href", "endpoint", "website", "webpage"}, URL},
	{[]string{"email", "mail", "recipient", "recipients"}, Email},
	{[]string{"host", "hostname", "domain"}, Host},
	{[]string{"ip", "ipv4"}, "192.0.2.10"},
	{[]string{"ipv6"}, "2001:db8::10"},
}

var directoryWords = []string{"dir", "directory", "directories", "folder", "folders", "cwd", "root", "workdir", "workspace"}
var fileWords = []string{"path", "paths", "file", "files", "filename", "filepath", "pathname"}

// walkWords are in the names of tools that go through directories.
var walkWords = []string{"list", "ls", "tree", "search", "find", "glob", "grep", "walk"}

// hints come after the words of the description.
var hints = []hint{
	{[]string{"uuid", "guid"}, "3f2b8c1e-5d47-4a69-9b0c-7e1d2a3f4b5c"},
	{[]string{"id", "ids", "identifier", "number", "count", "limit", "page", "size"}, "1"},
	{[]string{"timezone", "tz"}, "UTC"},
	{[]string{"datetime", "timestamp"}, "2026-01-15T09:30:00Z"},
	{[]string{"date", "day", "since", "until"}, "2026-01-15"},
	{[]string{"time"}, "09:30"},
	{[]string{"query", "search", "keyword", "keywords", "term", "q"}, "notes"},
	{[]string{"sql"}, "SELECT 1"},
	{[]string{"command", "cmd"}, "echo mcpaudit"},
	{[]string{"expression", "code", "script", "formula"}, "1 + 1"},
	{[]string{"json"}, "{}"},
	{[]string{"glob"}, "*.txt"},
	{[]string{"regex", "pattern"}, "note"},
	{[]string{"language", "lang", "locale"}, "en"},
	{[]string{"country"}, "US"},
	{[]string{"currency"}, "USD"},
	{[]string{"city", "location", "place", "address"}, "London"},
	{[]string{"branch"}, "main"},
	{[]string{"ref"}, "HEAD"},
	{[]string{"namespace"}, "default"},
	{[]string{"version"}, "1.0.0"},
	{[]string{"phone"}, "+15550100"},
	{[]string{"color", "colour"}, "blue"},
	{[]string{"token", "key", "secret", "password"}, "mcpaudit-no-secret"},
	{[]string{"name", "title", "user", "username", "owner", "repo", "repository", "author", "tag", "label"}, "mcpaudit"},
}

// text makes a string for a schema, or for the argument of a prompt.
func (g *generator) text(s map[string]any, name string) string {
	format, _ := s["format"].(string)
	description, _ := s["description"].(string)
	title, _ := s["title"].(string)
	text := g.plausible(format, name, title+" "+description)
	if pattern, ok := s["pattern"].(string); ok {
		text = fitPattern(text, pattern)
	}
	least, _ := integer(s["minLength"])
	if missing := least - utf8.RuneCountInString(text); missing > 0 {
		text += strings.Repeat("x", missing)
	}
	if most, ok := integer(s["maxLength"]); ok && utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	if !g.spend(len(text)) {
		return ""
	}
	return text
}

func (g *generator) plausible(format, name, description string) string {
	if value, ok := formats[format]; ok {
		return value
	}
	words := split(name)
	for _, h := range pointers {
		if has(words, h.words) {
			return h.value
		}
	}
	if p, ok := g.path(words, strings.ToLower(description)); ok {
		return p
	}
	if word, ok := offered(description); ok {
		return g.options.relocate(word)
	}
	for _, h := range hints {
		if has(words, h.words) {
			return h.value
		}
	}
	return note
}

// path is a path for a parameter that asks for one.
func (g *generator) path(words []string, description string) (string, bool) {
	about := split(g.options.About)
	switch {
	case has(words, directoryWords):
		return g.options.dir(), true
	case has(words, fileWords):
		directory := strings.Contains(description, "director") || has(about, directoryWords) || has(about, walkWords)
		if directory && !strings.Contains(description, "file") {
			return g.options.dir(), true
		}
		return g.options.File(), true
	case !has(about, fileWords):
		return "", false
	case has(words, []string{"source", "src", "from"}):
		return g.options.File(), true
	case has(words, []string{"destination", "dest", "dst", "target", "to"}):
		return g.options.copied(), true
	}
	return "", false
}

// offers finds a value that a description offers: in quotes (one word, so that
// an apostrophe opens nothing), or after "e.g." and its like.
var offers = []*regexp.Regexp{
	regexp.MustCompile("(?:^|[\\s(\\[,:|/=])['\"`]([^\\s'\"`]{1,64})['\"`](?:[\\s)\\],.:;|/]|$)"),
	regexp.MustCompile(`(?i)(?:e\.g\.|for example|such as)[,:]?\s+([\pL\pN][^\s,;)'"]{0,63})`),
}

func offered(description string) (string, bool) {
	if len(description) > maxLength {
		description = description[:maxLength]
	}
	for _, offer := range offers {
		if found := offer.FindStringSubmatch(description); found != nil {
			word := strings.ToValidUTF8(strings.TrimRight(found[1], "."), "")
			return word, word != ""
		}
	}
	return "", false
}

// numberHint is a small number for a name.
func numberHint(name string) float64 {
	words := split(name)
	switch {
	case has(words, []string{"port"}):
		return 8080
	case has(words, []string{"year"}):
		return 2026
	case has(words, []string{"limit", "max", "top", "k", "count"}):
		return 3
	}
	return 1
}

// split cuts a name into lower-case words: "filePath", "file_path" and
// "FILE-PATH" are "file" and "path".
func split(name string) []string {
	if len(name) > 256 {
		name = name[:256]
	}
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			lower = false
			continue
		}
		if lower && unicode.IsUpper(r) {
			flush()
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		word = append(word, r)
	}
	flush()
	return words
}

func has(words, any []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
}
