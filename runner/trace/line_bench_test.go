package trace

import (
	"strings"
	"testing"
)

// BenchmarkLine measures the kinds of lines apart: one operation is one system
// call, so allocs/op are those of one line (split: of two).
func BenchmarkLine(b *testing.B) {
	const begin = `7     1795270240.622998 execve("/usr/bin/node", ["node", "/srv/demo/srv.js"], 0x7fffd5f51228 /* 3 vars */) = 0 <0.000140>`
	data := strings.Repeat(`a\n\0`, 1000)
	for _, bm := range []struct {
		name  string
		lines []string
	}{
		{"read a file", []string{`7     1795270240.640256 read(9</srv/demo/data>, "` + data + `"..., 65536) = 65536 <0.000071>`}},
		{"read stdin", []string{`7     1795270240.640256 read(0<pipe:[11]>, "{\"id\":1}\n", 65536) = 9 <0.000009>`}},
		{"open", []string{`7     1795270240.640256 openat(AT_FDCWD</srv/demo>, "notes/a.md", O_RDONLY|O_CLOEXEC) = 3</srv/demo/notes/a.md> <0.000005>`}},
		{"open, failed", []string{`7     1795270240.640256 openat(AT_FDCWD</srv/demo>, "/usr/pyvenv.cfg", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000008>`}},
		{"connect", []string{`7     1795270240.640256 connect(5<TCP:[176523]>, {sa_family=AF_INET, sin_port=htons(80), ` +
			`sin_addr=inet_addr("93.184.216.34")}, 16) = 0 <0.000137>`}},
		{"ask for a name", []string{`7     1795270240.640256 sendto(4<UDP:[127.0.0.1:50633->127.0.0.53:53]>, ` +
			`"\0224\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", 29, 0, NULL, 0) = 29 <0.000062>`}},
		{"send 4 KiB", []string{`7     1795270240.640256 sendto(5<TCP:[127.0.0.1:59250->93.184.216.34:80]>, "` + data + `"..., 65536, 0, NULL, 0) = 65536 <0.000062>`}},
		{"execve", []string{`7     1795270240.640256 execve("/bin/sh", ["/bin/sh", "-c", "true"], 0xede7170 /* 3 vars */) = 0 <0.000198>`}},
		{"split", []string{
			`7     1795270240.640256 openat(AT_FDCWD</srv/demo>, "notes/a.md", O_RDONLY|O_CLOEXEC <unfinished ...>`,
			`7     1795270240.640300 <... openat resumed>) = 3</srv/demo/notes/a.md> <0.000044>`,
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			d := newDecoder(Config{Stdin: 11, Stdout: 12}, func(Event) {})
			d.feed([]byte(begin))
			var lines [][]byte
			size := 0
			for _, l := range bm.lines {
				lines = append(lines, []byte(l))
				size += len(l) + 1
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, l := range lines {
					d.feed(l)
				}
			}
			if d.stats.Unparsed > 0 {
				b.Fatalf("not understood: %s", d.stats.Sample)
			}
		})
	}
}
