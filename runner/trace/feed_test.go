package trace

import (
	"fmt"
	"testing"
)

// TestSocketPairsCarryTheConversation: bytes through the server's ends count once, by whichever call.
func TestSocketPairsCarryTheConversation(t *testing.T) {
	events, stats := decodeLines(t,
		`5 2.000000 read(0<UNIX-STREAM:[40->39]>, "x"..., 99) = 10 <0.000001>`,
		`5 2.000000 recvfrom(0<UNIX-STREAM:[40]>, "x"..., 99, MSG_PEEK, NULL, NULL) = 7 <0.000001>`,
		`5 2.000000 recvfrom(0<UNIX-STREAM:[40]>, "x"..., 99, 0, NULL, NULL) = 7 <0.000001>`,
		`5 2.000000 write(1<UNIX-STREAM:[41->42]>, "y"..., 5) = 5 <0.000001>`,
		`5 2.000000 sendto(1<UNIX-STREAM:[41->42]>, "y"..., 6, 0, NULL, 0) = 6 <0.000001>`,
		`5 2.000000 read(4<UNIX-STREAM:[50->51]>, "x"..., 99) = 10 <0.000001>`,
		`5 2.000000 unlink("/a") = 0 <0.000001>`,
	)
	if want := `5 delete unlink main path="/a" at=17/11`; len(events) != 1 || events[0] != want || stats.Unparsed > 0 {
		t.Errorf("got %q, want %q (%+v)", events, want, stats)
	}
}

// TestFed: the position at which a worker last got work.
func TestFed(t *testing.T) {
	request := fmt.Sprintf(`5 2.000000 read(0<pipe:[%d]>, "x"..., 9999) = 10 <0.000001>`, inode)
	pair := `5 2.000000 socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [3<UNIX-STREAM:[71]>, 4<UNIX-STREAM:[72]>]) = 0 <0.000001>`
	write := func(pid int, what string) string {
		return fmt.Sprintf(`%d 2.000000 write(9<%s>, "go", 2) = 2 <0.000001>`, pid, what)
	}
	read := func(pid int, what string) string {
		return fmt.Sprintf(`%d 2.000000 read(9<%s>, "go", 99) = 2 <0.000001>`, pid, what)
	}
	for name, tc := range map[string]struct {
		lines []string
		want  int64
	}{
		"by a pipe":             {[]string{request, fork(5, 6), request, write(5, "pipe:[70]"), read(6, "pipe:[70]")}, 20},
		"by a socket pair":      {[]string{request, pair, fork(5, 6), request, write(5, "UNIX-STREAM:[71]"), read(6, "UNIX-STREAM:[72]")}, 20},
		"by strace's name":      {[]string{request, pair, fork(5, 6), request, write(5, "UNIX-STREAM:[71->72]"), read(6, "UNIX-STREAM:[72->71]")}, 20},
		"its own end":           {[]string{request, pair, fork(5, 6), request, write(5, "UNIX-STREAM:[71]"), read(6, "UNIX-STREAM:[71]")}, 0},
		"by itself":             {[]string{request, fork(5, 6), request, write(6, "pipe:[70]"), read(6, "pipe:[70]")}, 0},
		"by its child":          {[]string{request, fork(5, 6), request, fork(6, 7), write(7, "pipe:[70]"), read(6, "pipe:[70]")}, 0},
		"what it has started":   {[]string{request, fork(5, 7), request, write(5, "pipe:[70]"), read(7, "pipe:[70]"), fork(7, 6), request}, 20},
		"a worker of the start": {[]string{fork(5, 6), request, write(5, "pipe:[70]"), read(6, "pipe:[70]")}, 0},
	} {
		var last Event
		d := newDecoder(Config{Stdin: inode, Stdout: output}, func(e Event) { last = e })
		for _, l := range append(append([]string{begin}, tc.lines...), "6"+touch) {
			d.feed([]byte(l))
		}
		if last.Path != "/a" || last.Fed.In != tc.want || d.stats.Unparsed > 0 {
			t.Errorf("%s: fed at %d, want %d (%+v)", name, last.Fed.In, tc.want, last)
		}
	}
}
