package probe

import (
	"bufio"
	"errors"
	"io"
)

const (
	// maxLine is the longest line that is taken for a message, 8 MiB.
	maxLine = 8 << 20
	// maxSample is how much of a bad line is kept, in bytes.
	maxSample = 200
)

// line is one line of stdout, without its end.
type line struct {
	text []byte
	// end is the number of bytes that had come when the line was whole, its
	// newline included.
	end int64
	// tooLong: text is only the first maxSample bytes.
	tooLong bool
}

// lineReader cuts a stream into lines and counts its bytes.
type lineReader struct {
	from   *bufio.Reader
	offset int64
	limit  int
}

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// next returns the next line; a last one without a newline is a line, too. It
// never holds more than the limit. The error is that of the reader, io.EOF at
// its end.
func (r *lineReader) next() (line, error) {
	var l line
	start := r.offset
	for {
		chunk, err := r.from.ReadSlice('\n')
		r.offset += int64(len(chunk))
		if !l.tooLong {
			l.text = append(l.text, chunk...)
			if len(l.text) > r.limit+1 { // with its newline
				l.cut(r.limit)
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (r.offset == start || !errors.Is(err, io.EOF)) {
			return line{}, err
		}
		l.end = r.offset
		if n := len(l.text); !l.tooLong && n > 0 && l.text[n-1] == '\n' {
			l.text = l.text[:n-1]
		}
		if !l.tooLong && len(l.text) > r.limit { // the last one, that has none
			l.cut(r.limit)
		}
		return l, nil
	}
}

// cut keeps the sample of a line that is longer than the limit.
func (l *line) cut(limit int) {
	l.text, l.tooLong = append([]byte(nil), l.text[:min(maxSample, limit)]...), true
}
