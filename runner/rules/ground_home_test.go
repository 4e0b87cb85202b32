package rules

import "testing"

// A home below /tmp is a home.
func TestHomeBelowTemporary(t *testing.T) {
	for name, tc := range map[string]struct {
		home, path string
		want       bool
	}{
		"a temporary file":           {"/root", "/tmp/x", true},
		"in a home that is made":     {"/tmp/run/home", "/tmp/run/home/notes", false},
		"beside such a home":         {"/tmp/run/home", "/tmp/run/other", true},
		"where the home is all /tmp": {"/tmp", "/tmp/notes", true},
		"without a home":             {"", "/tmp/notes", true},
		"a device":                   {"/tmp/run/home", "/dev/null", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (ownPaths{home: tc.home}).temporary(tc.path); got != tc.want {
				t.Errorf("temporary(%s) = %t with the home %q", tc.path, got, tc.home)
			}
		})
	}
}
