package words

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                   nil,
		"One. Two! Three?":                   {"One.", "Two!", "Three?"},
		"A long line\ngoes on.\n\nNext":      {"A long line\ngoes on.", "Next"},
		"Lists:\n- one\n- two":               {"Lists:", "- one", "- two"},
		"It ensures stability.This is new":   {"It ensures stability.", "This is new"},
		"Reads API.Weather.GOV and node.js":  {"Reads API.Weather.GOV and node.js"},
		"Takes a path, e.g. /tmp. Then more": {"Takes a path, e.g. /tmp.", "Then more"},
		"Say 'One. Two.' and go":             {"Say 'One. Two.' and go"},
		`"Quoted." It's the users' own`:      {`"Quoted."`, "It's the users' own"},
		"it's 'open":                         {"it's 'open"},
	} {
		var got []string
		for _, s := range Sentences(text) {
			got = append(got, text[s.Start:s.End])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestTokens(t *testing.T) {
	text := "Don’t c\u200ball `fetch_url` 3.5 times: ~/.ssh/id_rsa"
	var got []Token
	for _, s := range Sentences(text) {
		for _, token := range s.Tokens {
			token.Start, token.End = 0, 0
			got = append(got, token)
		}
	}
	want := []Token{
		{Kind: Word, Text: "don't", Raw: "Don’t"}, {Kind: Word, Text: "call", Raw: "call"},
		{Kind: Quoted, Text: "fetch_url", Raw: "fetch_url"}, {Kind: Number, Text: "3.5", Raw: "3.5"},
		{Kind: Word, Text: "times", Raw: "times"}, {Kind: Mark, Text: ":", Raw: ":"},
		{Kind: Place, Text: "~/.ssh/id_rsa", Raw: "~/.ssh/id_rsa"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
