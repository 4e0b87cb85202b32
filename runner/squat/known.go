package squat

import (
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// lists are names of servers, packages and services. Bystanders are known, but no target of imitation.
type lists struct{ Known, Bystanders []string }

// tables indexes the known names.
type tables struct {
	// names holds all known names: none of them imitates another.
	names map[string]bool
	// cores maps the distinctive words to the first name that has them; skeletons maps them by
	// their looks, and squeezed whole names without punctuation.
	cores, skeletons, squeezed map[string]string
	scopes                     map[string]bool  // of npm
	byLength                   map[int][]string // cores by their length in bytes
}

var known = sync.OnceValue(func() tables { return index(words.Read[lists]("squat")) })

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
