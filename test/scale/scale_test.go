//go:build envtest

package main

import (
	"os"
	"testing"
)

// TestScale holds a few audits to the bounds that thousands have.
func TestScale(t *testing.T) {
	s := defaults()
	s.counts = []int{50}
	results, err := measureAll(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := printTable(os.Stdout, s, results); err != nil {
		t.Fatal(err)
	}
	if err := check(s, results); err != nil {
		t.Error(err)
	}
}
