package inputs

import (
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"

	lists "github.com/mcpaudit/mcpaudit/runner/words"
)

// formatted makes the values for JSON Schema's formats (2020-12, section 7.3) and
// some that are no standard.
func formatted(format string, m Mark) (string, bool) {
	switch format {
	case "email", "idn-email":
		return m.email(), true
	case "hostname", "idn-hostname":
		return m.Host(), true
	case "ipv4":
		return m.address(), true
	case "ipv6":
		return m.address6(), true
	case "uri", "url", "uri-reference", "iri", "iri-reference", "uri-template":
		return m.url(), true
	case "uuid":
		return m.UUID(), true
	}
	value, ok := formats[format]
	return value, ok
}

// formats has those that point nowhere.
var formats = map[string]string{
	"date-time": madeDay + "T09:30:00Z", "date": madeDay, "time": "09:30:00Z", "duration": "PT1H",
	"json-pointer": "/notes", "relative-json-pointer": "0", "regex": "note", "byte": "bm90ZQ==",
}

// hint is a value for names that have one of the words.
type hint struct {
	words []string
	value string
}

// pointers are names of what points outside, by the format that it has.
var pointers = []hint{
	{[]string{"url", "urls", "uri", "uris", "link", "links", "href", "endpoint", "website", "webpage"}, "uri"},
	{[]string{"email", "mail", "recipient", "recipients"}, "email"},
	{[]string{"host", "hostname", "domain"}, "hostname"},
	{[]string{"ip", "ipv4"}, "ipv4"},
	{[]string{"ipv6"}, "ipv6"},
}

// pointing returns the format of a place for hosts, addresses and URIs; "" for others.
func (f *Form) pointing(n *node) string {
	format, _ := n.s["format"].(string)
	if _, ok := formatted(format, Mark{}); ok && formats[format] == "" && format != "uuid" {
		return format
	}
	words := split(n.name)
	if format, ok := valueFor(words, pointers); ok {
		return format
	}
	if about, _ := n.s["description"].(string); mailboxOf.MatchString(about) || has(words, addressees) && (has(f.about, mailWords) || mailTalk.MatchString(about)) {
		return "email"
	}
	if urlOf.MatchString(said(n)) && (n.kind == "string" || n.kind == "") {
		return "uri"
	}
	return ""
}

// addressees are names of recipients in tools for mail, which have mailWords in their names.
var (
	addressees = []string{"to", "cc", "bcc"}
	mailWords  = []string{"email", "emails", "mail", "mails"}
)

var (
	mailTalk = lazyregexp.New(`(?i)\be-?mails?\b`)
	// mailboxOf are descriptions of a mailbox: "Email address of the recipient", not "Email body".
	mailboxOf = lazyregexp.New(`(?i)^\W*(?:(?:the|an?|valid|optional|comma-separated|list|of|to|cc|bcc|recipients?'?s?|senders?'?s?|users?'?s?|person'?s?|contact'?s?|customer'?s?)\W+)*` +
		`e-?mails?(?: of\b| to (?:send|cc|bcc)|\W*(?:address(?:es)?\b|$|[.,(;]))`)
)

// urlWords are names of what is on the network, where a URI can be anything.
var urlWords = []string{"url", "urls", "link", "links", "href", "endpoint", "website", "webpage"}

var directoryWords = []string{"dir", "directory", "directories", "folder", "folders", "cwd", "root", "workdir", "workspace"}
var repositoryWords = []string{"git", "repo", "repository", "repositories"}
var fileWords = []string{"path", "paths", "file", "files", "filename", "filepath", "pathname"}

// walkWords are in the names of tools that go through directories, createWords in
// those that make something.
var walkWords = []string{"list", "ls", "tree", "search", "find", "glob", "grep", "walk"}
var createWords = []string{"create", "add", "new", "write", "save", "insert", "put", "set", "register", "make", "mkdir",
	"upload", "store", "remember", "open", "start", "post", "export", "define", "declare", "init", "initialize", "begin", "launch", "spawn",
	"allocate", "reserve", "schedule"}
var targetWords = []string{"destination", "dest", "dst", "target", "to", "output", "out"}
var newWords = []string{"new", "destination", "dest", "dst"}
var sourceWords = []string{"source", "src", "from", "input"}

// sought is the default search term.
const sought = "milk"

