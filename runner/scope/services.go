package scope

import "github.com/mcpaudit/mcpaudit/runner/lazyregexp"

// apiWord matches where a service may be named.
var apiWord = lazyregexp.New(`(?i)\b(?:APIs?|endpoints?)\b`)

// maxServiceWords bounds the words of a service's name.
const maxServiceWords = 3

// Names reports whether a declaration names the service whose API is at a host: that
// alone, where one word and one host belong to that service only.
func (d Declaration) Names(host string) bool {
	for name, hosts := range lexicon.Services {
		if len(hosts) == 1 && hosts[0] == host && d.Mentions(name) {
			return true
		}
	}
	return false
}
