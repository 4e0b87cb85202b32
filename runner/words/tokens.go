package words

import (
	"strings"
	"unicode"
)

const maxName = 256 // bytes

// Of splits a text into lower-case words: runs of letters and digits with inner
// apostrophes. Words also end between a script with spaces and one without: "调用GitHub" is two.
func Of(text string) []string {
	var all []string
	var word strings.Builder
	flush := func() {
		if plain := strings.Trim(word.String(), "'"); plain != "" {
			all = append(all, plain)
		}
		word.Reset()
	}
	dense := false
	for _, r := range strings.ReplaceAll(text, "’", "'") {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' {
			flush()
			continue
		}
		if dense != IsUnspaced(r) {
			flush()
		}
		dense = IsUnspaced(r)
		word.WriteRune(unicode.ToLower(r))
	}
	flush()
	return all
}

// OfName is Of for the name of a tool, a field or a file: "filePath", "file_path" and
// "FILE-PATH" are "file" and "path". It reads the first 256 bytes.
func OfName(name string) []string { return Of(Spell(name[:min(len(name), maxName)])) }

// Spell puts blanks between the words of a name: "contentOf_ssh-key" is "content Of ssh key". A word ends at
// an underscore, a hyphen, a dot, and before upper case that follows lower case or a digit.
func Spell(name string) string {
	var b strings.Builder
	b.Grow(len(name) + 8)
	ends := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			r = ' '
		case ends && unicode.IsUpper(r):
			b.WriteByte(' ')
		}
		ends = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(r)
	}
	return b.String()
}

// IsUnspaced reports whether a letter belongs to a script without spaces between words.
func IsUnspaced(r rune) bool {
	return r > unicode.MaxLatin1 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー')
}
