package transport

import (
	"bufio"
	"errors"
	"io"
)

// lineReader cuts a stream into lines and counts its bytes.
type lineReader struct {
	from   *bufio.Reader
	offset int64
	limit  int
}

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// next returns the next line without its end; a last one without a newline is a
// line, too. It never holds more than the limit. The error is that of the reader,
// io.EOF at its end.
func (r *lineReader) next() (Line, error) {
	var l Line
	start := r.offset
	for {
		chunk, err := r.from.ReadSlice('\n')
		r.offset += int64(len(chunk))
		if !l.TooLong {
			l.Text = append(l.Text, chunk...)
			if len(l.Text) > r.limit+1 { // with its newline
				l.cut(r.limit)
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (r.offset == start || !errors.Is(err, io.EOF)) {
			return Line{}, err
		}
		l.End = r.offset
		if n := len(l.Text); !l.TooLong && n > 0 && l.Text[n-1] == '\n' {
			l.Text = l.Text[:n-1]
		}
		if !l.TooLong && len(l.Text) > r.limit { // the last one, that has none
			l.cut(r.limit)
		}
		return l, nil
	}
}

// cut keeps the sample of what is longer than the limit.
func (l *Line) cut(limit int) {
	l.Text, l.TooLong = append([]byte(nil), l.Text[:min(MaxSample, limit)]...), true
}
