// Package poll has tests wait until something is so, in place of sleeping.
package poll

import (
	"testing"
	"time"
)

// Patience bounds each wait. Only a test that fails waits that long, so it is more than
// the busiest machine needs.
const Patience = 2 * time.Minute

// Until returns once done is true, and fails the test after Patience. What completes
// "waited in vain until".
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !For(Patience, done) {
		t.Fatalf("waited in vain until %s", what)
	}
}

// For reports whether done was true before the limit was over.
func For(limit time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if done() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}
