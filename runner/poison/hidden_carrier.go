package poison

import (
	"cmp"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// known matches things that a model knows and no address needs.
const known = `(?:secrets?|context|conversations?|(?:chat[ _-]?)?history|chat|transcript|summary|(?:system[ _-]?)?prompt|memory|everything|credentials?|passwords?|api_?keys?|user[ _-]?data|data)`

var (
	// picture matches a picture whose address has a placeholder: {conversation}, <data>.
	picture = lazyregexp.New(`(?im)(?:!\[[^\]\n]*\]\(\s*|<img\s[^<>]*?src\s*=\s*["']?|^\s*\[[^\]\n]+\]:\s*)` +
		`(https?://[^\s)"']*(?:\{|<|\[|%7B|%3C)[\w %-]*` + known + `[\w %-]*(?:\}|>|\]|%7D|%3E)[^\s)"']*)`)
	// capitals matches an address with a placeholder in capitals, unclosed one that ends in an empty value, and
	// open such an address after the words that say what to put there.
	capitals = lazyregexp.New(`https?://[^\s)"'<>]*[=/]([A-Z][A-Z0-9_]{3,})\b`)
	unclosed = lazyregexp.New("(?i)https?://[^\\s\"'`)<>]+[?&][\\w-]+=(?:[\\s\"'`.)]|$)")
	open     = lazyregexp.New(`(?i)\b(?:append|add|attach|put|include|encode|concatenate|write)(?:ing)?\b[^.\n]{0,100}\b(?:` + talk + `)\b[^.\n]{0,60}?` +
		"(https?://[^\\s\"'`)<>]+[?&][\\w-]+=)(?:[\\s\"'`.)]|$)")
	// blank matches an address with a placeholder of several words, definite and ofItem words of such a placeholder.
	blank    = lazyregexp.New(`(https?://[^\s)"'<>{}]*)[{<]([^{}<>\n]{3,80})[}>]`)
	definite = lazyregexp.New(`(?i)\b(?:the|this|our|last|latest|whole|entire|all|so far)\b`)
	ofItem   = lazyregexp.New(`(?i)\b(?:ids?|uuid|name|number|slug|type|handle|key|e-?mail|address)\b`)
	filled   = lazyregexp.New(`(?i)\b(?:` + talk + `)\b`)
	// fills matches a word that says what to fill a placeholder with.
	fills = lazyregexp.New(`(?i)replac|substitut|fill|insert|encod|where|with`)
	word  = lazyregexp.New(`\w+`)
)

// talk matches the conversation, and other things that are nobody else's business.
const talk = `conversation|chat|transcript|history|system prompt|summary of (?:the|this|your|our)|everything|secrets?|(?:user|person|customer)(?:'s|s')?\s+(?:\w+\s+)?(?:message|messages|question|request|files?|data|words|input|name|email|address)`

// carrying finds an address into which data are put: of a picture, which a client loads
// unasked, or one that the text says how to fill.
func carrying(text string) (Hidden, bool) {
	if !strings.Contains(text, "://") {
		return Hidden{}, false
	}
	if m := picture.FindStringSubmatch(text); m != nil {
		return Hidden{WayMarkup, "a picture whose address takes data along", m[1]}, true
	}
	for _, m := range blank.FindAllStringSubmatch(text, maxRuns) {
		if definite.MatchString(m[2]) && filled.MatchString(m[2]) && !ofItem.MatchString(m[2]) {
			return Hidden{WayMarkup, "an address that takes data along", m[1] + "{" + m[2] + "}"}, true
		}
	}
	address := cmp.Or(leftOpen(text), toBeFilled(text))
	return Hidden{WayMarkup, "an address that takes data along", address}, address != ""
}

// before is how many bytes before an address may say what to append.
const before = 1 << 10

// leftOpen finds an address that ends in an empty value to be filled with what the model knows.
func leftOpen(text string) string {
	end := 0
	for _, at := range unclosed.FindAllStringIndex(text, -1) {
		if m := open.FindStringSubmatch(text[max(end, at[0]-before):at[1]]); m != nil {
			return m[1]
		}
		end = at[1]
	}
	return ""
}

// toBeFilled finds an address with a placeholder in capitals to be filled with what the model knows.
func toBeFilled(text string) string {
	addresses := map[string]string{} // by placeholder, in lower case
	var rest strings.Builder
	end := 0
	for _, m := range capitals.FindAllStringSubmatchIndex(text, -1) {
		if name := strings.ToLower(text[m[2]:m[3]]); addresses[name] == "" {
			addresses[name] = text[m[0]:m[1]]
		}
		rest.WriteString(text[end:m[0]] + " ")
		end = m[1]
	}
	if len(addresses) == 0 {
		return ""
	}
	rest.WriteString(text[end:])
	for passage := range strings.FieldsFuncSeq(rest.String(), func(r rune) bool { return r == '.' || r == '\n' }) {
		for _, at := range fills.FindAllStringIndex(passage, -1) {
			if address := filledBehind(passage[at[0]:], at[1]-at[0], addresses); address != "" {
				return address
			}
		}
	}
	return ""
}

// How far after such a word the placeholder may be, and after that its content, in bytes.
const (
	toPlace   = 120
	toContent = 140
)

// filledBehind returns the address whose placeholder a passage fills with what the model knows; "" if there is none.
// The passage begins with a word of fills.
func filledBehind(passage string, length int, addresses map[string]string) string {
	for _, at := range word.FindAllStringIndex(passage[length:min(len(passage), length+toPlace)], -1) {
		address := addresses[strings.ToLower(passage[length+at[0]:length+at[1]])]
		if address != "" && filled.MatchString(passage[:min(len(passage), length+at[1]+toContent)]) {
			return address
		}
	}
	return ""
}
