package transport

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, r io.Reader, limit int) []Line {
	t.Helper()
	var lines []Line
	for reader := newLineReader(r, limit); ; {
		l, err := reader.next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
}

func TestLines(t *testing.T) {
	in := "a\n\nbc\r\n" + strings.Repeat("x", 100_000) + "\n" + strings.Repeat("y", 200_001) + "\nz"
	got := readAll(t, strings.NewReader(in), 200_000)
	want := []struct {
		length  int
		end     int64
		tooLong bool
	}{{1, 2, false}, {0, 3, false}, {3, 7, false}, {100_000, 100_008, false}, {MaxSample, 300_010, true}, {1, 300_011, false}}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i, w := range want {
		if l := got[i]; len(l.Text) != w.length || l.End != w.end || l.TooLong != w.tooLong {
			t.Errorf("line %d: %d bytes, end %d, too long %v; want %+v", i, len(l.Text), l.End, l.TooLong, w)
		}
	}
}

// TestLongLinesArePassedOn: a line that is too long for a message is passed on in pieces, each with its end.
func TestLongLinesArePassedOn(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	r := newLineReader(strings.NewReader("a\n"+long+"\n"+long), 100_000)
	var passed []string
	piece := ""
	r.long = func(p []byte, end int64) {
		if len(p) == 0 {
			passed, piece = append(passed, piece), ""
			return
		}
		piece += string(p)
		if want := int64(2 + len(passed)*200_001 + len(piece)); end != want {
			t.Errorf("a piece ends at %d, not at %d", want, end)
		}
	}
	for _, err := r.next(); err == nil; _, err = r.next() {
		continue
	}
	if want := []string{long + "\n", long}; !slices.Equal(passed, want) {
		t.Errorf("passed on %d lines", len(passed))
	}
}

// FuzzLines: the lines and their ends give back the stream, however it is split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb"), uint8(3))
	f.Add([]byte("\n\n{\"jsonrpc\":\"2.0\"}\n"), uint8(200))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		whole := readAll(t, bytes.NewReader(in), int(limit))
		bytewise := readAll(t, iotest.OneByteReader(bytes.NewReader(in)), int(limit))
		if len(whole) != len(bytewise) {
			t.Fatalf("%d lines, byte by byte %d", len(whole), len(bytewise))
		}
		at := int64(0)
		for i, l := range whole {
			if !bytes.Equal(l.Text, bytewise[i].Text) || l.End != bytewise[i].End || len(l.Text) > max(int(limit), MaxSample) {
				t.Fatalf("line %d differs: %q, %q", i, l.Text, bytewise[i].Text)
			}
			if !bytes.HasPrefix(in[at:], l.Text) || l.End <= at {
				t.Fatalf("line %d is %q at %d", i, l.Text, at)
			}
			if !l.TooLong && l.End < int64(len(in)) && in[at+int64(len(l.Text))] != '\n' {
				t.Fatalf("line %d ends at %d without a newline", i, l.End)
			}
			at = l.End
		}
		if at != int64(len(in)) {
			t.Fatalf("%d of %d bytes", at, len(in))
		}
	})
}
