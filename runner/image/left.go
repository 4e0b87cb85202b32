package image

import (
	"fmt"
	"io"
)

// Bounds on what an image or an archive of one unpacks to.
const (
	maxBytes   = 8 << 30
	maxEntries = 1_000_000
)

// left holds what may still be unpacked.
type left struct{ bytes, entries int64 }

func newLeft() *left { return &left{maxBytes, maxEntries} }

// entry counts one entry of an archive.
func (l *left) entry() error {
	if l.entries--; l.entries < 0 {
		return fmt.Errorf("it has more than %d files", maxEntries)
	}
	return nil
}

// reader returns a reader that counts what is read, and fails when it is too much.
func (l *left) reader(from io.Reader) io.Reader { return counted{l, from} }

type counted struct {
	left *left
	from io.Reader
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.left.bytes -= int64(n); c.left.bytes < 0 {
		return 0, fmt.Errorf("it has more than %d GiB", maxBytes>>30)
	}
	return n, err
}
