package pseudonym_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

func names(t testing.TB) *pseudonym.Names {
	t.Helper()
	n, err := pseudonym.New([]pseudonym.Pair{
		{Name: "audit", Seen: "bremo"}, {Name: "audit-c", Seen: "bremo-x"}, {Name: "audit-files", Seen: "bremo-books"},
		{Name: "example", Seen: "dolenta", Inward: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOutAndIn(t *testing.T) {
	n := names(t)
	for engine, server := range map[string]string{
		"/tmp/audit-files/audit-c12.txt": "/tmp/bremo-books/bremo-x12.txt",
		"AUDIT-C7 Audit-c7 audit":        "BREMO-X7 Bremo-x7 bremo",
		"nothing":                        "nothing",
		"":                               "",
	} {
		if got := n.Out(engine); got != server {
			t.Errorf("Out(%q) = %q, want %q", engine, got, server)
		}
		if got := n.In(server); got != engine {
			t.Errorf("In(%q) = %q, want %q", server, got, engine)
		}
		if got := string(n.OutBytes([]byte(engine))); got != server {
			t.Errorf("OutBytes(%q) = %q, want %q", engine, got, server)
		}
		if got := string(n.InBytes([]byte(server))); got != engine {
			t.Errorf("InBytes(%q) = %q, want %q", server, got, engine)
		}
	}
	if got := n.Out("an example"); got != "an example" {
		t.Errorf("an inward name was replaced for the server: %q", got)
	}
	if got := n.In("\x07dolenta\x03net"); got != "\x07example\x03net" {
		t.Errorf("an inward name was not replaced: %q", got)
	}
}

func TestNone(t *testing.T) {
	var none *pseudonym.Names
	if got := none.In(none.Out("audit")) + string(none.InBytes(none.OutBytes([]byte("-files")))); got != "audit-files" {
		t.Errorf("nil replaces: %q", got)
	}
	if n, err := pseudonym.New(nil); n != nil || err != nil {
		t.Errorf("New(nil) = %v, %v", n, err)
	}
}

func TestNewRefusesAnotherLength(t *testing.T) {
	for _, p := range []pseudonym.Pair{{Name: "audit", Seen: "brem"}, {}} {
		if _, err := pseudonym.New([]pseudonym.Pair{p}); err == nil {
			t.Errorf("New(%+v) has no error", p)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := json.Marshal(struct{ Names *pseudonym.Names }{names(t)})
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct{ Names *pseudonym.Names }
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatal(err)
	}
	if got := decoded.Names.Out("audit-c1"); got != "bremo-x1" {
		t.Errorf("after JSON: %q", got)
	}
}

func TestReaderJoinsNames(t *testing.T) {
	const said = "read bremo-books/note, then bremo-x3 and brem"
	slow := io.NopCloser(iotest.OneByteReader(strings.NewReader(said)))
	got, err := io.ReadAll(names(t).Reader(slow))
	if err != nil || string(got) != "read audit-files/note, then audit-c3 and brem" {
		t.Errorf("ReadAll = %q, %v", got, err)
	}
}

func FuzzLengths(f *testing.F) {
	n := names(f)
	f.Add("audit-files bremo-BOOKS Bremo-x1 dolenta")
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1<<10)]
		if len(n.Out(text)) != len(text) || len(n.In(text)) != len(text) {
			t.Errorf("the length of %q changes", text)
		}
		got, err := io.ReadAll(n.Reader(io.NopCloser(iotest.OneByteReader(strings.NewReader(text)))))
		if err != nil || string(got) != n.In(text) {
			t.Errorf("read %q, %v, want %q", got, err, n.In(text))
		}
	})
}
