package inputs

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// fitPattern returns text when it matches the pattern, else the simplest text
// that does, else (a pattern that Go cannot parse, or with assertions) text.
func fitPattern(text, pattern string) string {
	if len(pattern) > 1024 {
		return text
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil || compiled.MatchString(text) {
		return text
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return text
	}
	var out strings.Builder
	write(&out, parsed)
	if simplest := out.String(); compiled.MatchString(simplest) {
		return simplest
	}
	return text
}

// write appends a shortest match, without regard to assertions, and stops at
// maxLength.
func write(out *strings.Builder, re *syntax.Regexp) {
	if out.Len() >= maxLength {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		out.WriteRune(member(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		write(out, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			write(out, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(out, sub)
		}
	}
}

// member picks from a class, given as pairs of bounds: a letter or a digit
// where there is one.
func member(class []rune) rune {
	for _, wanted := range "a1A" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return wanted
			}
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}
