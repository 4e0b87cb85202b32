package credential

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// label matches a word that calls the following text a credential, in JSON, YAML, INI or a sentence.
var label = lazyregexp.New(`(?i)(?:^|[^a-z0-9])((?:[a-z0-9]+[_. -]?){0,3}?)(pass(?:word|wd|phrase|code)|pwd|secret|api[_ -]?key|(?:access|secret|private|master|signing|encryption|account)[_ -]?key|token|credentials?|authorization)` +
	`\\?["'*` + "`" + `]{0,3}\s{0,4}(?::=|=>|[:=]|\sis\s)\s{0,4}(?:bearer\s+|basic\s+)?(\\?["'` + "`" + `]?)([^\s"'` + "`" + `\\,;<>(){}\[\]]{8,200})`)

// cursors are words before "token" that make it no credential.
var cursors = lazyregexp.New(`(?i)(?:page|next|prev|previous|sync|continuation|cursor|progress|cancel|cancellation|csrf|xsrf|\bmax|\bmin|\btotal|prompt|input|output|device|public|publishable|site|idempotency)[_. -]?$`)

// illustrates are signs of an example.
var illustrates = lazyregexp.New(`(?i)\b(?:e\.g\.|for example|example|examples|sample|such as|like this|format)\b[^\n]{0,60}$`)

// labelled finds values that are called a password, a key or a token, and look like one.
func labelled(text string) (all []Credential) {
	fenced := fences(text)
	for _, at := range label.FindAllStringSubmatchIndex(text, 4*maxFound) {
		prefix, name := text[at[2]:at[3]], strings.ToLower(text[at[4]:at[5]])
		value := strings.TrimRight(text[at[8]:at[9]], ".!?:")
		if fenced(at[8]) || cursors.MatchString(prefix) || illustrates.MatchString(text[max(0, at[4]-80):at[4]]) {
			continue
		}
		looks := key
		what := "a key or token"
		if strings.HasPrefix(name, "pass") || name == "pwd" || name == "secret" || strings.HasPrefix(name, "credential") {
			looks, what = memorable, "a password"
		}
		if !placeholder(value) && looks(value) {
			all = append(all, Credential{Kind: Labelled, What: what, Value: value, at: at[8]})
		}
	}
	return all
}

// fences returns a function that reports whether a position is in a code block of Markdown, where documentation shows
// what callers write.
func fences(text string) func(at int) bool {
	if !strings.Contains(text, "```") {
		return func(int) bool { return false }
	}
	return func(at int) bool { return strings.Count(text[:at], "```")%2 == 1 }
}

// placeholders matches what documentation writes instead of a secret.
var placeholders = lazyregexp.New(`(?i)example|your|change[_-]?(?:me|it|this)|placeholder|dummy|fake|redacted|masked|hidden|insert|replace|todo|sample|mcpaudit|localhost|` +
	`(?:^|[_-])(?:test|demo|foo|bar|mock)|(?:abc|123)[_-]?(?:def|456|xyz)|abcd|x{4}|0{6}|1{6}|\*\*|\.\.\.|…|` +
	`^(?:my|the|db|user|root|admin|new|old|some|a)?[_-]?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|credentials?|postgres|mysql|guest|none|null|undefined|true|false)[_-]?[0-9]{0,3}$`)

// reference matches a value that only names where the secret is stored.
var reference = lazyregexp.New(`^[$%{<\[(]|^(?:env|os|process|config|settings|secrets?|vault|file|self|this|args|params|req|request|ctx)[.:/\[]|^(?:/|\./|~/|https?:|arn:|ref:)|[({]|^[A-Z]+(?:_[A-Z]+)+$`)

// placeholder reports whether a value is a placeholder or truncated.
func placeholder(value string) bool {
	return placeholders.MatchString(value) || reference.MatchString(value)
}

var (
	uuid   = lazyregexp.New(`(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$`)
	digest = lazyregexp.New(`(?i)^(?:sha\d+[:-].*|\$2[aby]\$.*|\$argon2.*|[0-9a-f]{7,8}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$`)
	dated  = lazyregexp.New(`^\d{4}-\d\d-\d\d|^\d+(?:[.:]\d+)*$|^v?\d+\.\d+\.\d+`)
)

// key reports whether a value looks random as keys are: letters and digits mixed, and no digest, id, date or encoded
// text.
func key(value string) bool {
	letters, figures, _ := classes(value)
	return len(value) >= 16 && letters >= 4 && figures >= 3 && drawn(value) && !identifier(value) && !encoded(value)
}

// memorable reports whether a value looks like a password that somebody chose: letters with digits or punctuation.
func memorable(value string) bool {
	letters, figures, signs := classes(value)
	mixed := signs > 0 || figures > 1 || figures > 0 && strings.ToLower(value) != value
	return len(value) >= 8 && letters >= 3 && figures+signs > 0 && mixed && entropy(value) >= 2.5 && !identifier(value) && printable(value)
}

func identifier(value string) bool {
	return uuid.MatchString(value) || digest.MatchString(value) || dated.MatchString(value)
}

// encoded reports whether a value is text in base64, as cursors are.
func encoded(value string) bool {
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return err == nil && printable(string(text))
}

func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) })
}

// drawn reports whether the characters of a value vary like random ones.
func drawn(value string) bool { return entropy(value) >= 3 }

// entropy returns the Shannon entropy in bits per character.
func entropy(value string) (bits float64) {
	count := map[rune]float64{}
	total := 0.0
	for _, r := range value {
		count[r]++
		total++
	}
	for _, n := range count {
		bits -= n / total * math.Log2(n/total)
	}
	return bits
}

func classes(value string) (letters, figures, signs int) {
	for _, r := range value {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			figures++
		case !strings.ContainsRune("-_./+=", r):
			signs++
		}
	}
	return letters, figures, signs
}
