package sinkhole

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

func textFor(name, url string) string {
	text, is := guess(name, url).(string)
	if !is && !nextName.MatchString(name) {
		return "note"
	}
	return text // "" where a page after this one would be named
}

// Field names that reveal the type of the value.
var (
	timeName   = lazyregexp.New(`(?:_at|At|_on|[dD]ate|[tT]ime|[tT]imestamp)$`)
	hostName   = lazyregexp.New(`(?:^|_)(?:host|hostname|domain|fqdn)$|[a-z](?:Host|HostName|Hostname|Domain)$`)
	urlName    = lazyregexp.New(`(?i)(?:url|uri|href|link|website)$`)
	numberName = lazyregexp.New(`(?i)(?:count|total|number|size|length|limit|offset|page|pages|version|width|height|score|amount|price|duration|lat|lng|lon|latitude|longitude|index|rank|percent|iid)$`)
	truthName  = lazyregexp.New(`^(?:is|has|can|should|allow)(?:_|[A-Z])|^(?:ok|success|enabled|active|completed|done)$`)
	listName   = lazyregexp.New(`(?:[^su]s|ies|List|_list|children)$`)
	idName     = lazyregexp.New(`(?:^|_)(?:id|ID|gid|key|sha)$|I[dD]$`)
	moreName   = lazyregexp.New(`(?i)^has_?(?:more|next)`)
	nextName   = lazyregexp.New(`(?i)^(?:next|after$|cursor$)|next_?(?:page)?_?(?:token|cursor|link|url)$|end_?cursor$`)
	emailName  = lazyregexp.New(`(?i)email$`)
)

// guess returns a value for a field of which only the name is known.
func guess(name, url string) any {
	switch {
	case moreName.MatchString(name):
		return false
	case nextName.MatchString(name): // there is one page
		return nil
	case timeName.MatchString(name):
		return moment
	case hostName.MatchString(name): // a client sends its key there
		return answering(url)
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

// answering returns the host of the service that answers.
func answering(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
