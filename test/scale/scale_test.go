//go:build envtest

package main

import (
	"os"
	"testing"
)

// TestScale holds a few audits to the bounds that thousands have.
func TestScale(t *testing.T) {
	s := defaults()
	s.counts, s.maximal = []int{50}, 20
	results, largest, err := measureAll(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := printTable(os.Stdout, s, results); err != nil {
		t.Fatal(err)
	}
	if err := largest.print(os.Stdout); err != nil {
		t.Fatal(err)
	}
	if err := largest.check(); err != nil {
		t.Error("S5:", err)
	}
	if err := check(s, results); err != nil {
		t.Error(err)
	}
}
