package squat

import (
	_ "embed"
	"strings"
)

// known.txt lists names of servers, packages and services, one a line.
//
//go:embed known.txt
var file string

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

var known = read(file)

// read makes the tables. A name after "-" is known, and nobody's target.
func read(file string) tables {
	t := tables{
		names: map[string]bool{}, cores: map[string]string{}, skeletons: map[string]string{}, squeezed: map[string]string{},
		scopes: map[string]bool{}, byLength: map[int][]string{},
	}
	for line := range strings.Lines(file) {
		name := strings.TrimSpace(line)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		bystander, other := strings.CutPrefix(name, "- ")
		if other {
			t.names[bystander], t.names[core(bystander)] = true, true
			continue
		}
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
