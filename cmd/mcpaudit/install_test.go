package main

import (
	"slices"
	"strings"
	"testing"
)

// TestLaunched: a "--" behind the name of a package separates its arguments, and is none of them.
func TestLaunched(t *testing.T) {
	for _, name := range []string{"npm:a", "pypi:a", "oci:a"} {
		for given, want := range map[string][]string{"": nil, "--": nil, "-- x": {"x"}, "x -- y": {"x", "--", "y"}, "-- -- x": {"--", "x"}} {
			l, err := new(options).launched(append([]string{name}, strings.Fields(given)...))
			if err != nil || l == nil || !slices.Equal(l.Arguments, want) {
				t.Errorf("%s %s: %+v, %v; want the arguments %q", name, given, l, err, want)
			}
		}
	}
}
