package scope

import "github.com/mcpaudit/mcpaudit/runner/lazyregexp"

// apiWord is where a service may be named; apiWords are the words themselves, and
// apiKinds those that may stand between the name and them.
var (
	apiWord  = lazyregexp.New(`(?i)\b(?:APIs?|endpoints?)\b`)
	apiWords = lexicon.APIWords
	apiKinds = lexicon.APIKinds
)

// maxServiceWords is how many words a name in services has at most.
const maxServiceWords = 3

// services has those whose API is often spoken of, by their names in lower case, with
// the hosts that it is known to be at. A name without "API" behind it may be a word
// like any other.
var services = lexicon.Services

// Names reports whether a declaration names the service whose API is at a host: that
// alone, where one word and one host belong to that service only.
func (d Declaration) Names(host string) bool {
	for name, hosts := range services {
		if len(hosts) == 1 && hosts[0] == host && d.Mentions(name) {
			return true
		}
	}
	return false
}
