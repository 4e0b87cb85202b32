package inputs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// quotes matches a few words in quotes. An apostrophe does not open a quotation, and code in backticks may hold other quotes.
var quotes = lazyregexp.New("(?:^|[\\s(\\[{,:|/=])(?:`([^`\\n]{1,64})`|['\"`‘“]([^'\"`’”\\n]{1,64})['\"`’”])")

var (
	// examples matches what follows "e.g." and its like.
	examples = lazyregexp.New(`(?i)(?:e\.g\.|for example|such as|like|default(?: is|s to)?)[,:]?\s+([\pL\pN][^\s,;)'"]{0,63})`)
	// inParentheses matches lists: "(low, medium, high)".
	inParentheses = lazyregexp.New(`\(([^()]{3,200})\)`)
	// enumerated matches what a description lists after a colon: "examples of a valid kind are: Pod, Service".
	enumerated = lazyregexp.New(`(?i)\b(?:(?:examples?|valid|allowed|supported|possible|accepted|permitted|available|common|known)\b[^:;.()\n]{0,48}|one of|options|choices|values)\s?:\s+([^()\n;]{1,256})`)
	// alternatives matches a list of words to choose from: "Column to sort by: name, city or id".
	alternatives = lazyregexp.New(`:\s+([\w-]{1,32}(?:,\s*[\w-]{1,32}){0,8},?\s+or\s+[\w-]{1,32})(?:$|[.;)])`)
	// oneOf matches the same without a colon: "One of awk, head, wc".
	oneOf = lazyregexp.New(`(?i)\b(?:one of|either)\s+([\w-]{1,32}(?:,\s*[\w-]{1,32}){0,12}(?:,?\s+(?:or|and)\s+[\w-]{1,32})?)(?:$|[.;),])`)
	// listed matches a list of choices: "Available: billing, auth".
	listed = lazyregexp.New(`(?i)\b(?:available|valid|allowed|supported|known|existing|accepted|permitted|possible|expected|must be|` +
		`should be|one of|options|choose|choices|try|did you mean|either)\b([^:=\[\n.]{0,40}[:=\[]|)\s*([^\n;]{1,400})`)
	// labelled matches what an error about something that is not there lists at its end: `No column "x". Columns: name, city`.
	labelled = lazyregexp.New(`[.;!?)]\s+(?:\pL+ ){0,2}\pL{3,24}:\s+([^\n;]{1,400})$`)
	// leading matches the words before the first choice, as in "must be either 4 or 5".
	leading = lazyregexp.New(`(?i)^(?:(?:set|equal) to )?(?:either|(?:exactly )?one of|any of)\b\s*(?:the following\b)?\s*`)
	// numeric matches errors that ask for a number in place of a text.
	numeric = lazyregexp.New(`(?i)\b(?:integer|number|numeric|digits?|numerical)\b`)
	// internal matches errors of Python and JavaScript that name parts of the program, and errors about arguments that
	// were not passed: both quote names, and no values.
	internal = lazyregexp.New(`'\w+' object (?:has no attribute '\w+'|is not [\w ]+)|of type '\w+' is not \w+|unexpected keyword argument '\w+'|` +
		`expected (?:str|string|bytes)\b[\w ,/-]* (?:got|received|not) '?\w+'?|can only concatenate \w+ \(not "\w+"\)|` +
		`\((?:reading|setting) '\w+'\)|\bThe "[\w.]+" (?:argument|property) must be (?:of|an instance of|one of) [^\n]{1,128}|` +
		`(?i:\bmissing (?:\w+ ){0,4}(?:argument|parameter|field|propert(?:y|ie)|key|option|input)s?:? ?)['"]\w+['"](?:,? (?:and )?['"]\w+['"])*|` +
		`['"]\w+['"] (?:is|are|was) (?:a )?(?:required|missing|not (?:set|provided|given))`)
	separators = lazyregexp.New(`\s*(?:,|\||/|;|\bor\b|\band\b)\s*`)
	oneWord    = lazyregexp.New(`^[\pL\pN][\pL\pN_.:@#-]{0,63}$`)
)

// quoted returns what is quoted in a text, up to maxOffers.
func quoted(text string) (all []string) {
	for _, match := range quotes.FindAllStringSubmatch(text, maxOffers) {
		all = append(all, match[1]+match[2])
	}
	return all
}

// maxOffers bounds the words that are taken from one text.
const maxOffers = 24

// Offered returns the words and texts that a description offers as values.
func Offered(description string) []string {
	description = head(description, maxLength)
	var found collection
	found.add(quoted(description)...)
	wholes, notation := wholeExamples(description)
	for _, at := range examples.FindAllStringSubmatchIndex(description, 4) {
		if word := strings.TrimRight(bracketed(description[at[2]:], at[3]-at[2]), "."); !notation || !slices.ContainsFunc(wholes, func(whole string) bool { return strings.HasPrefix(whole, word) }) {
			found.add(word)
		}
	}
	found.add(wholes...)
	for _, match := range enumerated.FindAllStringSubmatch(description, 4) {
		found.items(match[1])
	}
	for _, form := range []*lazyregexp.Regexp{alternatives, oneOf, inParentheses} {
		for _, match := range form.FindAllStringSubmatch(description, 4) {
			if !strings.Contains(match[1], "://") { // the slashes of a URL separate nothing
				found.all(match[1], 2)
			}
		}
	}
	return found.values[:min(len(found.values), 6)]
}

