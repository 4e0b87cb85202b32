package transport

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"
)

// Bounds on an event's fields besides its data, in bytes, and on the events of one
// stream.
const (
	maxField  = 1 << 10
	maxEvents = 100_000
)

// event is a server-sent event (WHATWG HTML, section 9.2, "server-sent events").
type event struct {
	kind    string // "" stands for "message"
	data    []byte
	tooLong bool // data is only its beginning
}

// eventReader cuts a stream into events. It never holds more than its limit.
type eventReader struct {
	from  *bufio.Reader
	limit int
	// lastID is the last event id, and retry the time to wait before reconnecting,
	// 0 if the server has not set it; both persist between events.
	lastID string
	retry  time.Duration

	started bool // the byte order mark was checked
	wasCR   bool // a following newline belongs to the line before
}

func newEventReader(from io.Reader, limit int) *eventReader {
	return &eventReader{from: bufio.NewReaderSize(from, 16<<10), limit: limit}
}

// next returns the next event that has data or sets an id; not ok at the end of the
// stream, whatever ended it. An unfinished event is dropped.
func (r *eventReader) next() (next event, ok bool) {
	var e event
	id, some := r.lastID, false
	for {
		line, tooLong, err := r.line()
		if err != nil {
			return event{}, false
		}
		if len(line) == 0 && !tooLong {
			if changed := id != r.lastID; some || changed {
				r.lastID = id
				e.data = bytes.TrimSuffix(e.data, []byte{'\n'})
				return e, true
			}
			e = event{}
			continue
		}
		name, value := field(line)
		switch name {
		case "data":
			some = true
			e.add(value, tooLong, r.limit)
		case "event":
			if len(value) <= maxField {
				e.kind = string(value)
			}
		case "id":
			if len(value) <= maxField && bytes.IndexByte(value, 0) < 0 {
				id = string(value)
			}
		case "retry":
			r.wait(string(value))
		}
	}
}

// field splits a line; the name of a comment is "".
func field(line []byte) (name string, value []byte) {
	before, value, _ := bytes.Cut(line, []byte{':'})
	return string(before), bytes.TrimPrefix(value, []byte{' '})
}

// add appends one line of data.
func (e *event) add(value []byte, tooLong bool, limit int) {
	if e.tooLong {
		return
	}
	e.data = append(append(e.data, value...), '\n')
	if e.tooLong = tooLong || len(e.data) > limit+1; e.tooLong {
		e.data = append([]byte(nil), e.data[:min(MaxSample, limit, len(e.data))]...)
	}
}

// maxRetry bounds the wait that a server may ask for: no session lasts longer.
const maxRetry = time.Hour

// wait sets the retry time from milliseconds: digits only.
func (r *eventReader) wait(value string) {
	if ms, err := strconv.ParseUint(value, 10, 64); err == nil {
		r.retry = time.Duration(min(ms, uint64(maxRetry/time.Millisecond))) * time.Millisecond
	}
}

// prefix is the length that the name of a field and its separator add to a line of data.
const prefix = len("data: ")

// line reads one line, which ends with CR, LF or both, or the beginning of one that
// is too long. It does not wait for the byte after a CR, which may come late.
func (r *eventReader) line() (text []byte, tooLong bool, err error) {
	for {
		if _, err := r.from.Peek(1); err != nil {
			return nil, false, err
		}
		chunk, _ := r.from.Peek(r.from.Buffered()) // buffered bytes need no read
		if r.wasCR && chunk[0] == '\n' {
			r.wasCR = false
			_, _ = r.from.Discard(1)
			continue
		}
		r.wasCR = false
		end := lineEnd(chunk)
		fits := min(end, r.limit+prefix-len(text))
		text, tooLong = append(text, chunk[:fits]...), tooLong || fits < end
		if end == len(chunk) {
			_, _ = r.from.Discard(end)
			continue
		}
		r.wasCR = chunk[end] == '\r'
		_, _ = r.from.Discard(end + 1)
		return r.unmarked(text), tooLong, nil
	}
}

// lineEnd returns the index of the first CR or LF, or the length if there is none.
func lineEnd(chunk []byte) int {
	if at := bytes.IndexByte(chunk, '\n'); at >= 0 {
		chunk = chunk[:at]
	}
	if at := bytes.IndexByte(chunk, '\r'); at >= 0 {
		return at
	}
	return len(chunk)
}

// unmarked removes a byte order mark from the first line of a stream.
func (r *eventReader) unmarked(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, []byte("\ufeff"))
}

// tooMany returns the error of an endless stream.
func tooMany() *Error { return errorf("the stream has more than %d events", maxEvents) }
