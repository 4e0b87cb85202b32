package trace

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestBounds: memory is bounded, and what does not fit is counted.
func TestBounds(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(begin + "\n")
	for pid := 10; pid < maxTasks+20; pid++ {
		fmt.Fprintf(&lines, "%d 2.000000 setsid( <unfinished ...>\n", pid)
	}
	_, stats := decode(Config{}, []byte(lines.String()))
	if stats.Alive != maxTasks || stats.Dropped != 11 {
		t.Errorf("Alive = %d, Dropped = %d; want %d, 11", stats.Alive, stats.Dropped, maxTasks)
	}
}

// TestMemory: a server cannot make the decoder grow, even if every line has a
// new name of the greatest length.
func TestMemory(t *testing.T) {
	const lines, most = 10_000, 96 << 20
	long := "/" + strings.Repeat("d/", 2000)
	payload := strings.Repeat("x", 4096)
	d := newDecoder(Config{Stdin: inode, Stdout: output}, func(Event) {})
	d.feed([]byte(begin))
	for i := range lines {
		for _, call := range []string{
			fmt.Sprintf(`symlink("%s%d", "%s%d.l") = 0`, long, i, long, i),
			fmt.Sprintf(`openat(AT_FDCWD</>, "%s%d/x", O_RDONLY) = %d<%s%d/y/x>`, long, i, i, long, i),
			fmt.Sprintf(`splice(3<%s%d>, NULL, 4<pipe:[%d]>, NULL, 9, 0) = 9`, long, i, 100+i),
			fmt.Sprintf(`connect(5<TCP:[%d]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 0`, i),
			fmt.Sprintf(`write(5<TCP:[%d]>, "\377\377%s", 4098) = 4098`, i, payload),
			fmt.Sprintf(`bind(7<UDP:[%d]>, {sa_family=AF_INET, sin_port=htons(%d), sin_addr=inet_addr("0.0.0.0")}, 16) = 0`, i, 1000+i),
			fmt.Sprintf(`connect(6<UNIX-STREAM:[%d]>, {sa_family=AF_UNIX, sun_path="/%0107d"}, 110) = 0`, i, i),
		} {
			d.feed([]byte(`5 2.000000 ` + call + ` <0.000001>`))
		}
		d.feed(fmt.Appendf(nil, `%d 2.000000 unlinkat(AT_FDCWD<%s%d>, "x" <unfinished ...>`, 10+i, long, i))
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > most {
		t.Errorf("%d MiB after %d lines, want at most %d", m.HeapAlloc>>20, d.stats.Lines, most>>20)
	}
	if d.stats.Unparsed > 0 || d.stats.Dropped == 0 {
		t.Errorf("%d lines not understood (%s), %d calls dropped; want none and some", d.stats.Unparsed, d.stats.Sample, d.stats.Dropped)
	}
	runtime.KeepAlive(d)
}
