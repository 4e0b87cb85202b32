package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxLine is the longest line that is kept. strace prints at most 4096
	// bytes of a string, in at most 16 KiB, but any number of them in a vector.
	maxLine = 8 << 20
	// releaseStep is the number of bytes read between two releases.
	releaseStep = 4 << 20
	// pollInterval is the pause between two reads at the end of the file.
	pollInterval = 5 * time.Millisecond
)

// ErrOverflow means that the trace was longer than Config.MaxBytes.
var ErrOverflow = errors.New("trace is longer than allowed")

// tail reads a growing file line by line, and gives the disk space of what it
// has read back to the file system.
type tail struct {
	file     *os.File
	maxBytes int64
	read     int64 // bytes read so far
	released int64 // bytes released so far
	buffer   []byte
	cutting  bool // within a line that was too long
	cut      int  // such lines
	noHoles  bool // the file system cannot release, or must not
}

// follow calls line for every whole line until the writer has ended and all of
// the file is read. The last line is dropped when it has no newline: its
// writer died while writing it.
func (t *tail) follow(ctx context.Context, ended <-chan struct{}, line func([]byte)) error {
	chunk := make([]byte, 256<<10)
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		over := isClosed(ended) // before the read: nothing is written after the end
		n, err := t.file.ReadAt(chunk, t.read)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read trace: %w", err)
		}
		t.read += int64(n)
		t.lines(chunk[:n], line)
		t.release()
		switch {
		case t.maxBytes > 0 && t.read > t.maxBytes:
			return ErrOverflow
		case ctx.Err() != nil:
			return fmt.Errorf("follow trace: %w", ctx.Err())
		case n > 0:
			continue
		case over:
			return nil
		}
		select {
		case <-ctx.Done():
		case <-ended:
		case <-ticker.C:
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// lines splits what was read, and keeps an unfinished line for the next time.
func (t *tail) lines(chunk []byte, line func([]byte)) {
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			t.keep(chunk)
			return
		}
		whole := chunk[:end]
		chunk = chunk[end+1:]
		if len(t.buffer) > 0 || t.cutting {
			t.keep(whole)
			whole = t.buffer
		}
		if !t.cutting {
			line(whole)
		}
		t.cutting, t.buffer = false, t.buffer[:0]
	}
}

func (t *tail) keep(part []byte) {
	if t.cutting {
		return
	}
	if len(t.buffer)+len(part) > maxLine {
		t.cutting, t.buffer = true, nil
		t.cut++
		return
	}
	t.buffer = append(t.buffer, part...)
}

// release punches a hole over what was read (fallocate(2)): the file keeps its
// size, and the writer its offset, while the disk holds only the unread part.
func (t *tail) release() {
	end := t.read &^ 4095
	if t.noHoles || end-t.released < releaseStep {
		return
	}
	err := unix.Fallocate(int(t.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, t.released, end-t.released)
	t.noHoles = err != nil
	t.released = end
}
