package probe

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, r io.Reader, limit int) []line {
	t.Helper()
	var lines []line
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
	}{{1, 2, false}, {0, 3, false}, {3, 7, false}, {100_000, 100_008, false}, {maxSample, 300_010, true}, {1, 300_011, false}}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i, w := range want {
		if l := got[i]; len(l.text) != w.length || l.end != w.end || l.tooLong != w.tooLong {
			t.Errorf("line %d: %d bytes, end %d, too long %v; want %+v", i, len(l.text), l.end, l.tooLong, w)
		}
	}
}

// FuzzLines: the lines and their ends give back the stream, however it comes.
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
			if !bytes.Equal(l.text, bytewise[i].text) || l.end != bytewise[i].end || len(l.text) > max(int(limit), maxSample) {
				t.Fatalf("line %d differs: %q, %q", i, l.text, bytewise[i].text)
			}
			if !bytes.HasPrefix(in[at:], l.text) || l.end <= at {
				t.Fatalf("line %d is %q at %d", i, l.text, at)
			}
			if !l.tooLong && l.end < int64(len(in)) && in[at+int64(len(l.text))] != '\n' {
				t.Fatalf("line %d ends at %d without a newline", i, l.end)
			}
			at = l.end
		}
		if at != int64(len(in)) {
			t.Fatalf("%d of %d bytes", at, len(in))
		}
	})
}

func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"ping","id":"a"}`, `{"jsonrpc":"2.0","method":"x"}`, `[]`, `null`, `{"jsonrpc":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, ok := parseMessage(in)
		if ok && m.isRequest() && m.isResponse() {
			t.Fatalf("%q is a request and a response", in)
		}
		if len(sample(in)) > 3*maxSample {
			t.Fatalf("sample of %d bytes", len(sample(in)))
		}
	})
}

// A server that asks with long ids and reads no answers does not make us keep
// them all.
func TestBacklogIsBoundedInBytes(t *testing.T) {
	in, stdin := io.Pipe() // never read
	stdout, out := io.Pipe()
	t.Cleanup(func() { _, _, _ = in.Close(), out.Close(), stdin.Close() })
	w := newWire(Conn{Stdin: stdin, Stdout: stdout, Exited: make(chan struct{})}, nil, func(message) {})
	long := strings.Repeat("x", 1<<20)
	for range maxBacklog {
		if _, _, err := w.send(long); err != nil {
			break
		}
	}
	if w.sent > maxBacklogBytes+2<<20 {
		t.Errorf("%d MiB wait to be read", w.sent>>20)
	}
	w.close()
}
