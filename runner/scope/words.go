package scope

import (
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// lexicon holds the words by which texts are read.
// It is read when needed: most processes of an audit read no text.
var lexicon = sync.OnceValue(func() lists { return words.Read[lists]("scope") })

type lists struct {
	// Network, Subprocess, File and Write speak of such a use.
	Network, Subprocess, File, Write words.Set
	// Negations deny what follows within a few words of the same sentence.
	Negations words.Set
	// LocalThings are local without a promise in it: a file, a time.
	LocalThings words.Set
	// Reading are verbs of pathNamed that read; the others write. Bare may also be orders.
	Reading, Bare words.Set
	// Domains are the top-level domains by which a name with dots is a host's without
	// "https://" before it: "README.md" and "Node.js" are none.
	Domains words.Set
	// APIWords stand behind the name of a service, APIKinds may stand between.
	APIWords, APIKinds words.Set
	// Services has those whose API is often spoken of, by their names in lower case, with
	// their hosts. A name without "API" behind it may be a word like any other.
	Services map[string][]string
}
