package poison

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// disguises change letters in ways that a model still reads. plain returns the text without
// the disguise; "" if it has none.
var disguises = []struct {
	name  string
	plain func(string) string
}{
	{"digits in place of letters", fromLeet},
	{"another letter in place of each", fromSubstitution},
	{"letters in reverse order", fromReverse},
	{"letters set apart", fromSpaced},
	{"letters set apart", fromApart},
}

// disguised finds an instruction that shows only without the disguise.
func disguised(text string, in Place) (Hidden, bool) {
	for _, d := range disguises {
		plain := d.plain(text)
		if plain == "" || plain == text {
			continue
		}
		if quote := tells(plain, in); quote != "" && !strings.Contains(text, quote) && tells(text, in) != quote {
			return Hidden{Way: WayEncoded, How: d.name, Says: quote}, true
		}
	}
	return Hidden{}, false
}

// tells returns a passage that instructs the model; "" if there is none.
func tells(text string, in Place) string {
	if found := Inject(text); len(found) > 0 {
		return found[0].Quote
	}
	if in == Declared {
		if found := Read(text, Context{Kind: KindDescription}); len(found) > 0 {
			return found[0].Quote
		}
	}
	return ""
}

var leet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "9", "g", "@", "a", "$", "s", "!", "i", "|", "l", "+", "t", "6", "g")

// minLeet is the least number of words with digits that are read as letters.
const minLeet = 3

// fromLeet replaces digits within words by the letters they look like.
func fromLeet(text string) string {
	all := strings.SplitAfter(text, " ")
	changed := 0
	for i, word := range all {
		body := strings.TrimRight(word, " .,;:!?")
		letters, others := 0, 0
		for _, r := range body {
			switch {
			case unicode.IsLetter(r):
				letters++
			case strings.ContainsRune("013456789@$!|+7", r):
				others++
			default:
				others = -len(body) // a path, a version, an identifier
			}
		}
		if letters > 0 && others > 0 && others <= 2*letters {
			all[i] = leet.Replace(body) + word[len(body):]
			changed++
		} else if body == "4" || body == "2" || body == "u" {
			all[i] = map[string]string{"4": "for", "2": "to", "u": "you"}[body] + word[len(body):]
		}
	}
	if changed < minLeet {
		return ""
	}
	return strings.Join(all, "")
}

// common are words that nearly every English text has.
var common = []string{"the", "to", "you", "and", "of", "this", "all", "not", "user", "file", "with", "before", "must", "do"}

// minCommon is how many of them an English text has at least.
const minCommon = 3

// vocabulary returns the words of a text; nil if it is too short.
func vocabulary(text string) words.Set {
	all := words.Of(text[:min(len(text), maxDecoded)])
	if len(all) < 2*minCommon {
		return nil
	}
	return words.SetOf(all...)
}

// isEnglish reports whether a vocabulary has enough of the common words, as they are encoded.
func isEnglish(have words.Set, common []string) bool {
	n := 0
	for _, w := range common {
		if have[w] {
			n++
		}
	}
	return n >= minCommon
}

// inCommon returns the common words as they are disguised.
func inCommon(disguise func(string) string) []string {
	var all []string
	for _, w := range common {
		all = append(all, disguise(w))
	}
	return all
}

// encoded has the common words encoded with each key, backwards has them reversed.
var (
	encoded = func() (all [atbash + 1][]string) {
		for key := range all {
			all[key] = inCommon(func(word string) string { return shiftedBy(key, word) })
		}
		return all
	}()
	backwards = inCommon(reversed)
)

// fromSubstitution decodes a Caesar cipher such as ROT13, or Atbash.
func fromSubstitution(text string) string {
	have := vocabulary(text)
	for key := 1; key <= atbash && have != nil; key++ {
		if isEnglish(have, encoded[key]) {
			if key != atbash { // which is its own inverse
				key = 26 - key
			}
			return shiftedBy(key, text)
		}
	}
	return ""
}

func shiftedBy(key int, text string) string {
	return strings.Map(func(r rune) rune { return shifted(r, key) }, text)
}

// atbash is the key of the reversed alphabet; other keys are shifts.
const atbash = 26

// shifted moves a letter of ASCII by a key.
func shifted(r rune, by int) rune {
	for _, first := range []rune{'a', 'A'} {
		if i := r - first; i >= 0 && i < 26 {
			if by == atbash {
				return first + 25 - i
			}
			return first + (i+rune(by))%26
		}
	}
	return r
}

func fromReverse(text string) string {
	if !isEnglish(vocabulary(text), backwards) {
		return ""
	}
	return reversed(text)
}

func reversed(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

var (
	// spaced matches twelve or more single letters.
	spaced  = lazyregexp.New(`(?:^|[\s:])(?:[\p{L}\d](?:[ .\-]|[.\-] [.\-]|[ ]{2,4}| ?[/|] ?)){12,}[\p{L}\d]`)
	wordGap = lazyregexp.New(` {2,}|[.\-] [.\-]| ?[/|] ?`)
)

// fromSpaced joins letters separated by blanks, dots or hyphens. Words are separated by two blanks, a blank between
// dots, or a slash.
func fromSpaced(text string) string {
	if !spaced.MatchString(text) {
		return ""
	}
	return spaced.ReplaceAllStringFunc(text, func(run string) string {
		var b strings.Builder
		for _, word := range wordGap.Split(run, -1) {
			for _, r := range word {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					b.WriteRune(r)
				}
			}
			b.WriteByte(' ')
		}
		return b.String()
	})
}
