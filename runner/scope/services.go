package scope

import "github.com/mcpaudit/mcpaudit/runner/lazyregexp"

// apiWord matches where a service may be named.
var apiWord = lazyregexp.New(`(?i)\b(?:APIs?|endpoints?)\b`)

const maxServiceWords = 3 // of a name

// Names reports whether a declaration names the service whose only API host this is.
func (d Declaration) Names(host string) bool {
	for name, hosts := range lexicon().Services {
		if len(hosts) == 1 && hosts[0] == host && d.Mentions(name) {
			return true
		}
	}
	return false
}
