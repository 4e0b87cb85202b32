package sources

import (
	"slices"
	"strings"
	"unicode"
)

// Comparison is a value that a program compares something with.
type Comparison struct {
	// Name is the name of what is compared: "mode" for args.mode, args["mode"] and args.get("mode"); "" for none.
	Name string
	// Value is the text or the number as the program writes it, or the regular expression.
	Value string
	// Number and Pattern say which of them it is.
	Number, Pattern bool
}

// Values are what a program may act on: values that it compares something with, and the words of its texts, names and
// data, which it may look something up by.
type Values struct {
	Compared []Comparison
	Words    []string
	// Moments are the times that it may act at, and Count is the largest number that it compares a counter with.
	Moments Moments
	Count   int
	known   map[string]bool
}

// Bounds on the words, by number, and on one, in bytes.
const maxWords, leastWord, mostWord = 4096, 3, 32

// AddProgram adds the values of a program in JavaScript or Python.
func (v *Values) AddProgram(program string, python bool) {
	tokens := scan(program, python)
	v.Moments.add(tokens, python)
	if len(v.Compared) < maxComparisons {
		v.Compared = append(v.Compared, comparisons(tokens, python)...)
	}
	v.Count = max(v.Count, tokens.counted())
	for i, t := range tokens {
		key := t.kind == name && i+1 < len(tokens) && tokens[i+1] == (token{mark, ":"})
		if t.kind == text || key {
			v.AddData(t.is)
		}
	}
}

// AddData adds the words of a text.
func (v *Values) AddData(data string) {
	if v.known == nil {
		v.known = map[string]bool{}
	}
	for word := range strings.FieldsFuncSeq(data, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }) {
		if len(v.Words) >= maxWords {
			return
		}
		if len(word) >= leastWord && len(word) <= mostWord && !v.known[word] {
			v.known[word] = true
			v.Words = append(v.Words, word)
			v.Moments.addText(word)
		}
	}
}

// maxComparisons bounds the comparisons of a text, by number.
const maxComparisons = 1024

// comparators are methods and functions that compare with an argument, or with their elements or their pattern.
var comparators = setOf(`includes startsWith endsWith indexOf lastIndexOf startswith endswith find rfind index count match fullmatch matchAll search findall test
	has contains equals some every any localeCompare removeprefix removesuffix`)

// patterned are those whose text is a regular expression.
var patterned = setOf(`match fullmatch matchAll search findall`)

// holders make a list, a set or a pattern of their argument.
var holders = setOf(`new Set frozenset set tuple list re compile RegExp Object freeze String raw normalize
	atob Buffer from base64 b64decode urlsafe_b64decode bytes fromhex unhexlify`)

// unchanging are methods that change only the form of a text.
var unchanging = setOf(`toLowerCase toUpperCase toLocaleLowerCase trim lower upper strip casefold toString str String Number parseInt int float normalize`)

func setOf(all string) map[string]bool {
	set := map[string]bool{}
	for _, each := range strings.Fields(all) {
		set[each] = true
	}
	return set
}

// comparisons returns the values that a program in JavaScript or Python compares something with, without duplicates, in
// the order of the program. Values by name, such as "MODES.includes(mode)", are those that were assigned before.
func comparisons(tokens []token, python bool) []Comparison {
	c := comparing{tokens: tokens, python: python, assigned: map[string][]Comparison{}, known: map[Comparison]bool{}}
	for i := range c.tokens {
		c.read(i)
	}
	return c.found
}

type comparing struct {
	tokens
	python bool
	// assigned has the values by the name that they were assigned to, and subject is the name in the last switch or match.
	assigned map[string][]Comparison
	subject  string
	known    map[Comparison]bool
	found    []Comparison
}

func (c *comparing) read(i int) {
	switch t := c.at(i); {
	case t.kind == mark && (t.is == "=" || t.is == ":"):
		c.assign(i)
	case t.kind == mark && compares[t.is]:
		c.compare(i-1, i+1)
	case t.kind == name:
		c.word(i, t.is)
	}
}

var compares = setOf(`=== !== == != < > <= >=`)

func (c *comparing) assign(i int) {
	if of := c.at(i - 1); of.kind == name && len(c.assigned) < maxComparisons {
		if values := c.values(i + 1); len(values) > 0 {
			c.assigned[of.is] = values
		}
	}
}

func (c *comparing) word(i int, word string) {
	switch {
	case word == "in" && c.at(i-1) == (token{name, "not"}):
		c.compare(i-2, i+1)
	case word == "in":
		c.compare(i-1, i+1)
	case word == "switch" || word == "match" && c.python:
		c.subject = c.nameAfter(i + 1)
	case word == "case":
		c.keep(c.subject, c.values(i+1), false)
	case comparators[word] && c.at(i+1) == (token{mark, "("}):
		c.method(i)
	}
}

// compare keeps the values on one side of an operator, with the name on the other: left is the last token of the one,
// right the first of the other.
func (c *comparing) compare(left, right int) {
	if values := c.values(right); len(values) > 0 {
		c.keep(c.nameBefore(left), values, false)
		return
	}
	c.keep(c.nameAfter(right), c.valuesBefore(left), false)
}

