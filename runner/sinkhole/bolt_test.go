package sinkhole

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestBolt(t *testing.T) {
	proposals := "\x00\x00\x01\xFF\x00\x08\x08\x05\x00\x02\x04\x04\x00\x00\x00\x03"
	if got := boltVersion([]byte(proposals)); got != "\x00\x00\x08\x05" {
		t.Errorf("version %x", got)
	}
	if got := boltVersion([]byte("\x00\x00\x00\x03" + strings.Repeat("\x00", 12))); got != "\x00\x00\x00\x00" {
		t.Errorf("version %x of none that is known", got)
	}
	for query, want := range map[string][]string{
		"CALL apoc.meta.schema() YIELD value RETURN value":                             {"value"},
		"MATCH (n) RETURN DISTINCT n.name AS name, count(*) AS `total`\nORDER BY name": {"n.name AS name", " count(*) AS `total`"},
		"MATCH (n) RETURN coalesce(n.a, 'b'), n LIMIT 5":                               {"coalesce(n.a, 'b')", " n"},
		"CREATE (n)": nil,
	} {
		if got := returned([]byte("\xB3\x10\xD0\x20" + query + "\xA0\xA0")); !slices.Equal(got, want) {
			t.Errorf("%s: %q", query, got)
		}
	}
	columns := []string{"n.name AS name", "count(*) AS total", "value"}
	if got := boltReply(boltRun, columns, kindOf(nil), "a"); !strings.Contains(got, "\xD0\x06fields\xD4\x03\xD0\x04name\xD0\x05total\xD0\x05value") {
		t.Errorf("columns %q", got)
	}
	if got := boltReply(boltPull, columns, kindOf(nil), "a"); !strings.HasPrefix(got, "\x00\x0D\xB1\x71\xD4\x03\xD0\x04note\x01\xD8\x00\x00\x00") {
		t.Errorf("record %q", got)
	}
	if read, written := kindOf([]byte("MATCH (n) RETURN n")), kindOf([]byte("EXPLAIN MERGE (n)")); read != "r" || written != "rw" {
		t.Errorf("kinds %q, %q", read, written)
	}
	if got := boltReply(0x6A, nil, "r", "a"); got != "\x00\x04\xB1\x70\xD8\x00\x00\x00" {
		t.Errorf("logon %q", got)
	}
}

// A message comes in chunks, and what keeps the connection alive is none.
func FuzzBolt(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03\xB3\x10\xD0\x00\x0A\x08RETURN 1\x00\x00"))
	f.Add([]byte("\xFF\xFF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		message, err := readBolt(bytes.NewReader(data))
		if err == nil && (len(message) == 0 || len(message) > maxBolt) {
			t.Errorf("a message of %d bytes", len(message))
		}
		if columns := returned(message); len(columns) > maxColumns {
			t.Errorf("%d columns", len(columns))
		} else if reply := boltReply(boltPull, columns, kindOf(nil), "a"); !strings.HasSuffix(reply, "\x00\x00") {
			t.Errorf("%q", reply)
		}
	})
}
