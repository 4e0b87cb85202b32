package trace

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzParse feeds arbitrary lines: the decoder neither fails nor grows beyond its
// bounds, and a line makes at most as many events as it has messages.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.strace")
	if err != nil || len(files) == 0 {
		f.Fatal("no traces to begin with")
	}
	for _, file := range files {
		lines, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(lines) {
			f.Add(bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		d := newDecoder(Config{Stdin: inode, Stdout: output}, func(e Event) {
			if len(e.Detail) > maxDetail {
				t.Errorf("detail has %d bytes", len(e.Detail))
			}
			if e.Syscall == "" || e.Op == "" {
				t.Errorf("event without a name: %+v", e)
			}
		})
		d.feed([]byte(begin))
		for part := range bytes.SplitSeq(line, []byte("\n")) {
			d.feed(part)
		}
		d.close()
		if d.pending != 0 {
			t.Errorf("%d bytes are still pending", d.pending)
		}
	})
}

// FuzzName puts a name that the server chose wherever strace prints one. No
// name can forge or hide an event.
func FuzzName(f *testing.F) {
	for _, name := range []string{
		"x", `") = 3</etc/shadow> <0.000001>`, "x\n5 2.000000 open(\"/y\", O_RDONLY) = 3", " <unfinished ...>", `\`, `\\"`,
		"<... open resumed>", "->x]>", "[{(", ")]}", "/* */", "a\x00b", "\xff\x01\x7f8", "/proc/self/", "..", "\\74",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		name = strings.ReplaceAll(name, "\x00", "") // no name can hold it
		if name == "" || len(name) > 4000 {
			return
		}
		in, angle := quote(name, `"`), quote(name, `"<>`)
		for _, line := range []string{
			`5 2.000000 openat(AT_FDCWD</d>, "` + in + `", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000001>`,
			`5 2.000000 openat(AT_FDCWD</` + angle + `>, "x", O_RDONLY) = 3</d/` + angle + `> <0.000001>`,
			`5 2.000000 openat(AT_FDCWD</d>, "` + in + `", O_RDONLY <unfinished ...>` + "\n" +
				`5 2.000000 <... openat resumed>) = 3</d/` + angle + `> <0.000001>`,
		} {
			events, stats := decode(Config{}, []byte(begin+"\n"+line+"\n"))
			if len(events) != 2 || stats.Unparsed != 0 {
				t.Fatalf("%q: %d events, %d unparsed; want 2, 0", line, len(events), stats.Unparsed)
			}
			got, want := events[1].Path, "/d/"+name
			if events[1].Errno != "" {
				want = path.Clean(want)
				if path.IsAbs(name) {
					want = path.Clean(name)
				}
			}
			if got != want {
				t.Errorf("%q: path %q, want %q", line, got, want)
			}
		}
		unix := `5 2.000000 connect(3<UNIX-STREAM:[9,@"` + in + `"]>, {sa_family=AF_UNIX, sun_path=@"` + in + `"}, 9) = 0 <0.000001>`
		events, stats := decode(Config{}, []byte(begin+"\n"+unix+"\n"))
		if len(events) != 2 || stats.Unparsed != 0 || events[1].Socket.Path != "@"+name {
			t.Errorf("%q: events %+v, %d unparsed", unix, events, stats.Unparsed)
		}
	})
}

// FuzzFramer cuts a stream into pieces: the messages are the same as those of the
// whole, and only bytes of an unfinished message are kept.
func FuzzFramer(f *testing.F) {
	f.Add([]byte("\x00\x1a\x124\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01\x01b\x00\x00\x01\x00\x01"), byte(3))
	f.Add([]byte("\x00\x00\x00\x01x\xff\xff"), byte(1))
	f.Fuzz(func(t *testing.T, stream []byte, piece byte) {
		var whole, pieces [][]byte
		for _, m := range new(framer).add(stream, false) {
			whole = append(whole, bytes.Clone(m))
			queried(m)
			answers(m)
		}
		var cut framer
		for part := range slices.Chunk(stream, int(piece)+1) {
			for _, m := range cut.add(part, false) {
				pieces = append(pieces, bytes.Clone(m))
			}
		}
		if !slices.EqualFunc(whole, pieces, bytes.Equal) {
			t.Errorf("%d messages from the whole, %d from the pieces", len(whole), len(pieces))
		}
		if len(cut.buffer) > 2+65535 {
			t.Errorf("%d bytes are kept", len(cut.buffer))
		}
		cut.add(stream, true)
		if len(cut.buffer) > 0 || cut.add(stream, false) != nil {
			t.Error("goes on behind bytes that are missing")
		}
	})
}

// FuzzWalk follows names through links that a server has chosen: the result is
// absolute and clean.
func FuzzWalk(f *testing.F) {
	f.Add("/tmp/d", "/home/u/.ssh", "/tmp/d/../x", true)
	f.Add("/a", "/a", "/a/b", false)
	f.Add("/a", "../../..", "/a/./b//", true)
	f.Add("/x", "/proc/self/cwd/../root", "/x/proc/5/fd/3/dev/fd/0", true)
	f.Fuzz(func(t *testing.T, link, to, name string, follow bool) {
		d := newDecoder(Config{}, func(Event) {})
		d.feed([]byte(begin))
		c := &call{task: d.tasks.known[5]}
		d.handles.put(handle{5, 3}, to)
		d.linkAt(path.Clean("/"+link), to)
		if got := d.walk(c, "/"+name, follow); !path.IsAbs(got) || path.Clean(got) != got {
			t.Errorf("%q leads to %q", name, got)
		}
	})
}

// quote escapes as strace's string_quote does: C escapes, the shortest octal
// that the next character allows, and the given characters.
func quote(s, also string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if short := strings.IndexByte("\f\n\r\t\v", c); short >= 0 {
			b.WriteByte('\\')
			b.WriteByte("fnrtv"[short])
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~' || strings.IndexByte(also, c) >= 0:
			if i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				fmt.Fprintf(&b, `\%o`, c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// BenchmarkDecode measures a trace of the usual mix: mostly reads of files,
// which are no events.
func BenchmarkDecode(b *testing.B) {
	var lines [][]byte
	size := 0
	for _, name := range []string{"names", "go", "node", "conv"} {
		all, err := os.ReadFile(filepath.Join("testdata", name+".strace"))
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.Lines(all) {
			lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
			size += len(line)
		}
	}
	long := []byte(`2695  1795270240.640256 read(9</srv/demo/data>, "` + strings.Repeat(`a\n\0`, 1000) + `"..., 65536) = 65536 <0.000071>`)
	for range len(lines) {
		lines = append(lines, long)
		size += len(long) + 1
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder(Config{Stdin: 176099, Stdout: 176100}, func(Event) {})
		for _, l := range lines {
			d.feed(l)
		}
	}
}
