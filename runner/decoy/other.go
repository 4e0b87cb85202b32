package decoy

import (
	"path/filepath"
	"slices"
	"strings"
)

// Other returns a set with other secrets in the same places, of the same form and length.
// It keeps those whose change would not be telling: outside the home, and in variables that
// are for no service, with which a server may sign or encrypt.
func (s Set) Other() (Set, error) {
	other := s
	other.Files, other.Vars = slices.Clone(s.Files), slices.Clone(s.Vars)
	for i, f := range other.Files {
		k := slices.IndexFunc(kinds, func(k kind) bool { return filepath.Join(s.Home, k.name) == f.Path })
		if k < 0 {
			continue
		}
		for same := true; same || len(f.Content) != len(s.Files[i].Content); same = false {
			content, secrets, err := kinds[k].make()
			if err != nil {
				return Set{}, err
			}
			f.Content, f.Secrets = []byte(content), secrets
		}
		other.Files[i] = f
	}
	for i, v := range other.Vars {
		k := slices.IndexFunc(variables, func(k variable) bool { return k.name == v.Name })
		if k >= 0 && len(v.Hosts) > 0 && !v.Asked {
			other.Vars[i].Value, other.Vars[i].Secrets = fill(variables[k].value)
		}
	}
	return other, nil
}

// Differing returns the decoys that differ in another set.
func (s Set) Differing(other Set) (all []ID) {
	for i, f := range s.Files {
		if string(f.Content) != string(other.Files[i].Content) {
			all = append(all, ID{Name: f.Path})
		}
	}
	for i, v := range s.Vars {
		if v.Value != other.Vars[i].Value {
			all = append(all, ID{Variable: true, Name: v.Name})
		}
	}
	return all
}

// Mixed returns the set with some decoys of another set.
func (s Set) Mixed(other Set, changed []ID) Set {
	mixed := s
	mixed.Files, mixed.Vars = slices.Clone(s.Files), slices.Clone(s.Vars)
	for i, f := range s.Files {
		if slices.Contains(changed, ID{Name: f.Path}) {
			mixed.Files[i] = other.Files[i]
		}
	}
	for i, v := range s.Vars {
		if slices.Contains(changed, ID{Variable: true, Name: v.Name}) {
			mixed.Vars[i] = other.Vars[i]
		}
	}
	return mixed
}

// Hosts returns the services that a decoy is for.
func (s Set) Hosts(of ID) []string {
	if !of.Variable {
		f, _ := s.Find(of.Name)
		return f.Hosts
	}
	i := slices.IndexFunc(s.Vars, func(v Var) bool { return v.Name == of.Name })
	if i < 0 {
		return nil
	}
	return s.Vars[i].Hosts
}

// Holds reports whether a decoy contains a text as it is.
func (s Set) Holds(of ID, text string) bool {
	if !of.Variable {
		f, _ := s.Find(of.Name)
		return strings.Contains(string(f.Content), text)
	}
	return slices.ContainsFunc(s.Vars, func(v Var) bool { return v.Name == of.Name && strings.Contains(v.Value, text) })
}

// Letter reports whether a character may be part of a token: one of base64 or base64url.
func Letter(r rune) bool { return r >= 0 && r < 256 && sextets[byte(r)] >= 0 }
