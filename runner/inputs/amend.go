package inputs

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// What an error says about the form of a value becomes a keyword of the schema of its place.

var (
	// patterned matches the regular expression that a value has to match.
	patterned = lazyregexp.New(`(?i)\b(?:match(?:es|ing)?|pattern|regexp?|regular expression)\b[^\n^]{0,40}?(\^[^\n]{1,256}\$)`)
	// askedFormat finds the formats that errors ask for, by their usual words.
	askedFormat = []struct {
		form   *lazyregexp.Regexp
		format string
	}{
		{lazyregexp.New(`(?i)\bISO[ -]?8601\b|\bRFC ?3339\b|\bdate-?time\b|\bvalid datetime\b|\bISO datetime\b|\btimestamp\b`), "date-time"},
		{lazyregexp.New(`(?i)YYYY-MM-DD\b|\bformat "?date\b|\b(?:valid|invalid|ISO) (?:ISO )?date\b|\b(?:valid|invalid) date\b`), "date"},
		{lazyregexp.New(`(?i)\b(?:valid|invalid|format)\W+UUID\b|\bbe a UUID\b`), "uuid"},
		{lazyregexp.New(`(?i)\b(?:valid|invalid|format)\W+e-?mail\b`), "email"},
		{lazyregexp.New(`(?i)\b(?:valid|invalid|format)\W+IPv?4? address\b|\bformat "ipv4"`), "ipv4"},
		{lazyregexp.New(`(?i)\b(?:valid|invalid|format)\W+(?:ISO )?duration\b`), "duration"},
	}
	// fewest and greatest match the number of items that a list has to have, or may have.
	fewest   = lazyregexp.New(`(?i)(?:\b(?:at least|minimum(?: of| is|:)?|no fewer than|fewer than)|>=|≥)\s*(\d{1,2}|two|three)\b`)
	greatest = lazyregexp.New(`(?i)(?:\b(?:at most|max(?:imum)?(?: of| is|:)?|no more than|more than|up to)|<=|≤)\s*(\d{1,2}|two|three)\b`)
	inWords  = map[string]string{"two": "2", "three": "3"}
	// toCome matches errors about a date in the past; laterThan and earlierThan what comes between two properties.
	toCome      = lazyregexp.New(`(?i)\b(?:in the (?:future|past)|future date|(?:after|later than) (?:now|today|the current)|already passed|has passed)\b`)
	laterThan   = lazyregexp.New(`(?i)\b(?:after|later than|greater than|larger than|follow)\b`)
	earlierThan = lazyregexp.New(`(?i)\b(?:before|earlier than|less than|smaller than|precede)\b`)
)

// amend learns what an error says about the form of one value.
func (l *lesson) amend(said string) {
	if match := patterned.FindStringSubmatch(said); match != nil {
		l.asks("pattern", match[1])
	}
	for _, each := range askedFormat {
		if each.form.MatchString(said) {
			l.asks("format", each.format)
			break
		}
	}
	l.later = l.later || toCome.MatchString(said)
}

// asksForm reports whether an error says what form a value has to have.
func asksForm(said string) bool {
	var l lesson
	l.amend(said)
	return l.amended != nil || l.later
}

func (l *lesson) asks(keyword string, value any) {
	l.amended = maps.Clone(l.amended) // lessons are compared with what they were
	if l.amended == nil {
		l.amended = map[string]any{}
	}
	l.amended[keyword] = value
}

// amended returns the schema of a place with what errors have added.
func (f *Form) amended(n *node) map[string]any {
	amended := f.taught(n).amended
	if amended == nil {
		return n.s
	}
	s := maps.Clone(n.s)
	maps.Copy(s, amended)
	return s
}

// readSizes learns how many items a list has to have, and which of two dates or numbers is the later.
func (f *Form) readSizes(text string) {
	for line := range strings.Lines(text) {
		for _, m := range f.objects {
			mentions := m.mentioned(line)
			for _, each := range mentions {
				if each.node.kind == "array" {
					f.size(each.node, line)
				}
			}
			for i := 1; i < len(mentions); i++ {
				between := line[mentions[i-1].at:mentions[i].at]
				switch {
				case laterThan.MatchString(between):
					f.delay(mentions[i-1].node)
				case earlierThan.MatchString(between):
					f.delay(mentions[i].node)
				}
			}
		}
	}
}

func (f *Form) size(n *node, line string) {
	for keyword, form := range map[string]*lazyregexp.Regexp{"minItems": fewest, "maxItems": greatest} {
		match := form.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		number := match[1]
		if digits, isWord := inWords[strings.ToLower(number)]; isWord {
			number = digits
		}
		if l := f.lesson(n.at); l != nil && l.amended[keyword] != json.Number(number) {
			l.asks(keyword, json.Number(number))
			f.repair = true
		}
	}
}

func (f *Form) delay(n *node) {
	if l := f.lesson(n.at); l != nil && !l.later && n.isLeaf() {
		l.later, f.repair = true, true
	}
}

// endWords are in the names of dates that come after another.
var endWords = []string{"end", "until", "to", "finish", "due", "deadline", "expires", "expiry", "expiration", "checkout", "return"}

// dated returns a date that is made up, or a later one where that is the end of something, or the tool asked for one.
func (f *Form) dated(n *node, made string) string {
	if !strings.HasPrefix(made, madeDay) {
		return made
	}
	day := madeDay
	if has(split(n.name), endWords) {
		day = "2026-01-16"
	}
	if f.taught(n).later {
		day = strings.Replace(day, "2026", "2036", 1)
	}
	return strings.Replace(made, madeDay, day, 1)
}

// madeDay is the day of dates that are made up.
const madeDay = "2026-01-15"
