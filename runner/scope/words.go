package scope

import "github.com/mcpaudit/mcpaudit/runner/words"

// lexicon holds the words that speak of a use, and others by which texts are read.
var lexicon = words.Read[struct {
	Network, Subprocess, File, Write, Negations words.Set
	LocalThings, Reading, Bare                  words.Set
	Domains, APIWords, APIKinds                 words.Set
	Services                                    map[string][]string
}]("scope")

var (
	networkWords, subprocessWords, fileWords = lexicon.Network, lexicon.Subprocess, lexicon.File
	// negations deny what follows within a few words of the same sentence.
	negations = lexicon.Negations
)
