package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, ""}, {"abcde", 4, "a…"}, {"äöü", 5, "ä…"}, {"äöü", 6, "äöü"},
		{"a\xffb", 9, "a?b"}, {"\xff\xff\xff\xff\xff", 4, "?…"},
	} {
		if got := Cut(test.text, test.most); got != test.want {
			t.Errorf("%q in %d bytes is %q, not %q", test.text, test.most, got, test.want)
		}
	}
	for most := range 20 {
		got := Cut(strings.Repeat("aä語😀", 9), most)
		if len(got) > most || !utf8.ValidString(got) || got != "" && !WasCut(got, most) {
			t.Errorf("in %d bytes: %q", most, got)
		}
		if WasCut(got, most+8) {
			t.Errorf("%q is not cut to %d bytes", got, most+8)
		}
	}
}

func TestHead(t *testing.T) {
	for most, want := range []string{"", "a", "a", "aä", "aä", "aä", "aä語", "aä語b", "aä語b"} {
		if got := Head("aä語b", most); got != want {
			t.Errorf("%d bytes: %q, not %q", most, got, want)
		}
	}
	if got := Head("\xbf\xbf\xbf", 2); got != "" {
		t.Errorf("continuation bytes alone have no whole rune: %q", got)
	}
}
