package ptrace

import "testing"

// TestInherit: a program that has begun keeps the time that it sees, also when what started it tells of that
// only afterwards.
func TestInherit(t *testing.T) {
	for _, tc := range []struct{ own, from, want bool }{{false, false, false}, {false, true, true}, {true, false, true}, {true, true, true}} {
		k := task{timed: tc.own}
		k.inherit(&task{timed: tc.from})
		if k.timed != tc.want {
			t.Errorf("timed %t, of one that is timed %t: %t", tc.own, tc.from, k.timed)
		}
	}
}
