package inputs

import (
	"math/rand/v2"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// DrawNames draws what the server sees in place of Word, of the names made of it, and of Host, so that a server whose
// author knows them does not recognize the audit. Host stays if the network is open, because the drawn one may be
// somebody's.
func DrawNames(open bool) *pseudonym.Names {
	spell := func(form string) string {
		return strings.Map(func(r rune) rune {
			if letters := spelling[r]; letters != "" {
				return rune(letters[rand.IntN(len(letters))])
			}
			return r
		}, form)
	}
	word, mark, domain := spell("CVCCVC"), spell("M"), spell("CVCVCCV")
	pairs := []pseudonym.Pair{
		{Name: Word, Seen: word, Inward: true}, // somebody's home may have that name
		{Name: Word + "-c", Seen: word + "-" + mark},
		{Name: Word + "_c", Seen: word + "_" + mark},
		{Name: Word + "-ca", Seen: word + "-ca"}, // of the authority
		{Name: Word + "-go/", Seen: word + "-go/"},
		{Name: Word + "-called/", Seen: word + "-called/"},
		{Name: Word + "-run-c", Seen: word + "-job-" + mark},
		{Name: uuidMiddle, Seen: spell("-XXXX-4XXX-9XXX-")},
	}
	if !open {
		pairs = append(pairs, pseudonym.Pair{Name: Host, Seen: strings.Replace(Host, "example", domain, 1)},
			pseudonym.Pair{Name: "example", Seen: domain, Inward: true}) // in a DNS message it has no dots around it
	}
	for _, e := range otherEndings {
		pairs = append(pairs, pseudonym.Pair{Name: Word + "-" + e[0], Seen: word + "-" + e[rand.IntN(len(e))]})
	}
	names, err := pseudonym.New(pairs)
	if err != nil {
		panic(err) // TestDrawNames
	}
	return names
}

// spelling has the letters that stand for those of a form: consonants, vowels, the letter of a mark, which begins no
// ending, and hexadecimal digits.
var spelling = map[rune]string{'C': "bdfgklmnprstvz", 'V': "aeiou", 'M': "jqxy", 'X': "0123456789abcdef"}

// otherEndings are words after Word, each with those of the same length that the server may see in its place.
var otherEndings = [][]string{
	{"files", "books", "notes", "pages", "plans", "texts", "house"},
	{"repository", "collection", "experiment", "playground", "foundation", "technology"},
	{"shop", "blog", "desk", "site", "team", "work"},
	{"account", "billing", "contact", "profile", "machine", "support"},
	{"tools", "utils", "progs", "parts", "build"},
	{"local", "agent", "cache", "state", "store"},
	{"elsewhere", "documents", "originals", "templates", "downloads", "reference"},
}
