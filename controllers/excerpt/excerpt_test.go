package excerpt_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"fits", "format_note", 11, "format_note"},
		{"is cut and marked", "format_note", 10, "format_…"},
		{"keeps runes whole", "ééééé", 8, "éé…"},
		{"counts escapes", `""""`, 8, `""""`},
		{"cuts by escapes", `"""""`, 8, `""…`},
		{"repairs UTF-8", "a\xffb", 9, "a\uFFFDb"},
		{"empty", "", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := excerpt.Cut(test.in, test.limit); got != test.want {
				t.Errorf("Cut(%q, %d) = %q, want %q", test.in, test.limit, got, test.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	if got, want := excerpt.Line("a\nb\x1b[31mc\u2028d", 64), "a b [31mc d"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

// TestL1Line: nothing that hides or reorders text, or that a terminal takes for an order.
func TestL1Line(t *testing.T) {
	for name, hidden := range map[string]string{
		"C1 control (CSI)": "\u009b", "next line": "\u0085", "delete": "\x7f", "right-to-left override": "\u202e", "isolate": "\u2066",
		"zero-width space": "\u200b", "zero-width joiner": "\u200d", "byte order mark": "\ufeff", "soft hyphen": "\u00ad", "tag": "\U000e0041",
		"Hangul filler": "\u3164", "variation selector": "\ufe0f", "blank braille": "\u2800", "no-break space": "\u00a0", "private use": "\ue000",
	} {
		if got := excerpt.Line("a"+hidden+"b", 64); got != "a b" {
			t.Errorf("%s: Line = %q", name, got)
		}
	}
	if got := excerpt.Line("naïve \U0001f600 文字", 64); got != "naïve \U0001f600 文字" {
		t.Errorf("Line = %q", got)
	}
}

func FuzzCut(f *testing.F) {
	for _, seed := range []string{"", "plain", `"\<>&`, "\x00\u2028é\U0001f600", strings.Repeat("\xf0", 9)} {
		f.Add(seed, 8)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(3, limit%4096) // the mark itself takes 3 bytes
		got := excerpt.Cut(s, limit)
		if !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q is no UTF-8", s, limit, got)
		}
		encoded, err := json.Marshal(got)
		if err != nil || len(encoded)-2 > limit {
			t.Errorf("Cut(%q, %d) takes %d bytes of JSON (%v)", s, limit, len(encoded)-2, err)
		}
	})
}

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "it ended ": "It ended.", "It ended.": "It ended.", `it said "no."`: `It said "no."`, "really?": "Really?", "cut…": "Cut…", "über": "Über.",
	} {
		if got := excerpt.Sentence(excerpt.Capital(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
