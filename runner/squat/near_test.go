package squat

import "testing"

// One error of a typist is near, in each of its kinds; two only in a long word. What a
// typist does not do is not: another first or last letter, a letter from across the keyboard.
func TestNear(t *testing.T) {
	for name, tc := range map[string]struct{ word, of, want string }{
		"swapped":              {"gihtub", "github", "two letters are swapped"},
		"swapped at the end":   {"githbu", "github", "two letters are swapped"},
		"doubled":              {"notiion", "notion", "a letter is doubled"},
		"single":               {"twiter", "twitter", "a double letter is single"},
		"missing":              {"postgrs", "postgres", "a letter is missing"},
		"added":                {"postgrxes", "postgres", "a letter is added"},
		"mistyped":             {"firecrswl", "firecrawl", "a letter is mistyped"},
		"two in a long word":   {"sequental-thnking", "sequential-thinking", "a letter is missing, and a letter is missing"},
		"three in a long word": {"sequental-thnkng", "sequential-thinking", ""},
		"two in a short word":  {"gthb", "github", ""},
		"the same":             {"github", "github", ""},
		"another first letter": {"hithub", "github", ""},
		"another last letter":  {"githuv", "github", ""},
		"a plural":             {"githubs", "github", ""},
		"a letter far away":    {"gitpub", "github", ""},
		"a digit added":        {"git2hub", "github", ""},
		"a hyphen missing":     {"sequentialthinking", "sequential-thinking", ""},
		"nothing":              {"", "github", ""},
		"of nothing":           {"github", "", ""},
	} {
		if got := near(tc.word, tc.of); got != tc.want {
			t.Errorf("%s: %q for %q is %q, want %q", name, tc.word, tc.of, got, tc.want)
		}
	}
}

// Letters of other scripts, digits and pairs look like Latin letters; other letters of the
// same scripts do not.
func TestSkeleton(t *testing.T) {
	for word, alike := range map[string]string{
		"gіthub": "github", "g1thub": "github", "ｓｌａｃｋ": "slack", "rnemory": "memory", "𝗌lack": "slack", "5entry": "sentry", "REDIS": "redis", "ηotion": "notion",
	} {
		if skeleton(word) != skeleton(alike) {
			t.Errorf("%q does not look like %q", word, alike)
		}
	}
	for word, other := range map[string]string{"gжthub": "github", "slack": "slick", "記憶": "memory", "größe": "grosse"} {
		if skeleton(word) == skeleton(other) {
			t.Errorf("%q looks like %q", word, other)
		}
	}
}

// Only what tells names apart is compared.
func TestCore(t *testing.T) {
	for name, want := range map[string]string{
		"GitHub MCP Server": "github", "@modelcontextprotocol/server-memory": "memory", "mcp-server-git": "git", "@acme/mcp": "acme",
		"the official redis-server": "redis", "mcp": "", "": "", "brave_search.api": "bravesearch", "@scope": "scope",
	} {
		if got := core(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
