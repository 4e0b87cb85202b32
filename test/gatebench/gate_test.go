//go:build envtest

package main

import (
	"os"
	"testing"
)

// TestGate holds all answers of few rounds to what they have to be, and no times.
func TestGate(t *testing.T) {
	results, err := measureAll(t.Context(), settings{counts: []int{0, 20}, rounds: 2, decisions: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := printTable(os.Stdout, results); err != nil {
		t.Fatal(err)
	}
}
