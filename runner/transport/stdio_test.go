package transport

import (
	"bytes"
	"io"
	"testing"
)

// TestBacklogIsBoundedInBytes: a server that sends requests with long ids and reads
// no answers cannot make us keep them all.
func TestBacklogIsBoundedInBytes(t *testing.T) {
	in, stdin := io.Pipe() // never read
	stdout, out := io.Pipe()
	t.Cleanup(func() { _, _, _ = in.Close(), out.Close(), stdin.Close() })
	w := Stdio(stdin, stdout, nil, nil)
	long := bytes.Repeat([]byte("x"), 1<<20)
	sent := int64(0)
	for range maxBacklog {
		_, end, err := w.Send(Message{Text: long})
		if err != nil {
			break
		}
		sent = end
	}
	if sent > maxBacklogBytes+2<<20 {
		t.Errorf("%d MiB wait to be read", sent>>20)
	}
	w.Close()
}
