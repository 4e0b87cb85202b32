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
	// long, if set, gets the pieces of each line that is longer than the limit, with the
	// number of bytes read so far; an empty one at its end. It must not keep them.
	long func(piece []byte, end int64)
}

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// next returns the next line without its newline, which the last line may lack. It
// never holds more than the limit. The error comes from the reader, io.EOF at its
// end.
func (r *lineReader) next() (Line, error) {
	var l Line
	start := r.offset
	for {
		chunk, err := r.from.ReadSlice('\n')
		r.offset += int64(len(chunk))
		if l.TooLong {
			r.pass(chunk)
		} else {
			l.Text = append(l.Text, chunk...)
			if len(l.Text) > r.limit+1 { // with its newline
				r.cut(&l)
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
			r.cut(&l)
		}
		if l.TooLong {
			r.pass(nil)
		}
		return l, nil
	}
}

// cut keeps the sample of a line that is longer than the limit, and passes all of it on.
func (r *lineReader) cut(l *Line) {
	r.pass(l.Text)
	l.cut(r.limit)
}

func (r *lineReader) pass(piece []byte) {
	if r.long != nil {
		r.long(piece, r.offset)
	}
}

// cut keeps the sample of a line that is longer than the limit.
func (l *Line) cut(limit int) {
	l.Text, l.TooLong = append([]byte(nil), l.Text[:min(MaxSample, limit)]...), true
}
