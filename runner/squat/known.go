package squat

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// lists are names of servers, packages and services. Bystanders are known, and nobody's
// target.
type lists struct{ Known, Bystanders []string }

// tables hold what is looked up, made once.
type tables struct {
	// names are all names as they are known: none of them is taken for another.
	names map[string]bool
	// cores are the distinctive words that somebody may want to be taken for, with
	// the first name that has them; skeletons and squeezed are the same by what they
	// look like, and whole names without their marks.
	cores, skeletons, squeezed map[string]string
	// scopes are those of npm.
	scopes map[string]bool
	// byLength are the cores by their length in bytes, for what is near.
	byLength map[int][]string
}

var known = index(words.Read[lists]("squat"))

func index(of lists) tables {
	t := tables{
		names: map[string]bool{}, cores: map[string]string{}, skeletons: map[string]string{}, squeezed: map[string]string{},
		scopes: map[string]bool{}, byLength: map[int][]string{},
	}
	for _, name := range of.Bystanders {
		t.names[name], t.names[core(name)] = true, true
	}
	for _, name := range of.Known {
		t.add(name)
	}
	return t
}

func (t tables) add(name string) {
	t.names[name] = true
	if scope, _, ok := strings.Cut(strings.TrimPrefix(name, "@"), "/"); ok && name[0] == '@' {
		t.scopes[scope] = true
	}
	if key := squeeze(name); t.squeezed[key] == "" {
		t.squeezed[key] = name
	}
	c := core(name)
	if len(c) < minCore || t.cores[c] != "" {
		return
	}
	t.names[c], t.cores[c], t.skeletons[skeleton(c)] = true, name, name
	t.byLength[len(c)] = append(t.byLength[len(c)], c)
}
