package poison

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Runs that may be an encoded text; shorter ones are too short to mean anything.
var (
	base64Run  = lazyregexp.New(`[A-Za-z0-9+/_-]{24,}={0,2}`)
	hexRun     = lazyregexp.New(`(?:[0-9a-fA-F]{2}[ :,]?){16,}`)
	escapeRun  = lazyregexp.New(`(?:\\x[0-9a-fA-F]{2}){12,}|(?:\\u00[0-9a-fA-F]{2}){12,}`)
	entityRun  = lazyregexp.New(`(?:&#(?:[0-9]{2,5}|[xX][0-9a-fA-F]{2,4});){12,}`)
	percentRun = lazyregexp.New(`(?:%[0-9a-fA-F]{2}){12,}`)
	base32Run  = lazyregexp.New(`[A-Z2-7]{32,}={0,6}`)
	binaryRun  = lazyregexp.New(`(?:[01]{8}\s?){12,}`)
	base85Run  = lazyregexp.New("[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{40,}")
	ascii85Run = lazyregexp.New(`(?:<~)?[!-uz]{40,}(?:~>)?`)
	codesRun   = lazyregexp.New(`(?:\d{2,3}[ ,]{1,2}){15,}\d{2,3}`)
)

// maxRuns, maxDecoded and maxLayers bound the decoded runs of a text, the bytes of each, and the number of nested
// encodings.
const (
	maxRuns    = 256
	maxDecoded = 16 << 10
	maxLayers  = 3
)

// encodings are the known encodings.
var encodings = []struct {
	name   string
	run    *lazyregexp.Regexp
	decode func(string) string
}{
	{"base64", base64Run, fromBase64},
	{"hexadecimal", hexRun, fromHex},
	{"escape sequences", escapeRun, fromEscapes},
	{"character references", entityRun, html.UnescapeString},
	{"percent-encoding", percentRun, fromPercent},
	{"base32", base32Run, fromBase32},
	{"binary digits", binaryRun, func(run string) string { return fromNumbers(strings.Fields(inBytes.ReplaceAllString(run, "$0 ")), 2) }},
	{"numbers of characters", codesRun, func(run string) string { return fromNumbers(strings.FieldsFunc(run, notDigit), 10) }},
	{"Morse code", morseRun, fromMorse},
	{"Braille", brailleRun, fromBraille},
	{"numbers of letters", ordinalRun, fromOrdinals},
	{"base85", base85Run, fromBase85},
	{"Ascii85", ascii85Run, fromASCII85},
}

// hiddenEncoded finds runs that decode to an instruction, or in a manifest to a command
// or an address. Images, keys, tokens and ids do not; documents and mails are often
// encoded as a whole, and count as they would in the clear.
func hiddenEncoded(text string, in Place) (Hidden, bool) {
	if h, ok := decoded(text, in, maxLayers); ok {
		return h, true
	}
	return disguised(text, in)
}

// decoded finds such a run in a text, or in the decoded text of a run.
func decoded(text string, in Place, layers int) (Hidden, bool) {
	for _, e := range encodings {
		for _, at := range e.run.FindAllStringIndex(text, maxRuns) {
			run := text[at[0]:at[1]]
			if isToken(text, at[0], run) {
				continue
			}
			says := strings.TrimSpace(strings.ReplaceAll(e.decode(run[:min(len(run), maxDecoded)]), "\x00", "")) // UTF-16
			switch {
			case !readable(says) || isData(says):
			case telling(says, in):
				return Hidden{Way: WayEncoded, How: e.name, Says: says}, true
			case layers > 1:
				if h, ok := decoded(says, in, layers-1); ok {
					return h, true
				}
			}
		}
	}
	return Hidden{}, false
}

// telling reports whether a decoded text gives instructions.
func telling(text string, in Place) bool {
	if in == Answered {
		return len(Inject(text)) > 0
	}
	return imperative.MatchString(text) || command.MatchString(text) || address.MatchString(text) || tells(text, in) != ""
}

var (
	// imperative matches what instructions have in common that examples do not: "hello
	// world" asks for nothing.
	imperative = lazyregexp.New(`(?i)\b(ignore|disregard|forget|override|bypass|send|forward|upload|transmit|exfiltrate|` +
		`read|call|invoke|execute|run|include|append|pass|reveal|do not|don't|never|always|must|instead of|before (?:you|using|answering|calling))\b` +
		`[\s\S]*\b(user|tool|tools|function|file|files|instructions?|prompt|secrets?|keys?|tokens?|passwords?|credentials|conversation|message|data|` +
		`assistant|model|environment|output|response|everything|contents?|url|email)\b`)
	command = lazyregexp.New(`(?i)(?:^|[\s;&|(])(?:curl|wget|nc|ncat|bash|sh|zsh|powershell|python3?|node|rm|cat|scp|ssh|chmod|base64|eval|sudo)\s+(?:-|/|~|https?:|\.|"|')`)
	address = lazyregexp.New(`(?i)^(?:https?|ftp|wss?)://[a-z0-9][a-z0-9.-]*\.[a-z]{2,}`)
)

// isToken reports whether a run is part of a JSON Web Token (RFC 7519) or of an
// image or font in a data URL (RFC 2397).
func isToken(text string, at int, run string) bool {
	if strings.HasPrefix(run, "eyJ") {
		return true // {" in base64url: a token, or JSON
	}
	before := text[max(0, at-64):at]
	if strings.HasSuffix(before, ".") && strings.Contains(text[max(0, at-4096):at], "eyJ") {
		return true
	}
	scheme := strings.LastIndex(before, "data:")
	return scheme >= 0 && strings.HasSuffix(before, ";base64,") && !strings.HasPrefix(before[scheme:], "data:text/")
}

// isData reports whether a decoded text is data for programs: JSON, XML, PEM, PDF.
func isData(text string) bool {
	starts := []string{`{"`, "{\n", `[{`, `["`, "<svg", "<?xml", "-----BEGIN", "%PDF"}
	return slices.ContainsFunc(starts, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

func fromBase64(run string) string {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(run, "="))
	run = run[:len(run)-len(run)%4+[]int{0, 0, 2, 3}[len(run)%4]] // one character over says nothing
	return orNothing(base64.RawStdEncoding.DecodeString(run))
}

// orNothing returns what a decoder returned; "" for an error.
func orNothing[T string | []byte](decoded T, err error) string {
	if err != nil {
		return ""
	}
	return string(decoded)
}

var unspaced = strings.NewReplacer(" ", "", ":", "", ",", "")

func fromHex(run string) string { return orNothing(hex.DecodeString(unspaced.Replace(run))) }

func fromEscapes(run string) string {
	return fromHex(strings.NewReplacer(`\x`, "", `\u00`, "").Replace(run))
}

func fromPercent(run string) string { return orNothing(url.PathUnescape(run)) }

func fromBase32(run string) string {
	run = strings.TrimRight(run, "=")
	return orNothing(base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(run[:len(run)-len(run)%8]))
}

var inBytes = lazyregexp.New(`[01]{8}`)

func notDigit(r rune) bool { return r < '0' || r > '9' }

// fromNumbers decodes character codes.
func fromNumbers(numbers []string, base int) string {
	var b strings.Builder
	for _, n := range numbers {
		code, err := strconv.ParseUint(n, base, 8)
		if err != nil {
			return ""
		}
		b.WriteByte(byte(code))
	}
	return b.String()
}
