package squat

import (
	"strings"
	"unicode/utf8"
)

// near describes the typing error by which a word differs from another, or two errors in
// a long word; "" if more separate them. Both are in lower case.
func near(word, of string) string {
	if word == of {
		return ""
	}
	errors := 1
	if utf8.RuneCountInString(of) >= minTwice {
		errors = 2
	}
	return errs([]rune(word), []rune(of), 0, errors)
}

// errs undoes one error, and then the others that are allowed. A mistyped first letter of a name is noticed, and
// another last letter mostly makes another word: a plural, a version.
func errs(word, of []rune, at, allowed int) string {
	for at < len(word) && at < len(of) && word[at] == of[at] {
		at++
	}
	w, o := word[at:], of[at:]
	for _, s := range slips {
		if !s.is(word, of, at) || len(w) < s.word || len(o) < s.of {
			continue
		}
		restW, restO := w[s.word:], o[s.of:]
		if string(restW) == string(restO) {
			return s.how
		}
		if allowed > 1 {
			if more := errs(append(of[:at:at], restW...), append(of[:at:at], restO...), at, allowed-1); more != "" {
				return s.how + ", and " + more
			}
		}
	}
	return ""
}

// slips are the errors: where word and of differ, so many letters of each are skipped.
var slips = []struct {
	how      string
	word, of int
	is       func(word, of []rune, at int) bool
}{
	{"two letters are swapped", 2, 2, func(word, of []rune, at int) bool {
		return at+1 < len(word) && at+1 < len(of) && word[at] == of[at+1] && word[at+1] == of[at]
	}},
	{"a letter is doubled", 1, 0, func(word, _ []rune, at int) bool {
		return at > 0 && at < len(word) && word[at] == word[at-1] && isLetter(word[at])
	}},
	{"a double letter is single", 0, 1, func(_, of []rune, at int) bool {
		return at > 0 && at < len(of) && of[at] == of[at-1] && isLetter(of[at])
	}},
	{"a letter is missing", 0, 1, func(_, of []rune, at int) bool {
		return at > 0 && at+1 < len(of) && isLetter(of[at])
	}},
	{"a letter is added", 1, 0, func(word, _ []rune, at int) bool {
		return at > 0 && at+1 < len(word) && isLetter(word[at])
	}},
	{"a letter is mistyped", 1, 1, func(word, of []rune, at int) bool {
		return at > 0 && at+1 < len(word) && at+1 < len(of) && beside(word[at], of[at])
	}},
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' }

// rows of a QWERTY keyboard.
var rows = []string{"qwertyuiop", "asdfghjkl", "zxcvbnm"}

// beside reports whether two letters are neighbours in a row.
func beside(a, b rune) bool {
	for _, row := range rows {
		i, j := strings.IndexRune(row, a), strings.IndexRune(row, b)
		if i >= 0 && j >= 0 && (i-j == 1 || j-i == 1) {
			return true
		}
	}
	return false
}

// lookalikes replaces letters, digits and pairs by the Latin letter that they look like
// (a part of the confusables of UTS #39).
var lookalikes = strings.NewReplacer(
	"а", "a", "ɑ", "a", "α", "a", "е", "e", "ё", "e", "ε", "e", "о", "o", "ο", "o", "օ", "o", "0", "o", "р", "p", "ρ", "p", "с", "c", "ϲ", "c",
	"у", "y", "γ", "y", "х", "x", "χ", "x", "і", "i", "ι", "i", "ı", "i", "1", "i", "l", "i", "|", "i", "ⅼ", "i", "ӏ", "i", "ј", "j", "ѕ", "s", "5", "s",
	"к", "k", "κ", "k", "м", "m", "rn", "m", "н", "h", "һ", "h", "т", "t", "τ", "t", "в", "b", "ԁ", "d", "ԛ", "q", "ɡ", "g", "ѵ", "v", "ν", "v", "vv", "w", "ԝ", "w",
	"ո", "n", "η", "n", "п", "n", "ս", "u", "υ", "u", "3", "e", "ғ", "f",
)

// skeleton replaces all letters that look alike by the same one.
func skeleton(word string) string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
			return r - 0xFEE0
		case r >= 0x1D400 && r <= 0x1D6A3: // mathematical letters: 13 alphabets of 52
			i := (r - 0x1D400) % 52 % 26
			return 'a' + i
		}
		return r
	}, word)
	return lookalikes.Replace(strings.ToLower(folded))
}

// Disguised reports whether a name of Latin letters contains others that only look
// like those, and returns the name that it looks like.
func Disguised(name string) (looks string, ok bool) {
	latin, foreign := false, false
	for _, r := range name {
		latin = latin || isLetter(r) || r >= 'A' && r <= 'Z'
		if r < utf8.RuneSelf {
			continue
		}
		one := skeleton(string(r))
		if len(one) != 1 || !isLetter(rune(one[0])) {
			return "", false // a word of another script
		}
		foreign = true
	}
	if !latin || !foreign {
		return "", false
	}
	var b strings.Builder
	for _, r := range name {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.WriteString(skeleton(string(r)))
		}
	}
	return b.String(), true
}
