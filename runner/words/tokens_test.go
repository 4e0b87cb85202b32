package words

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		"'' - ’":                          nil,
		"Doesn’t use GitHub's 'v2' API.":  {"doesn't", "use", "github's", "v2", "api"},
		"GitHub":                          {"github"},
		"调用GitHub接口 v2":                   {"调用", "github", "接口", "v2"},
		"サーバーのstatus":                     {"サーバーの", "status"},
		"a\xffb":                          {"a", "b"},
		"one,two;three/four(five)\n\nsix": {"one", "two", "three", "four", "five", "six"},
	} {
		if diff := cmp.Diff(want, Of(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestOfName(t *testing.T) {
	for name, want := range map[string][]string{
		"filePath":            {"file", "path"},
		"file_path":           {"file", "path"},
		"FILE-PATH":           {"file", "path"},
		"notes.deleteNote":    {"notes", "delete", "note"},
		"base64Value":         {"base64", "value"},
		"ipv4":                {"ipv4"},
		"@scope/pkg-server":   {"scope", "pkg", "server"},
		"HTTPServer":          {"httpserver"}, // where an abbreviation ends is not known
		"ListeÄndern":         {"liste", "ändern"},
		"options.args[0]":     {"options", "args", "0"},
		"__":                  nil,
		"a" + string(rune(0)): {"a"},
	} {
		if diff := cmp.Diff(want, OfName(name)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	long := make([]byte, 4*maxName)
	for i := range long {
		long[i] = 'a'
	}
	if got := OfName(string(long)); len(got) != 1 || len(got[0]) != maxName {
		t.Errorf("of a long name %d words are read, the first of %d bytes", len(got), len(got[0]))
	}
}

// A name is spelled as it is written but for what separates its words.
func TestSpell(t *testing.T) {
	for name, want := range map[string]string{
		"contentOf_ssh-key":   "content Of ssh key",
		"call `x` first! Now": "call `x` first! Now",
		"v2Path":              "v2 Path",
		"":                    "",
	} {
		if got := Spell(name); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
}

// FuzzSentences: whatever a server wrote, tokens lie in order within their sentences, and
// sentences in order within the text.
func FuzzSentences(f *testing.F) {
	for _, text := range []string{
		"Call `x` first. Then \"y.\" Now, e.g. z: ok", "a\n\n- b\n1. c\\n\\nd", "it's 'quoted' ``` fenced ``` ~/.ssh/id_rsa a@b.c",
		"'unclosed", "\u200b.\u200bx", "…“a”‘b’", "\xff\xfe.", "```", "/etc -- $HOME/x. <|im_start|>",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range Sentences(text) {
			if s.Start < at || s.End > len(text) || len(s.Tokens) == 0 || len(s.Tokens) > maxSentence {
				t.Fatalf("sentence %d to %d with %d tokens, behind %d of %d", s.Start, s.End, len(s.Tokens), at, len(text))
			}
			at = s.Start
			for _, token := range s.Tokens {
				if token.Start < at || token.End <= token.Start || token.End > s.End {
					t.Fatalf("token %d to %d, behind %d, of a sentence to %d", token.Start, token.End, at, s.End)
				}
				at = token.End
			}
			at = max(at, s.End)
		}
	})
}