// hints are the values for other names. Those of names and identifiers are marked.
var hints = []hint{
	{[]string{"uuid", "guid"}, "\x00uuid"},
	{[]string{"number", "count", "limit", "page", "size"}, "1"},
	{[]string{"timezone", "tz"}, "UTC"},
	{[]string{"datetime", "timestamp"}, madeDay + "T09:30:00Z"},
	{[]string{"date", "day", "since", "until"}, madeDay},
	{[]string{"time"}, "09:30"},
	{[]string{"sheet", "worksheet", "sheetname"}, "Sheet1"},
	{[]string{"cell", "cells"}, "A1"},
	{[]string{"range"}, "A1:B2"},
	{[]string{"column", "columns", "col"}, "A"},
	{[]string{"query", "search", "keyword", "keywords", "term", "q"}, sought},
	{[]string{"command", "cmd"}, "echo \x00id"},
	{[]string{"expression", "code", "script", "formula"}, "1 + 1"},
	{[]string{"glob"}, "*.txt"},
	{[]string{"regex", "pattern", "patterns"}, "note"},
	{[]string{"old"}, "milk"},
	{[]string{"language", "lang", "locale"}, "en"},
	{[]string{"country"}, "US"},
	{[]string{"currency"}, "USD"},
	{[]string{"city", "location", "place", "address"}, "London"},
	{[]string{"branch"}, "main"},
	{[]string{"ref", "revision", "rev", "commitish"}, "HEAD"},
	{[]string{"namespace"}, "default"},
	{[]string{"version"}, "1.0.0"},
	{[]string{"phone"}, "+15550100"},
	{[]string{"type", "kind", "category"}, "note"},
	{[]string{"color", "colour"}, "blue"},
	{[]string{"id", "ids", "identifier", "token", "key", "secret", "password", "name", "names", "title", "user", "username",
		"owner", "repo", "repository", "author", "tag", "tags", "label"}, "\x00id"},
}

// plausible makes up a text for a place.
func (d *draft) plausible(n *node) string {
	format, _ := d.form.amended(n)["format"].(string)
	if value, ok := formatted(format, d.mark); ok {
		return d.form.dated(n, d.page(n, value))
	}
	if n.s["contentEncoding"] == "base64" {
		content, ok := d.form.content(n)
		if !ok {
			content = []byte(d.mark.Text())
		}
		return base64.StdEncoding.EncodeToString(content)
	}
	if value, ok := d.service(n); ok {
		return value
	}
	if value, ok := formatted(d.form.pointing(n), d.mark); ok {
		return d.page(n, value)
	}
	if path, ok := d.newPath(n); ok {
		return path
	}
	if d.form.names(n) {
		return d.mark.ID()
	}
	for _, made := range []func(*node) (string, bool){d.form.revision, d.form.sample} {
		if text, ok := made(n); ok {
			return text
		}
	}
	words := split(n.name)
	if last := len(words) - 1; last >= 0 && (words[last] == "id" || words[last] == "ids") {
		words = words[last:]
	}
	if value, ok := valueFor(words, hints); ok {
		return d.form.dated(n, strings.NewReplacer("\x00id", d.mark.ID(), "\x00uuid", d.mark.UUID()).Replace(value))
	}
	if saysName(n) {
		return d.mark.ID()
	}
	return d.mark.Text()
}

// valueFor returns the value of the first hint that shares a word; false for none.
func valueFor(words []string, hints []hint) (string, bool) {
	i := slices.IndexFunc(hints, func(h hint) bool { return has(words, h.words) })
	if i < 0 {
		return "", false
	}
	return hints[i].value, true
}

// settled reports whether a name says by itself which notation a text is in, so that
// what is made up there is likelier than what was named elsewhere.
func (f *Form) settled(n *node) bool {
	if _, ok := f.sample(n); ok {
		return true
	}
	value, _ := valueFor(split(n.name), hints)
	return notations[value]
}

// notations are the values of the hints that are in one.
var notations = map[string]bool{"UTC": true, madeDay + "T09:30:00Z": true, madeDay: true, "09:30": true, "Sheet1": true, "A1": true, "A1:B2": true, "A": true, "1 + 1": true}

// isPath reports whether a place asks for a path, isDirectory whether for one of a
// directory. Where a parameter does not say, its description, the name of the tool or a
// refusal often does.
func (f *Form) isPath(n *node) bool {
	words := split(n.name)
	return !leadsThroughData(n) && (f.isDirectory(n) || has(words, fileWords) || saysPath(n)) || f.taught(n).path ||
		has(f.about, fileWords) && (has(words, sourceWords) || has(words, targetWords))
}

