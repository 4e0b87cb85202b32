//go:build envtest

package main

import (
	"os"
	"testing"
)

// TestMain is the gate's process, where it is started as such.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == served {
		main()
		return
	}
	os.Exit(m.Run())
}

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
