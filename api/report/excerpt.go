package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of excerpts.
const (
	// shortText bounds what is shown whole, in bytes.
	shortText = 200
	// around is the number of words that are shown on each side of a difference. Differences whose
	// surroundings meet are joined.
	around = 4
	// maxTable bounds the product of the words of both texts. Larger ones are one difference.
	maxTable = 1 << 16
	// context is the number of bytes that are shown before a difference within one word.
	context = 40
)

// excerpts returns the differing words of two texts with some words around them, in at most
// MaxChangeBytes each.
func excerpts(before, after string) (from, to string) {
	if len(before) > shortText || len(after) > shortText {
		before, after = hunks(words(before), words(after))
	}
	if len(before) > MaxChangeBytes || len(after) > MaxChangeBytes {
		skip := max(shared([]byte(before), []byte(after))-context, 0)
		for skip > 0 && !utf8.RuneStart(before[skip]) {
			skip--
		}
		if skip > 0 {
			before, after = CutMark+before[skip:], CutMark+after[skip:]
		}
	}
	return Cut(before, MaxChangeBytes), Cut(after, MaxChangeBytes)
}

// shared returns the length of the common prefix.
func shared[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// words splits a text into words, each with the white space behind it.
func words(text string) []string {
	var all []string
	begin, space := 0, false
	for i, r := range text {
		if space && !unicode.IsSpace(r) {
			all, begin = append(all, text[begin:i]), i
		}
		space = unicode.IsSpace(r)
	}
	if begin < len(text) {
		all = append(all, text[begin:])
	}
	return all
}

// hunk is a stretch of differing words: [from, to) of each text.
type hunk struct{ aFrom, aTo, bFrom, bTo int }

// hunks returns the excerpts of two texts.
func hunks(a, b []string) (before, after string) {
	var was, is strings.Builder
	for _, h := range merged(differing(a, b)) {
		piece(&was, a, h.aFrom, h.aTo)
		piece(&is, b, h.bFrom, h.bTo)
	}
	return was.String(), is.String()
}

// piece writes words and those around them, with marks for what is left out.
func piece(out *strings.Builder, of []string, from, to int) {
	begin, end := max(from-around, 0), min(to+around, len(of))
	if begin > 0 && out.Len() == 0 {
		out.WriteString(CutMark)
	}
	for _, word := range of[begin:end] {
		out.WriteString(word)
	}
	if end < len(of) {
		out.WriteString(CutMark)
	}
}

// merged joins hunks whose surrounding words meet.
func merged(all []hunk) []hunk {
	var out []hunk
	for _, h := range all {
		if n := len(out); n > 0 && h.aFrom-out[n-1].aTo <= 2*around {
			out[n-1].aTo, out[n-1].bTo = h.aTo, h.bTo
			continue
		}
		out = append(out, h)
	}
	return out
}

// differing returns the hunks between two texts, by their longest common subsequence; one
// hunk if that would take too long.
func differing(a, b []string) []hunk {
	first := shared(a, b)
	aEnd, bEnd := len(a), len(b)
	for aEnd > first && bEnd > first && a[aEnd-1] == b[bEnd-1] {
		aEnd, bEnd = aEnd-1, bEnd-1
	}
	n, m := aEnd-first, bEnd-first
	if n == 0 || m == 0 || n > maxTable/m {
		return []hunk{{first, aEnd, first, bEnd}}
	}
	all := subsequence(a[first:aEnd], b[first:bEnd])
	for i := range all {
		h := &all[i]
		h.aFrom, h.aTo, h.bFrom, h.bTo = h.aFrom+first, h.aTo+first, h.bFrom+first, h.bTo+first
	}
	return all
}

// subsequence returns the hunks between the words of the longest common subsequence.
func subsequence(a, b []string) []hunk {
	common := inCommon(a, b)
	var all []hunk
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		h := hunk{aFrom: i, bFrom: j}
		for (i < len(a) || j < len(b)) && !begin(a[i:], b[j:]) {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		h.aTo, h.bTo = i, j
		all = append(all, h)
		for begin(a[i:], b[j:]) {
			i, j = i+1, j+1
		}
	}
	return all
}

// begin reports whether two texts begin with the same word.
func begin(a, b []string) bool { return len(a) > 0 && len(b) > 0 && a[0] == b[0] }

// inCommon counts how many words a[i:] and b[j:] have in common, in order, at [i][j].
func inCommon(a, b []string) [][]uint16 {
	common := make([][]uint16, len(a)+1)
	for i := range common {
		common[i] = make([]uint16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	return common
}
