package rules

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The digest is that of what judges: it changes with it, and with nothing else.
func TestDigest(t *testing.T) {
	of := func(change func(map[string]fs.FS)) string {
		t.Helper()
		packages := map[string]fs.FS{
			"rules": fstest.MapFS{"a.go": {Data: []byte("aa")}, "b.go": {Data: []byte("b")}, "a_test.go": {Data: []byte("t")}},
			"scope": fstest.MapFS{"c.go": {Data: []byte("c")}},
		}
		change(packages)
		digest, err := sum(packages)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	same := of(func(map[string]fs.FS) {})
	for name, tc := range map[string]struct {
		change  func(map[string]fs.FS)
		differs bool
	}{
		"nothing":      {func(map[string]fs.FS) {}, false},
		"a test":       {func(p map[string]fs.FS) { p["rules"].(fstest.MapFS)["a_test.go"].Data = []byte("u") }, false},
		"a new test":   {func(p map[string]fs.FS) { p["rules"].(fstest.MapFS)["d_test.go"] = &fstest.MapFile{} }, false},
		"a rule":       {func(p map[string]fs.FS) { p["rules"].(fstest.MapFS)["a.go"].Data = []byte("ab") }, true},
		"a new file":   {func(p map[string]fs.FS) { p["scope"].(fstest.MapFS)["d.go"] = &fstest.MapFile{} }, true},
		"a name":       {func(p map[string]fs.FS) { p["scope"] = fstest.MapFS{"d.go": {Data: []byte("c")}} }, true},
		"the packages": {func(p map[string]fs.FS) { p["rules"], p["scope"] = p["scope"], p["rules"] }, true},
		"a boundary": {func(p map[string]fs.FS) {
			p["rules"] = fstest.MapFS{"a.go": {Data: []byte("aarules/b.go 1\nb")}}
		}, true},
	} {
		if got := of(tc.change); (got != same) != tc.differs {
			t.Errorf("%s: %s", name, got)
		}
	}
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(Digest()) {
		t.Errorf("the rules' own digest is %q", Digest())
	}
	for name := range sources {
		if files, err := fs.Glob(sources[name], "*.go"); err != nil || len(files) == 0 {
			t.Errorf("there is nothing of package %s: %v", name, err)
		}
	}
}

// observers say what was seen; everything else that the rules import judges, and has
// to be in their digest.
var observers = []string{"breach", "canary", "inputs", "leak", "manifest", "profile", "sinkhole", "trace"}

func TestDigestHasAllThatJudges(t *testing.T) {
	imported := regexp.MustCompile(`(?m)^\t"github.com/mcpaudit/mcpaudit/runner/([a-z]+)"$`)
	files, err := fs.Glob(source, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(source, file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, match := range imported.FindAllSubmatch(text, -1) {
			if name := string(match[1]); sources[name] == nil && !slices.Contains(observers, name) {
				t.Errorf("%s imports runner/%s, which is neither in sources nor an observer", file, name)
			}
		}
	}
}
