package transport

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func readEvents(t *testing.T, from io.Reader, limit int) (events []event, r *eventReader) {
	t.Helper()
	for r = newEventReader(from, limit); ; {
		e, ok := r.next()
		if !ok {
			return events, r
		}
		events = append(events, e)
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, tc := range map[string]struct {
		in   string
		want []event
		last string
		wait time.Duration
	}{
		"plain":               {in: "data: a\n\n", want: []event{{data: []byte("a")}}},
		"kind":                {in: "event: endpoint\ndata: /m?id=1\n\n", want: []event{{kind: "endpoint", data: []byte("/m?id=1")}}},
		"kind is not kept":    {in: "event: x\n\ndata: a\n\n", want: []event{{data: []byte("a")}}},
		"several lines":       {in: "data: a\ndata:  b\ndata\n\n", want: []event{{data: []byte("a\n b\n")}}},
		"line ends":           {in: "data: a\r\rdata: b\r\n\r\ndata: c\n\n", want: []event{{data: []byte("a")}, {data: []byte("b")}, {data: []byte("c")}}},
		"byte order mark":     {in: "\ufeffdata: a\n\n", want: []event{{data: []byte("a")}}},
		"only the first":      {in: "\n\ufeffdata: a\n\n"},
		"comment":             {in: ": ping\n\n:\r\n\r\ndata: a\n\n", want: []event{{data: []byte("a")}}},
		"unknown field":       {in: "dat: a\nfoo\ndata:a\n\n", want: []event{{data: []byte("a")}}},
		"unfinished":          {in: "data: a\n\ndata: b\n", want: []event{{data: []byte("a")}}},
		"priming":             {in: "id: 7\nretry: 20\ndata:\n\n", want: []event{{}}, last: "7", wait: 20 * time.Millisecond},
		"id stays":            {in: "id: 7\ndata: a\n\ndata: b\n\n", want: []event{{data: []byte("a")}, {data: []byte("b")}}, last: "7"},
		"id is taken back":    {in: "id: 7\ndata: a\n\nid\ndata: b\n\n", want: []event{{data: []byte("a")}, {data: []byte("b")}}},
		"id of half an event": {in: "id: 7\ndata: a\n"},
		"bad id":              {in: "id: a\x00b\ndata: a\n\n", want: []event{{data: []byte("a")}}},
		"bad retry":           {in: "retry: 1s\nretry: -1\nretry: 1.5\ndata: a\n\n", want: []event{{data: []byte("a")}}},
		"long retry":          {in: "retry: 99999999999999\ndata: a\n\n", want: []event{{data: []byte("a")}}, wait: maxRetry},
		"long line":           {in: "data: " + long + "\n\ndata: a\n\n", want: []event{{data: []byte(long[:100]), tooLong: true}, {data: []byte("a")}}},
		"many lines":          {in: strings.Repeat("data: 12345678\n", 20) + "\ndata: a\n\n", want: []event{{data: []byte(strings.Repeat("12345678\n", 12)[:100]), tooLong: true}, {data: []byte("a")}}},
		"just fits":           {in: "data: " + long[:100] + "\n\n", want: []event{{data: []byte(long[:100])}}},
		"long comment":        {in: ": " + long + "\ndata: a\n\n", want: []event{{data: []byte("a")}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, r := readEvents(t, strings.NewReader(tc.in), 100)
			if len(got) != len(tc.want) {
				t.Fatalf("%d events %+v, want %d", len(got), got, len(tc.want))
			}
			for i, w := range tc.want {
				if e := got[i]; e.kind != w.kind || !bytes.Equal(e.data, w.data) || e.tooLong != w.tooLong {
					t.Errorf("event %d: %q %q %v, want %q %q %v", i, e.kind, e.data, e.tooLong, w.kind, w.data, w.tooLong)
				}
			}
			if r.lastID != tc.last || r.retry != tc.wait {
				t.Errorf("last id %q, retry %s", r.lastID, r.retry)
			}
		})
	}
}

// TestEventIsNotWaitedFor: an event is complete when its empty line ends, even by a lone CR.
func TestEventIsNotWaitedFor(t *testing.T) {
	in, out := io.Pipe()
	t.Cleanup(func() { _ = out.Close() })
	go func() { _, _ = out.Write([]byte("data: a\r\r")) }() // and no more
	if e, ok := newEventReader(in, 100).next(); !ok || string(e.data) != "a" {
		t.Errorf("event %+v, %v", e, ok)
	}
}

// FuzzEvents: memory stays within the limits, and it does not matter how the bytes
// are split.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: endpoint\ndata: /m\n\nid: 1\nretry: 5\ndata:\n\n"), uint8(10))
	f.Add([]byte("\ufeffdata: a\r\rdata: b\r\n\r\n: c\n\n"), uint8(200))
	f.Add([]byte("data: aaaaaaaaaaaaaaaaaaaaaaaa\ndata: b\n\n"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		whole, r := readEvents(t, bytes.NewReader(in), int(limit))
		bytewise, b := readEvents(t, iotest.OneByteReader(bytes.NewReader(in)), int(limit))
		if len(whole) != len(bytewise) || r.lastID != b.lastID || r.retry != b.retry {
			t.Fatalf("%d events, byte by byte %d", len(whole), len(bytewise))
		}
		for i, e := range whole {
			if e.kind != bytewise[i].kind || !bytes.Equal(e.data, bytewise[i].data) || e.tooLong != bytewise[i].tooLong {
				t.Fatalf("event %d differs: %+v, %+v", i, e, bytewise[i])
			}
			if len(e.data) > int(limit) || len(e.kind) > maxField || len(r.lastID) > maxField {
				t.Fatalf("event %d has %d bytes", i, len(e.data))
			}
		}
	})
}

func TestHeaderValue(t *testing.T) {
	for in, want := range map[string]string{
		"us-west1": "us-west1", "": "", "a b": "a b",
		"Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=", " padded ": "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2": "=?base64?bGluZTEKbGluZTI=?=", "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	} {
		if got := HeaderValue(in); got != want {
			t.Errorf("%q as a header is %q, want %q", in, got, want)
		}
	}
}
