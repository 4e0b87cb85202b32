package decoy_test

import (
	"slices"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// TestOther: other secrets have the same places and lengths, so that only the secrets differ.
func TestOther(t *testing.T) {
	set := newSet(t, "/home/server", true)
	set.AddServiceAccount()
	other, err := set.Other()
	if err != nil {
		t.Fatal(err)
	}
	differing := set.Differing(other)
	for i, f := range set.Files {
		o := other.Files[i]
		if o.Path != f.Path || o.Routine != f.Routine || len(o.Content) != len(f.Content) {
			t.Errorf("%s is %s, of %d bytes and not %d", f.Path, o.Path, len(o.Content), len(f.Content))
		}
		if want := f.Path != decoy.ServiceAccount+"/token"; slices.Contains(differing, decoy.ID{Name: f.Path}) != want || slices.Equal(o.Secrets, f.Secrets) == want {
			t.Errorf("%s differs: %t", f.Path, !want)
		}
	}
	for i, v := range set.Vars {
		if want := len(v.Hosts) > 0; slices.Contains(differing, decoy.ID{Variable: true, Name: v.Name}) != want || len(v.Value) != len(other.Vars[i].Value) {
			t.Errorf("%s differs: %t", v.Name, !want)
		}
	}
	one := differing[:1]
	if len(set.Around) == 0 || len(other.Around) != len(set.Around) || len(set.Mixed(other, one).Around) != len(set.Around) {
		t.Error("the home looks less lived in with other secrets")
	}
	if mixed := set.Mixed(other, one); !slices.Equal(set.Differing(mixed), one) {
		t.Errorf("mixed: %v", set.Differing(mixed))
	}
}
