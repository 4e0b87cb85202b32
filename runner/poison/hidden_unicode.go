package poison

import (
	"slices"
	"strings"
	"unicode"
)

// How many invisible characters count. One or two come along with copied text.
const (
	// minRun is the shortest run of zero-width characters.
	minRun = 3
	// minSplit is the least number between Latin letters, where no script needs one.
	minSplit = 4
	// minPrivate is the shortest run of private-use characters: icon fonts have one or
	// two.
	minPrivate = 4
)

// hiddenUnicode finds texts hidden by invisible or reordering characters.
func hiddenUnicode(text string, in Place) []Hidden {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return nil
	}
	runes := []rune(text)
	finders := []func([]rune) (Hidden, bool){tags, selectors, zeroWidth, splitWords, overrides}
	if in == Declared {
		finders = append(finders, privateUse) // text taken from a PDF has many, for its own fonts
	}
	var all []Hidden
	for _, find := range finders {
		if h, ok := find(runes); ok {
			h.Way = WayUnicode
			all = append(all, h)
		}
	}
	return all
}

// eachRun calls visit for each run of characters in a set.
func eachRun(runes []rune, in func(rune) bool, visit func(start, end int)) {
	for i := 0; i < len(runes); {
		if !in(runes[i]) {
			i++
			continue
		}
		start := i
		for i < len(runes) && in(runes[i]) {
			i++
		}
		visit(start, i)
	}
}

const (
	blackFlag = 0x1F3F4
	tagFirst  = 0xE0000
	tagCancel = 0xE007F
)

func isTag(r rune) bool { return r >= tagFirst && r <= tagCancel }

// tags finds tag characters, each of which stands for one of ASCII. The flags of
// England, Scotland and their like are made of them (UTS #51, ED-14a).
func tags(runes []rune) (Hidden, bool) {
	var says strings.Builder
	found := false
	eachRun(runes, isTag, func(start, end int) {
		flag := start > 0 && runes[start-1] == blackFlag && runes[end-1] == tagCancel && end-start <= 8
		if flag {
			return
		}
		found = true
		for _, r := range runes[start:end] {
			if c := r - tagFirst; c >= 0x20 && c < 0x7f {
				says.WriteRune(c)
			}
		}
	})
	return Hidden{How: "tag characters (U+E0000 to U+E007F)", Says: says.String()}, found
}

// selected returns the byte that a variation selector encodes, or -1.
func selected(r rune) int {
	switch {
	case r >= 0xFE00 && r <= 0xFE0F:
		return int(r - 0xFE00)
	case r >= 0xE0100 && r <= 0xE01EF:
		return int(r-0xE0100) + 16
	}
	return -1
}

// selectors finds runs of different variation selectors. A single one belongs to an emoji
// or an ideograph.
func selectors(runes []rune) (Hidden, bool) {
	var bytes []byte
	found := false
	eachRun(runes, func(r rune) bool { return selected(r) >= 0 }, func(start, end int) {
		if run := runes[start:end]; !slices.ContainsFunc(run, func(r rune) bool { return r != run[0] }) {
			return // one, or what an editor has made of an emoji twice
		}
		found = true
		for _, r := range runes[start:end] {
			bytes = append(bytes, byte(selected(r)))
		}
	})
	if !readable(string(bytes)) {
		bytes = nil
	}
	return Hidden{How: "variation selectors", Says: string(bytes)}, found
}

// shapeless reports whether a character has no width. Joiners have none; a soft hyphen
// has one, for browsers show it.
func shapeless(r rune) bool {
	return r >= 0x200B && r <= 0x200D || r >= 0x2060 && r <= 0x2064 || r == 0xFEFF || r == 0x180E || r == 0x3164 || r == 0xFFA0
}

// zeroWidth finds runs of characters without a width.
func zeroWidth(runes []rune) (Hidden, bool) {
	var says []rune
	found := false
	eachRun(runes, shapeless, func(start, end int) {
		if end-start >= minRun {
			found = true
			says = append(says, runes[start:end]...)
		}
	})
	return Hidden{How: "a run of zero-width characters", Says: bits(says)}, found
}

// bits reads two kinds of characters as zeros and ones, eight to a byte.
func bits(runes []rune) string {
	if len(runes) < 32 {
		return ""
	}
	zero, one := runes[0], rune(-1)
	for _, r := range runes {
		switch {
		case r == zero:
		case one < 0:
			one = r
		case r != one:
			return ""
		}
	}
	for _, flip := range []bool{false, true} {
		var bytes []byte
		for i := 0; i+8 <= len(runes); i += 8 {
			var b byte
			for _, r := range runes[i : i+8] {
				b <<= 1
				if (r == one) != flip {
					b |= 1
				}
			}
			bytes = append(bytes, b)
		}
		if readable(string(bytes)) {
			return string(bytes)
		}
	}
	return ""
}

// splitWords finds Latin words split by zero-width characters, which hides them from a
// search.
func splitWords(runes []rune) (Hidden, bool) {
	n, first, last := 0, 0, 0
	for i := 1; i+1 < len(runes); i++ {
		if shapeless(runes[i]) && isLatin(runes[i-1]) && isLatin(runes[i+1]) {
			if n == 0 {
				first = i
			}
			n, last = n+1, i
		}
	}
	if n < minSplit {
		return Hidden{}, false
	}
	for first > 0 && runes[first-1] != '\n' && runes[first-1] != '.' {
		first--
	}
	last = min(last+60, len(runes))
	var says strings.Builder
	for _, r := range runes[first:last] {
		if !shapeless(r) {
			says.WriteRune(r)
		}
	}
	return Hidden{How: "zero-width characters within words", Says: strings.TrimSpace(says.String())}, true
}

func isLatin(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

const (
	rle, pdf, lro, rlo, rli, pdi = 0x202B, 0x202C, 0x202D, 0x202E, 0x2067, 0x2069
)

// overrides finds characters that show others in another order (UAX #9): Latin ones
// from the right, or Arabic and Hebrew ones from the left. A mark, an isolate and an
// embedding are how such languages are written, a number in them too; where there is
// not one letter of theirs, what turns to the right turns Latin words about.
func overrides(runes []rune) (Hidden, bool) {
	rightward := slices.ContainsFunc(runes, isRightward)
	for i, r := range runes {
		var turned func(rune) bool
		switch {
		case r == rlo, (r == rli || r == rle) && !rightward:
			turned = isLatin
		case r == lro:
			turned = isRightward
		default:
			continue
		}
		end, n := i+1, 0
		for end < len(runes) && runes[end] != pdf && runes[end] != pdi && runes[end] != '\n' {
			if turned(runes[end]) {
				n++
			}
			end++
		}
		if n >= 2 {
			return Hidden{How: "characters that reorder the text (bidirectional override)", Says: strings.TrimSpace(string(runes[i+1 : end]))}, true
		}
	}
	return Hidden{}, false
}

func isRightward(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// privateUse finds runs of private-use characters.
func privateUse(runes []rune) (Hidden, bool) {
	found := false
	eachRun(runes, func(r rune) bool { return unicode.Is(unicode.Co, r) }, func(start, end int) {
		found = found || end-start >= minPrivate
	})
	return Hidden{How: "a run of private-use characters"}, found
}
