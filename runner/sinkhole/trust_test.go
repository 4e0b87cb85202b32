package sinkhole

import (
	"slices"
	"testing"
)

// TestUntold: nothing is left of what names the authority, and all else is.
func TestUntold(t *testing.T) {
	if got := Untold(append(Environment("/run/ca.crt"), "PATH=/bin", "SSL=1")); !slices.Equal(got, []string{"PATH=/bin", "SSL=1"}) {
		t.Errorf("%q", got)
	}
}
