package decoy

import (
	"testing"
	"time"
)

// TestWritten: no file of the home is as new as the sandbox, and all times differ.
func TestWritten(t *testing.T) {
	now, seen := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), map[time.Time]bool{}
	for _, f := range around {
		when := written(f.name, now)
		if age := now.Sub(when); age < time.Hour || age > 3*365*24*time.Hour || seen[when] {
			t.Errorf("%s: %s", f.name, when)
		}
		seen[when] = true
	}
}
