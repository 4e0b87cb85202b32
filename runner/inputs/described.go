package inputs

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// A description can ask for a path where the name does not: "Path of the repository".

var (
	// pathOf matches descriptions of a path: "Path of the repository", "Folder to look in", not
	// "Folder id" or "Path of the URL".
	pathOf = lazyregexp.New(`(?i)^\W*(?:(?:the|an?|optional|full|absolute|relative|local|valid|existing|project|working|root|base|file|filesystem)\W+)*` +
		`(?:path(?:name)?|director(?:y|ies)|folders?)(?:\s+(?:of|to|in|on|with|within|below|under|that|which|where|containing|holding)\b|\s*(?:$|[.,:;(]))`)
	// pathElsewhere matches descriptions of a path through something other than files.
	pathElsewhere = lazyregexp.New(`(?i)\b(?:urls?|https?|uris?|api|endpoints?|requests?|routes?|json|xml|yaml|objects?|propert(?:y|ies)|keys?|fields?|nodes?|elements?|` +
		`menus?|mail(?:box)?|e-?mails?|messages?|bookmarks?|drive|bucket|vault|secrets?)\b`)
	// kindOfFile matches a kind of file or directory, which does not say where it is.
	kindOfFile = lazyregexp.New(`(?i)\b[a-z]+ (?:files?|folders?|director(?:y|ies)|projects?)\b`)
	// directoryOf matches descriptions of the path of a directory itself, not of its content.
	directoryOf = lazyregexp.New(`(?i)^\W*(?:[a-z]+\W+){0,4}?(?:(?:director(?:y|ies)|folders?)\b|path(?:name)?\s+(?:of|to)\s+(?:[a-z]+\s+){0,3}?(?:director(?:y|ies)|folders?|repositor(?:y|ies))\b)`)
	placedIn    = lazyregexp.New(`(?i)\b(?:in|on|with|within|below|under|inside)\b`)
)

// dataPath matches languages for paths within a document.
var dataPath = lazyregexp.New(`(?i)\b(?:json[ -]?path|json pointer|xpath|jmespath|jq|dot(?:ted)?[ -]notation)\b`)

// leadsThroughData reports whether a place takes a path within a document.
func leadsThroughData(n *node) bool {
	description := said(n)
	return dataPath.MatchString(description) && !strings.Contains(strings.ToLower(description), "file")
}

// saysPath reports whether the description of a text says that it is a path.
func saysPath(n *node) bool {
	words := split(n.name)
	if len(words) == 0 || idWords[words[len(words)-1]] || n.kind != "string" && n.kind != "" {
		return false
	}
	description := said(n)
	return pathOf.MatchString(description) && !pathElsewhere.MatchString(kindOfFile.ReplaceAllString(description, ""))
}

// saysDirectory reports whether it says that the path names a directory.
func saysDirectory(n *node) bool {
	description := said(n)
	named := directoryOf.FindString(description)
	return saysPath(n) && named != "" && !placedIn.MatchString(named) && !strings.Contains(strings.ToLower(description), "file")
}

// nameOf matches descriptions of one word: "Name of the container", "Container ID".
var nameOf = lazyregexp.New(`(?i)^\W*((?:[a-z]+\s+){0,4}?)(?:name|id|identifier|slug|handle)s?(?:\s+or\s+(?:name|id|identifier|tag|digest))?` +
	`(?:\s+(?:of|for|to)\b|\s*(?:$|[.,:;(]))`)

// things are parameters whose values are identifiers, not prose.
var things = words("container pod deployment cluster service package module queue bucket")

// relating are words after which a description names something else: "Note about the name".
var relating = []string{"of", "about", "to", "with", "in", "for", "before", "after", "by", "without"}

// saysName reports whether a text is the name or the id of something, by its description or its own name.
func saysName(n *node) bool {
	words := split(n.name)
	if isProse(n) || len(words) == 0 {
		return false
	}
	found := nameOf.FindStringSubmatch(said(n))
	return found != nil && !has(split(found[1]), relating) || things[words[len(words)-1]]
}

// said returns the beginning of a place's description.
func said(n *node) string {
	description, _ := n.s["description"].(string)
	return head(description, maxLength)
}
