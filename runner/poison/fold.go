package poison

import (
	"encoding/json"
	"strings"
	"unicode"
)

// fold writes a text as a model reads it: it replaces look-alikes in Latin words,
// full-width and mathematical letters, removes combining marks and bold type, separates
// words joined by bars, and extracts the strings of JSON.
func fold(text string) string {
	text = unwrap(text)
	if strings.Contains(text, "**") {
		text = strings.ReplaceAll(text, "**", "")
	}
	text = untie(text)
	if strings.IndexFunc(text, foldable) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	before := rune(0)
	rest := text
	for len(rest) > 0 {
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		latin := strings.ContainsFunc(rest[:end], func(r rune) bool { return unicode.Is(unicode.Latin, r) && r < unicode.MaxLatin1 })
		for _, r := range rest[:end] {
			if r >= 0x0300 && r <= 0x036f && before < 0x80 {
				continue
			}
			before = letter(r, latin)
			b.WriteRune(before)
		}
		blank := len(rest) - len(strings.TrimLeftFunc(rest[end:], unicode.IsSpace))
		b.WriteString(rest[end:blank])
		rest, before = rest[blank:], ' '
	}
	return b.String()
}

// foldable reports whether fold may change a letter.
func foldable(r rune) bool {
	return r >= 0x0300 && r <= 0x052f || r >= 0xff01 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d6a3
}

// alike maps Cyrillic and Greek letters to the Latin ones they look like.
var alike = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'һ': 'h', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'У': 'Y', 'Х': 'X', 'І': 'I', 'Ј': 'J', 'Ѕ': 'S',
	'ο': 'o', 'α': 'a', 'ν': 'v', 'ι': 'i', 'ρ': 'p', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P',
	'Τ': 'T', 'Χ': 'X', 'Υ': 'Y', 'Ζ': 'Z',
}

// letters are the letters of each mathematical alphabet (Unicode, 1D400-1D6A3).
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func letter(r rune, latin bool) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r >= 0x1d400 && r <= 0x1d6a3:
		return rune(letters[(r-0x1d400)%rune(len(letters))])
	case latin && alike[r] != 0:
		return alike[r]
	}
	return r
}

// tied is how many joined words are a sentence: no name has as many.
const tied = 10

// untie replaces bars by blanks in words of many parts.
func untie(text string) string {
	if strings.Count(text, "_")+strings.Count(text, "-") < tied {
		return text
	}
	bar := func(r rune) bool { return r == '_' || r == '-' }
	words := strings.SplitAfter(text, " ")
	for i, w := range words {
		if len(strings.FieldsFunc(w, bar)) > tied {
			words[i] = strings.Map(func(r rune) rune {
				if bar(r) {
					return ' '
				}
				return r
			}, w)
		}
	}
	return strings.Join(words, "")
}

// unwrap returns the strings of a JSON text as paragraphs, and any other text unchanged.
func unwrap(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune("{[", rune(trimmed[0])) || !json.Valid([]byte(trimmed)) {
		return text
	}
	var b strings.Builder
	d := json.NewDecoder(strings.NewReader(trimmed))
	for {
		t, err := d.Token()
		if err != nil {
			return b.String()
		}
		if s, ok := t.(string); ok {
			b.WriteString(s + "\n\n")
		}
	}
}