// method keeps the values of a call such as text.includes("x"), WORDS.some(...), /x/.test(text) and re.search("x", text).
func (c *comparing) method(i int) {
	if values := c.values(i + 2); len(values) > 0 {
		c.keep(c.nameBefore(i-2), values, patterned[c.at(i).is])
		return
	}
	if c.at(i-1).is == "." || c.at(i-1).is == "?." {
		c.keep(c.nameAfter(i+2), c.valuesBefore(i-2), false)
	}
}

func (c *comparing) keep(of string, values []Comparison, pattern bool) {
	for _, v := range values {
		v.Name, v.Pattern = of, v.Pattern || pattern && !v.Number
		if v.Value == "" || c.known[v] || len(c.found) >= maxComparisons {
			continue
		}
		c.known[v] = true
		c.found = append(c.found, v)
	}
}

// maxList bounds the tokens of a list, and maxChain those of a name with its members.
const maxList, maxChain = 256, 16

// values returns the values that an operand begins with: one, those of a list, or those assigned to a name.
func (c *comparing) values(i int) (found []Comparison) {
	for n := 0; n < maxChain && c.holds(c.at(i)); n++ {
		i++
	}
	list := c.at(i-1).kind == mark && strings.Contains("([{", c.at(i-1).is)
	for end := i + maxList; i < end; i += 2 {
		v, ok := value(c.at(i))
		if !ok {
			break
		}
		if found = append(found, v); !list || c.at(i+1) != (token{mark, ","}) {
			break
		}
	}
	if found == nil && c.at(i).kind == name {
		return c.assigned[c.lastName(i, len(c.tokens))]
	}
	return found
}

// holds reports whether a token may come before the values in an operand: a bracket, or a function that takes them.
func (c *comparing) holds(t token) bool {
	return t.kind == name && holders[t.is] || t.kind == mark && strings.Contains("([{.", t.is)
}

// valuesBefore returns the values that an operand ends with.
func (c *comparing) valuesBefore(i int) (found []Comparison) {
	if v, ok := value(c.at(i)); ok {
		return []Comparison{v}
	}
	if t := c.at(i); t.kind == mark && (t.is == "]" || t.is == ")" || t.is == "}") {
		for end := i - maxList; i > end; i -= 2 {
			v, ok := value(c.at(i - 1))
			if !ok {
				break
			}
			if found = append(found, v); c.at(i-2) != (token{mark, ","}) {
				break
			}
		}
		slices.Reverse(found)
		return found
	}
	return c.assigned[c.at(i).is]
}

func value(t token) (Comparison, bool) {
	switch t.kind {
	case text:
		return Comparison{Value: t.is}, true
	case number:
		return Comparison{Value: strings.ReplaceAll(t.is, "_", ""), Number: true}, true
	case pattern:
		return Comparison{Value: t.is, Pattern: true}, true
	}
	return Comparison{}, false
}

// nameAfter returns the name that an operand means: the last of its members, apart from methods that keep the text.
func (c *comparing) nameAfter(i int) string {
	for c.at(i) == (token{mark, "("}) {
		i++
	}
	return c.lastName(i, len(c.tokens))
}

// lastName returns the last name of the chain that begins at a token, before another: "mode" for args.mode.trim(),
// String(mode), args["mode"] and args.get("mode").
func (c *comparing) lastName(i, end int) (last string) {
	for end = min(end, i+maxChain); i < end; i++ {
		switch t := c.at(i); {
		case t.kind == name && (keywords[t.is] || last != "" && !opening[c.at(i-1).is]):
			return last
		case t.kind == name:
			if !unchanging[t.is] && t.is != "get" {
				last = t.is
			}
		case t.kind == text && c.at(i-1).kind == mark && (c.at(i-1).is == "[" || c.at(i-2).is == "get"):
			last = t.is
		case t.kind != mark || !joining[t.is]:
			return last
		}
	}
	return last
}

// joining are the marks within a chain, opening those of them that a name may follow. Keywords never name anything.
var (
	joining  = setOf(`. ?. ( ) [ ] !`)
	opening  = setOf(`. ?. ( [ !`)
	keywords = setOf(`and or not in is if else for while return const let var typeof await async of new this self`)
)

// nameBefore returns the name that the operand that ends at a token means.
func (c *comparing) nameBefore(i int) string {
	from := i
	for n := 0; n < maxChain; n, from = n+1, from-1 {
		t := c.at(from)
		inside := t.kind == text && (c.at(from-1).is == "[" || c.at(from-1).is == "(")
		if !inside && (t.kind != name || keywords[t.is]) && (t.kind != mark || !joining[t.is] || t.is == "!") {
			break
		}
		if t.kind == name && c.at(from-1).kind == name {
			from--
			break
		}
	}
	for from++; from <= i && c.at(from).kind == mark; from++ { // "if (args.mode"
	}
	if from > i {
		return ""
	}
	return c.lastName(from, i+1)
}
