package trace

import "testing"

// TestValue: the attributes that a call sets are known, by either tracer.
func TestValue(t *testing.T) {
	for line, want := range map[string]string{
		`utimensat(AT_FDCWD</srv>, "/tmp/x", [{tv_sec=17, tv_nsec=5} /* 1970-01-01T00:00:17.000000005+0000 */, {tv_sec=-3, tv_nsec=0}], 0) = 0 <0.000001>`: "17.5 -3.0",
		`utimensat(AT_FDCWD</srv>, "/tmp/x", [UTIME_NOW, UTIME_OMIT], 0) = 0 <0.000001>`:                                                                   "",
		`utimensat(3</tmp/x>, NULL, [{tv_sec=17, tv_nsec=5}, {tv_sec=3, tv_nsec=0}], 0) = 0 <0.000001>`:                                                    "17.5 3.0",
		`fchmod(3</tmp/x>, 0640) = 0 <0.000001>`:                 "0640",
		`chmod("/tmp/x", 0640) = 0 <0.000001>`:                   "0640",
		`setxattr("/tmp/x", "user.a", "b", 1, 0) = 0 <0.000001>`: `"user.a" "b"`,
		`rename("/tmp/y", "/tmp/x") = 0 <0.000001>`:              "",
	} {
		var got Event
		d := newDecoder(Config{}, func(e Event) { got = e })
		d.feed([]byte(begin))
		d.feed([]byte("5 2.000000 " + line))
		if got.Value != want || got.Path != "/tmp/x" && got.Op != OpRename {
			t.Errorf("%s: %+v", line, got)
		}
	}
}
