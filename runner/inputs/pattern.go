package inputs

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// The largest pattern that is read, in bytes, and in states when its repetitions are written out: 1,024 bytes can stand for
// millions of states.
const (
	maxPattern = 1 << 10
	maxStates  = 8 << 10
)

// parse reads a pattern, and returns how many states it has; false: it is too large, or none of Go's.
func parse(pattern string) (parsed *syntax.Regexp, states int, ok bool) {
	if len(pattern) > maxPattern {
		return nil, 0, false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, false
	}
	states = statesOf(parsed)
	return parsed, states, states <= maxStates
}

// statesOf counts the states of a pattern, up to one more than are read.
func statesOf(re *syntax.Regexp) int {
	states := 1
	if re.Op == syntax.OpLiteral {
		states = len(re.Rune)
	}
	for _, sub := range re.Sub {
		states += statesOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		states *= max(re.Min+1, re.Max)
	}
	return min(states, maxStates+1)
}

// compile reads a pattern if there is allowance for it: a schema may have thousands, and each is compared many times.
func (c *checker) compile(pattern string) (*regexp.Regexp, bool) {
	if !c.spend(len(pattern) * 16) {
		return nil, false
	}
	_, states, ok := parse(pattern)
	if !ok || !c.spend(states) {
		return nil, false
	}
	compiled, err := regexp.Compile(pattern)
	return compiled, err == nil
}

// fitPattern returns text when it matches the pattern, else the simplest text
// that does, else (a pattern that Go cannot parse, or with assertions) text.
func fitPattern(text, pattern string) string {
	parsed, _, ok := parse(pattern)
	if !ok {
		return text
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil || compiled.MatchString(text) {
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
