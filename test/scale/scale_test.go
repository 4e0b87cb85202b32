//go:build envtest

package main

import (
	"os"
	"testing"
)

// TestScale holds a few audits to the bounds that thousands have.
func TestScale(t *testing.T) {
	results, err := measureAll(t.Context(), settings{counts: []int{50}})
	if err != nil {
		t.Fatal(err)
	}
	if err := printTable(os.Stdout, results); err != nil {
		t.Fatal(err)
	}
	if err := check(results); err != nil {
		t.Error(err)
	}
}
