package decoy_test

import (
	"bytes"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// FuzzScanner: whatever a server sends, in whatever pieces, the search ends, reports
// no secret that is not there, and finds a plain secret after it.
func FuzzScanner(f *testing.F) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		f.Fatal(err)
	}
	m := decoy.NewMatcher(set)
	for name, encode := range encodings {
		f.Add([]byte(encode("a text that is no secret, of some length")), uint16(len(name)))
	}
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nx"), uint16(3))
	f.Add([]byte("\x1f\x8b\x08\xff\x00\x00\x00\x00\x00\x00\xff\xff"), uint16(1))
	f.Add([]byte(`{"text":"\\u00e9\\ud800\\/%2f%zz\\"}`), uint16(9))
	secret := []byte(" " + set.Vars[5].Value + " ")
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		step := max(1, int(size))
		search := func(stream []byte) []decoy.Match {
			s := m.Stream()
			var found []decoy.Match
			for at := 0; at < len(stream); at += step {
				found = append(found, s.Write(stream[at:min(at+step, len(stream))])...)
			}
			return append(found, s.Flush()...)
		}
		if found := search(data); len(found) > 0 {
			t.Errorf("found in nothing: %+v", found)
		}
		found := search(append(bytes.Clone(data), secret...))
		if len(found) == 0 || found[0].Decoy.Name != set.Vars[5].Name {
			t.Errorf("not found: %+v", found)
		}
		m.Redact(string(data))
		m.FindFolded(data)
	})
}
