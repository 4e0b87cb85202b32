package trace

import "testing"

// TestForged: a server can write to its own stdin, and read its own stdout, by their names in /proc/self/fd.
func TestForged(t *testing.T) {
	for line, want := range map[string]int{
		`write(7<pipe:[40]>, "x", 1) = 1`:                                              1,
		`read(7<pipe:[41]>, "x", 9) = 1`:                                               1,
		`tee(7<pipe:[41]>, 8<pipe:[50]>, 9, 0) = 9`:                                    1,
		`splice(7<pipe:[50]>, NULL, 8<pipe:[40]>, NULL, 9, 0) = 9`:                     1,
		`write(7<pipe:[40]>, "x", 1) = -1 EBADF (Bad file descriptor)`:                 0,
		`read(7<pipe:[41]>, 0x7f00, 9) = -1 EAGAIN (Resource temporarily unavailable)`: 0,
		`read(0<pipe:[40]>, "x", 9) = 1`:                                               0,
		`write(1<pipe:[41]>, "x", 1) = 1`:                                              0,
		`splice(0<pipe:[40]>, NULL, 1<pipe:[41]>, NULL, 9, 0) = 9`:                     0,
		`write(0<UNIX-STREAM:[40->50]>, "x", 1) = 1`:                                   0,
	} {
		if _, stats := decodeLines(t, "5 2.000000 "+line+" <0.000001>"); stats.Forged != want || stats.Unparsed != 0 {
			t.Errorf("%s: %d, want %d (%+v)", line, stats.Forged, want, stats)
		}
	}
}
