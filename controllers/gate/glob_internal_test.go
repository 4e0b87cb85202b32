package gate

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for _, test := range []struct {
		glob, image string
		want        bool
	}{
		{"docker.io/library/notes:*", "notes", true},
		{"docker.io/library/notes:*", "notes:1", true},
		{"docker.io/library/notes:1", "notes:2", false},
		{"docker.io/library/notes:1.*", "notes:1.2", true},
		{"docker.io/library/notes", "notes:2", true}, // no tag is any
		{"docker.io/library/note", "notes", false},
		{"registry.example/mcp/*", "registry.example/mcp/notes:1", true},
		{"registry.example/mcp/*", "registry.example/mcp/a/notes:1", false},
		{"registry.example/mcp/*", "registry.example/mcp-more/notes", false},
		{"registry.example/mcp/**", "registry.example/mcp/a/notes:1", true},
		{"registry.example/**/notes", "registry.example/a/b/notes", true},
		{"registry.example/*/*/notes", "registry.example/a/b/notes", true},
		{"registry.example/*/notes", "registry.example/a/b/notes", false},
		{"**", "notes", true},
		{"*/library/notes", "notes", true},
		{"*.example/notes", "a.example/notes", true},
		{"*.example/notes", "aXexample.org/notes", false}, // a dot is a dot
		{"localhost:5000/**", "localhost:5000/notes:1", true},
		{"localhost:*/**", "localhost:5001/notes:1", true},
		{"registry.example/notes:5000", "registry.example/notes:5000", true},

		// No way around: by case, by digest, by tag and digest, by id, by what cannot be read.
		{"registry.example/notes:1", "REGISTRY.example/notes:1", true},
		{"Registry.Example/notes:1", "registry.example/notes:1", true},
		{"registry.example/notes:1", "registry.example/notes" + digest, true},
		{"registry.example/notes:1", "registry.example/notes:2" + digest, true},
		{"registry.example/notes:1", "registry.example/other" + digest, false},
		{"registry.example/notes:1", digest[1:], true},
		{"registry.example/notes:1", "sha256:0a0a0a", true},
		{"registry.example/notes:1", "", true},

		{"registry.example/notes" + digest, "registry.example/notes" + digest, true},
		{"registry.example/notes" + digest, "registry.example/notes:1", false},
		{"**@sha256:0a*", "registry.example/notes" + digest, true},
		{"**@sha256:0b*", "registry.example/notes" + digest, false},
		{"**@sha256:0b*", digest[1:], false},
	} {
		g, err := readGlob(test.glob)
		if err != nil {
			t.Errorf("%q: %v", test.glob, err)
			continue
		}
		image, _ := parse(test.image)
		if got := g.matches(image); got != test.want {
			t.Errorf("%q matches %q: %t, want %t", test.glob, test.image, got, test.want)
		}
	}
}

func TestGlobOfNoImage(t *testing.T) {
	for _, glob := range []string{"", "notes", "notes:*", "*", "library/notes", "library/**", "no*", "docker/library/*"} {
		if _, err := readGlob(glob); err == nil {
			t.Errorf("%q was taken", glob)
		}
	}
}

// TestGlobKeepsNothing: tenants write many policies, and the gate keeps them all.
func TestGlobKeepsNothing(t *testing.T) {
	pattern := "registry.example/" + strings.Repeat("a*", 200) + ":*@" + strings.Repeat("*b", 40)
	if n := testing.AllocsPerRun(100, func() { _, _ = readGlob(pattern) }); n > 0 {
		t.Errorf("reading a pattern allocates %.0f times: it is kept a second time", n)
	}
}

// FuzzGlob holds a pattern against a matcher that goes letter by letter.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"a.b/*", "a.b/c"}, {"**b*a/**", "xx/bba/ab"}, {"*a*a*a*a*a*a*b", "aaaaaaaaaaaa"}, {"***", "/"}, {`.[\E(`, `.[\E(`}, {"*", "\n"}, {"*é", "aé"}, {"**\xa9", "é"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 24 || len(text) > 24 {
			return // the matcher below takes longer than a fuzzer has
		}
		if got, want := matches(pattern, text), slowly(pattern, text); got != want {
			t.Errorf("%q matches %q: %t, want %t", pattern, text, got, want)
		}
	})
}

func slowly(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] != '*' {
		return text != "" && text[0] == pattern[0] && slowly(pattern[1:], text[1:])
	}
	rest := strings.TrimLeft(pattern, "*")
	any := len(pattern)-len(rest) > 1
	for i := 0; ; i++ {
		if slowly(rest, text[i:]) {
			return true
		}
		if i == len(text) || !any && text[i] == '/' {
			return false
		}
	}
}
