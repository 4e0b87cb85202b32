package decoy_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// TestNothingHidesBehindTheBounds: whatever comes before a secret, it is found, or
// the search is reported as incomplete.
func TestNothingHidesBehindTheBounds(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	token := set.Vars[0].Value + set.Vars[1].Value
	hidden := std(zip("xxxx" + token))
	many := func(each string, n int) string { return strings.Repeat(each, n) }
	deep := token
	for range 12 {
		deep = std(deep)
	}
	quoted, escaped := token+`"`, strings.Replace(token, "_", "%5F", 1)
	for range 10 {
		quoted = strconv.Quote(quoted)
	}
	for range 100 {
		escaped = strings.ReplaceAll(escaped, "%", "%25")
	}
	for name, data := range map[string]string{
		"quotes":           quoted,
		"escapes":          escaped,
		"words":            many("QUJDREVGR0hJSktMTU5PUFFS ", 3000) + hidden,
		"heads":            many("\r\n\r\n", 3000) + request("", chunked(token, 7)),
		"requests":         many(request("", "0\r\n\r\n"), 300) + request("", chunked(token, 7)),
		"headers of zlib":  many("x^", 3000) + "\n" + compress(token),
		"headers of gzip":  many("\x1f\x8b\x08", 3000) + zip(token),
		"decoys of gzip":   many("H4sI", 40) + "A" + hidden,
		"other secrets":    many(set.Vars[2].Value+many(" ", 200), 400) + token,
		"a bomb":           zip(many("\x00", 12<<20) + token),
		"many bombs":       many(zip(many("\x00", 1<<20)), 12) + zip(token),
		"behind a picture": compress(many("\x00\x01", 3<<20) + token + many("\x00", 1<<20)),
		"many encodings":   deep,
		"escapes of texts": many(`\n%20`, 3000) + hidden,
	} {
		found, unsearched := m.Find([]byte(data))
		ids := map[decoy.ID]bool{}
		for _, f := range found {
			ids[f.Decoy] = true
		}
		if !ids[decoy.ID{Variable: true, Name: set.Vars[1].Name}] && unsearched == 0 {
			t.Errorf("%s: hidden", name)
		}
	}
}

// TestHonestDataAreSearchedWhole: only hostile data reach the bounds.
func TestHonestDataAreSearchedWhole(t *testing.T) {
	m := decoy.NewMatcher(newSet(t, "/home/server", false))
	var list strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&list, "/usr/share/doc/package-%d/examples/%08x.gz\thttps://example.org/a%%20b/%d\n", i%300, i*7919, i)
	}
	failed := `http://localhost:3000/api/manager/items/api/v2/silence/"name": not found`
	for range 10 {
		failed = fmt.Sprintf("failed to get %q", failed)
	}
	quote := func(text string) string {
		b, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": text}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, data := range map[string]string{
		"a list":                  list.String(),
		"a list in an answer":     quote(list.String()),
		"errors about errors":     quote(failed),
		"an answer in an answer":  quote(quote(quote(list.String()))),
		"a compressed list":       quote(std(zip(list.String()))),
		"a picture in an answer":  quote(std(zip(zip(list.String())))),
		"a picture of one colour": compress(strings.Repeat("\x01\x20\x40\x80"+strings.Repeat("\x00", 7680), 1080)),
		"digits that are all one": quote(std(compress("[" + strings.Repeat("3", 20000) + "]"))),
		"text that compresses so": zip(strings.Repeat("0123456789 and so on\n", 40000)),
	} {
		if found, unsearched := m.Find([]byte(data)); len(found) > 0 || unsearched > 0 {
			t.Errorf("%s (%d bytes): %d found, %d unsearched", name, len(data), len(found), unsearched)
		}
	}
}

// TestATokenInEveryRequest: a secret found more often than matches are kept is no gap.
func TestATokenInEveryRequest(t *testing.T) {
	set := newSet(t, "/home/server", false)
	one := "GET /search HTTP/1.1\r\nAuthorization: Bearer " + set.Vars[0].Value + "\r\n" + strings.Repeat("X-Y: z\r\n", 40) + "\r\n"
	found, unsearched := decoy.NewMatcher(set).Find([]byte(strings.Repeat(one, 600)))
	if len(found) < 256 || unsearched > 0 {
		t.Errorf("%d found, %d unsearched", len(found), unsearched)
	}
}
