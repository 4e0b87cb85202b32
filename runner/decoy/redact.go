package decoy

import (
	"slices"
	"strings"
)

// Redact shortens every secret in a text, in a form that is found directly, to its
// first four and last two characters.
func (m *Matcher) Redact(s string) string {
	type run struct{ from, to int }
	var runs []run
	m.exact.scan([]byte(s), func(_ *text, from, to int) { runs = append(runs, run{from, to}) })
	if len(runs) == 0 {
		return s
	}
	slices.SortFunc(runs, func(a, b run) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for i := 0; i < len(runs); {
		from, to := runs[i].from, runs[i].to
		for i++; i < len(runs) && runs[i].from < to; i++ {
			to = max(to, runs[i].to)
		}
		out.WriteString(s[at:from] + s[from:from+4] + "…" + s[to-2:to])
		at = to
	}
	out.WriteString(s[at:])
	return out.String()
}