// ofJSON matches descriptions of texts that are JSON.
var ofJSON = lazyregexp.New(`(?i)\bJSON(?:\b|(?:array|object|string|text|list|map|dict|encoded|formatted|serialized))`)

// inJSON returns the JSON objects and lists in a text.
func inJSON(text string) (found []string) {
	rest := head(text, maxLength)
	for range maxOffers {
		at := strings.IndexAny(rest, "[{")
		if at < 0 || len(found) >= 4 {
			break
		}
		var document json.RawMessage
		var short bytes.Buffer
		decoder := json.NewDecoder(strings.NewReader(rest[at:]))
		if rest = rest[at+1:]; decoder.Decode(&document) != nil || json.Compact(&short, document) != nil || !strings.Contains(short.String(), `"`) {
			continue
		}
		rest = rest[decoder.InputOffset()-1:]
		found = append(found, short.String())
	}
	return found
}

// bracketed returns text[:end], extended until its brackets are closed: "2*(3+4)" where "2*(3+4" was found.
func bracketed(text string, end int) string {
	for end < len(text) && text[end] == ')' && end < maxBracketed && strings.Count(text[:end], "(") > strings.Count(text[:end], ")") {
		end++
		if more := strings.IndexAny(text[end:], " \t\n,;)'\""); more >= 0 {
			end += more
		} else {
			end = len(text)
		}
	}
	return text[:min(end, maxBracketed)]
}

// maxBracketed bounds such a word, in bytes.
const maxBracketed = 256

var (
	// asJSON matches descriptions of texts that are JSON as a whole, ofList of those that are a list.
	asJSON = lazyregexp.New(`(?i)\b(?:as|valid|raw) JSON(?:$|[ .,;:)])|\bJSON[ -]?(?:array|list|object|string|map|dict|encoded|formatted|serialized)\b`)
	ofList = lazyregexp.New(`(?i)\bJSON[ -]?(?:array|list)\b`)
)

// plainJSON returns a value for a text that must be JSON and has no example; "" for any other text.
func plainJSON(name, description string) string {
	named := split(name)
	switch {
	case ofList.MatchString(description):
		return aList
	case asJSON.MatchString(description), len(named) > 1 && named[len(named)-1] == "json":
		return anObject
	}
	return ""
}

// Texts that are JSON.
const anObject, aList = `{"name":"note"}`, `[{"name":"note"}]`

// named returns the values that the text of an error offers.
func named(text string) []string {
	text = internal.ReplaceAllString(head(text, 4*maxLength), "")
	var found collection
	for _, match := range listed.FindAllStringSubmatch(text, 4) {
		least := 2
		if match[1] != "" {
			least = 1
		}
		found.all(leading.ReplaceAllLiteralString(match[2], ""), least)
	}
	if match := labelled.FindStringSubmatch(text); match != nil && absent.MatchString(text) {
		found.wholes(match[1])
	}
	found.add(quoted(text)...)
	found.add(bullets(text)...)
	return found.values
}

// bullets returns the first words of the items of a list.
func bullets(text string) (items []string) {
	for _, match := range bullet.FindAllStringSubmatch(text, maxOffers) {
		items = append(items, strings.Trim(match[1], `.,:;'"*`+"`"))
	}
	return items
}

var bullet = lazyregexp.New(`(?m)^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+([^\s]{1,64})`)

// collection is a list of distinct words.
type collection struct{ values []string }

func (c *collection) add(words ...string) {
	for _, word := range words {
		word = strings.TrimSpace(strings.ToValidUTF8(word, ""))
		if strings.ContainsFunc(word, meaningful) && !slices.Contains(c.values, word) && len(c.values) < maxOffers && !noValue[strings.ToLower(word)] {
			c.values = append(c.values, word)
		}
	}
}

func meaningful(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '*' || r == '.'
}

// items adds the words between commas, like all, but whole: "apps/v1" is one.
func (c *collection) items(text string) {
	if end := sentenceEnd.FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	for each := range strings.SplitSeq(text, ",") {
		first, more, _ := strings.Cut(strings.TrimPrefix(strings.Trim(each, " \t.'\"`[]"), "or "), " ")
		if c.add(first); more != "" {
			return
		}
	}
}

// wholes adds what is between commas, up to the first that is no value.
func (c *collection) wholes(text string) {
	for each := range strings.SplitSeq(text, ", ") {
		each = strings.Trim(each, " \t.'\"`[]")
		if len(each) > maxBracketed || noValue[strings.ToLower(each)] {
			return
		}
		c.add(each)
	}
}

// all adds the words of a list with at least so many. It stops after the first item that is
// longer than a word, where a sentence begins.
func (c *collection) all(text string, least int) {
	var words []string
	for _, each := range separators.Split(text, maxOffers) {
		each = strings.Trim(each, " \t.'\"`[](){}?!‘’“”")
		if each == "" {
			continue
		}
		first, more, _ := strings.Cut(each, " ")
		if first = strings.TrimRight(first, ".'\"`)]"); oneWord.MatchString(first) {
			words = append(words, first)
		}
		if more != "" {
			break
		}
	}
	if len(words) >= least {
		c.add(words...)
	}
}

// noValue are words in the places of values that are not values.
var noValue = words("optional required default e.g e.g. i.e etc inclusive exclusive the a an string number undefined null none true false numeric boolean " +
	"object array integer received expected got invalid input value error argument arguments between not absolute relative unique positive " +
	"non-empty empty specified provided")

// head returns the beginning of a text.
func head(text string, most int) string { return report.Head(text, most) }