func (f *Form) isDirectory(n *node) bool {
	words := split(n.name)
	if known := f.taught(n); known.file || known.folder {
		return known.folder
	}
	if has(words, directoryWords) || has(words, fileWords) && has(words, repositoryWords) || saysDirectory(n) {
		return true
	}
	description := strings.ToLower(said(n))
	return has(words, fileWords) && !strings.Contains(description, "file") &&
		(strings.Contains(description, "director") || strings.Contains(description, "repositor") || has(f.about, directoryWords) || has(f.about, walkWords))
}

// isRepository reports whether a place asks for the directory of a git repository.
func (f *Form) isRepository(n *node) bool {
	return f.isDirectory(n) && (has(f.about, repositoryWords) || has(split(n.name), repositoryWords) || f.taught(n).repository ||
		saysDirectory(n) && has(singular(nouns(said(n))), repositoryWords))
}

// creates reports whether a path names something new.
func (f *Form) creates(n *node) bool {
	words := split(n.name)
	if known := f.taught(n); known.absent || known.present {
		return f.isPath(n) && known.present
	}
	if f.isRepository(n) {
		return has(f.about, []string{"init", "clone"})
	}
	return f.isPath(n) && (has(words, targetWords) || has(f.about, createWords) && !has(words, sourceWords))
}

// names reports whether a text is the name of something new.
func (f *Form) names(n *node) bool {
	words := split(n.name)
	if known := f.taught(n); known.absent || known.present {
		return known.present
	}
	last := len(words) - 1
	if has(words, newWords) && (words[last] == "name" || words[last] == "title") {
		return true
	}
	return last >= 0 && has(f.about, createWords) && (words[last] == "name" || words[last] == "title") &&
		(last == 0 || has(f.about, words[:last]) && !has(words[:last], fileWords))
}

// isProse reports whether a text is one that people write, and no name of anything.
func isProse(n *node) bool {
	words := split(n.name)
	return len(words) > 0 && content[words[len(words)-1]]
}

// paths returns existing files, or directories, for a place that asks for one. Tools that
// remove files get only the spare ones, and no directory.
func (f *Form) paths(n *node) []candidate {
	if !f.isPath(n) || f.creates(n) {
		return nil
	}
	found := f.existing(n)
	if dirs := f.taught(n).dirs; len(dirs) > 0 {
		var below []candidate
		for _, dir := range dirs {
			below = append(below, f.options.below(dir, found)...)
		}
		found = below
	}
	return slices.DeleteFunc(found, func(c candidate) bool { return f.takesAway(n) && f.options.keeps(c.value) })
}

// existing are the files, or directories, that are there where nothing says otherwise.
func (f *Form) existing(n *node) (found []candidate) {
	o := f.options
	if f.isRepository(n) {
		return []candidate{{value: o.repository()}, {value: o.files()}}
	}
	if f.isDirectory(n) {
		return []candidate{{value: o.files()}, {value: o.dir()}}
	}
	for _, ending := range f.endingsOf(n) {
		for _, name := range o.having(ending, f.takesAway(n)) {
			found = append(found, candidate{value: name})
		}
	}
	if len(found) == 0 {
		for i := range ordinary {
			found = append(found, candidate{value: o.file(i)})
		}
	}
	if isBare(n) {
		found = slices.Insert(found, 1, candidate{value: path.Base(found[0].value.(string))})
	}
	return found
}

// takesAway reports whether a call removes the file at a path. A tool with another required text removes
// that from the file instead.
func (f *Form) takesAway(n *node) bool {
	if f.isRepository(n) || !has(f.about, []string{"delete", "remove", "rm", "rmdir", "move", "rename", "unlink"}) {
		return false
	}
	return has(f.about, fileWords) || has(f.about, directoryWords) || !slices.ContainsFunc(f.outermost(), func(each field) bool {
		return each.required && each.node.textual() && !f.hasPath(each.node)
	})
}

// keeps reports whether other calls need a path.
func (o Options) keeps(value any) bool {
	return value == o.dir() || value == o.files() || value == o.repository() ||
		slices.ContainsFunc(Files(), func(f File) bool { return !f.spare() && value == o.dir()+"/"+f.Path })
}

// numberHint is a small number for a name.
func numberHint(name string) float64 {
	words := split(name)
	switch {
	case has(words, []string{"pid", "pids"}):
		return noPID
	case has(words, []string{"port"}):
		return 8080
	case has(words, []string{"year"}):
		return 2026
	case has(words, []string{"limit", "max", "top", "k", "count"}):
		return 3
	}
	return 1
}

// split cuts a name into lower-case words.
var split = lists.OfName

// has reports whether two lists share a word.
func has(words, any []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
}
