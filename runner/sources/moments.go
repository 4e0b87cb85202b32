package sources

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Moments are the times at which a program may act in another way: the dates in its code, and what it compares the parts
// of a date with. The zero value has none.
type Moments struct {
	dates      []time.Time
	conditions []condition
}

// Bounds on the dates and the conditions that are kept, by number.
const maxDates, maxConditions = 256, 32

// farthest is the first moment that is too far ahead: soon after, 32-bit times overflow.
var farthest = time.Date(2038, time.January, 1, 0, 0, 0, 0, time.UTC)

// add adds the moments of a program in JavaScript or Python.
func (m *Moments) add(tokens tokens, python bool) {
	d := dating{tokens: tokens, python: python, defined: map[string]formula{}, found: m}
	for i := range tokens {
		d.read(i)
	}
}

// latest returns the latest date of the code after a time; false if there is none.
func (m Moments) latest(after time.Time) (latest time.Time, found bool) {
	for _, date := range m.dates {
		if date.After(after) && date.Before(farthest) && date.After(latest) {
			latest = date
		}
	}
	return latest, !latest.IsZero()
}

// Next returns a time after the latest date of the code at which its conditions hold, each unless it contradicts those
// before it; false if there are none, or if they hold at the usual time anyway.
func (m Moments) Next(after, usual time.Time) (at time.Time, found bool) {
	at, found = m.latest(after)
	if !found {
		at = after
	}
	if usual.After(at) && !slices.ContainsFunc(m.conditions, func(c condition) bool { return !c.holds(usual) }) {
		return time.Time{}, false
	}
	from, left := at, maxTrials
	var together []condition
	for _, c := range m.conditions {
		if then, ok := when(append(together, c), from, &left); ok {
			together, at, found = append(together, c), then, true
		}
	}
	return at, found
}

// maxTrials bounds how often conditions are computed: a second's work.
const maxTrials = 4_000_000

// when returns the first time from some time on at which all conditions hold; false if they do not, or not within what is
// left of the trials.
func when(all []condition, from time.Time, left *int) (at time.Time, ok bool) {
	coarse := func(c condition) bool { return !c.fine() }
	hold := func(at time.Time, of func(condition) bool) bool {
		return !slices.ContainsFunc(all, func(c condition) bool { *left--; return of(c) && !c.holds(at) })
	}
	for at = from; at.Before(farthest) && *left > 0; at = at.Truncate(time.Hour).Add(time.Hour) {
		if !hold(at, coarse) {
			continue
		}
		for end := at.Truncate(time.Hour).Add(time.Hour); at.Before(end); at = at.Add(time.Minute) {
			if hold(at, condition.fine) {
				return at, true
			}
		}
		at = at.Add(-time.Minute)
	}
	return time.Time{}, false
}

// condition compares two formulas.
type condition struct {
	left, right formula
	operator    string
}

func (c condition) fine() bool { return c.left.fine || c.right.fine }

func (c condition) holds(at time.Time) bool {
	order := cmp.Compare(c.left.at(at), c.right.at(at))
	switch c.operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "!=", "!==":
		return order != 0
	}
	return order == 0
}

// partsOf returns the parts of a date as programs count them.
var partsOf = map[string]func(time.Time) float64{
	"minute":       func(t time.Time) float64 { return float64(t.Minute()) },
	"hour":         func(t time.Time) float64 { return float64(t.Hour()) },
	"day":          func(t time.Time) float64 { return float64(t.Day()) },
	"month":        func(t time.Time) float64 { return float64(t.Month()) },
	"month from 0": func(t time.Time) float64 { return float64(t.Month() - 1) },
	"year":         func(t time.Time) float64 { return float64(t.Year()) },
	"day of year":  func(t time.Time) float64 { return float64(t.YearDay()) },
	"week":         func(t time.Time) float64 { _, week := t.ISOWeek(); return float64(week) },
	"from Sunday":  func(t time.Time) float64 { return float64(t.Weekday()) },
	"from Monday":  func(t time.Time) float64 { return float64((t.Weekday() + 6) % 7) },
	"Monday is 1":  func(t time.Time) float64 { return float64((t.Weekday()+6)%7 + 1) },
	"milliseconds": func(t time.Time) float64 { return float64(t.UnixMilli()) },
	"seconds":      func(t time.Time) float64 { return float64(t.Unix()) },
}

// partNames has the parts by the methods, attributes and formats of both languages (ECMA-262 21.4.4, Python's datetime,
// time and strftime).
var partNames = map[string]string{
	"getMinutes": "minute", "getUTCMinutes": "minute", "minute": "minute", "tm_min": "minute", "%M": "minute",
	"getHours": "hour", "getUTCHours": "hour", "hour": "hour", "tm_hour": "hour", "%H": "hour",
	"getDate": "day", "getUTCDate": "day", "day": "day", "tm_mday": "day", "%d": "day",
	"getMonth": "month from 0", "getUTCMonth": "month from 0", "month": "month", "tm_mon": "month", "%m": "month",
	"getFullYear": "year", "getUTCFullYear": "year", "year": "year", "tm_year": "year", "%Y": "year",
	"tm_yday": "day of year", "%j": "day of year", "%V": "week",
	"getDay": "from Sunday", "getUTCDay": "from Sunday", "%w": "from Sunday",
	"weekday": "from Monday", "tm_wday": "from Monday", "isoweekday": "Monday is 1", "%u": "Monday is 1",
	"now": "milliseconds", "getTime": "milliseconds", "time": "seconds", "timestamp": "seconds",
}

// dating finds the moments of a program.
type dating struct {
	tokens
	python bool
	// defined has what names were assigned, and subject what the last switch or match is about.
	defined map[string]formula
	subject formula
	found   *Moments
}

func (d *dating) read(i int) {
	switch t := d.at(i); {
	case t.kind == text:
		d.found.addText(t.is)
	case t.kind == number:
		d.dateNumber(t.is, d.at(i+1).is)
	case t == token{mark, "("}:
		d.dateCall(i)
	case t == token{mark, "="} && d.at(i-1).kind == name:
		if f, ok := d.after(i + 1); ok && len(d.defined) < maxComparisons {
			d.defined[d.at(i-1).is] = f
		}
	case t.kind == mark && compares[t.is]:
		d.compare(i, t.is, i+1)
	case t.kind == name:
		d.word(i, t.is)
	}
}

func (d *dating) word(i int, word string) {
	switch {
	case word == "in":
		d.compare(i, "==", d.first(i+1))
	case word == "switch" || word == "match" && d.python:
		d.subject, _ = d.after(i + 1)
	case word == "case" && d.subject.dated:
		if f, ok := d.after(i + 1); ok {
			d.add(condition{d.subject, f, "=="})
		}
	case word == "includes" && d.at(i-2).is == "]":
		d.includes(i)
	case comparators[word] && d.at(i+1) == (token{mark, "("}):
		d.named(d.at(i+2), "==")
	}
}

// includes adds the comparison of a formula with the first element of a list: "[0, 6].includes(d.getDay())".
func (d *dating) includes(i int) {
	f, ok := d.after(i + 2)
	for first := i - 2; first > i-maxChain && ok && f.dated; first-- {
		if d.at(first) != (token{mark, "["}) {
			continue
		}
		if one, ok := d.after(first + 1); ok {
			d.add(condition{f, one, "=="})
		}
		return
	}
}

// first returns where the first element of a list is, or the operand itself.
func (d *dating) first(i int) int {
	for t := d.at(i); t.is != "" && (t.kind == mark && strings.Contains("([{", t.is) || t.is == "range"); t = d.at(i) {
		i++
	}
	return i
}

// compare adds a comparison: of formulas, or of anything with a text that is part of a date.
func (d *dating) compare(i int, operator string, right int) {
	d.named(d.at(right), operator)
	if operator != "==" || d.at(right).kind != text {
		d.named(d.at(i-1), operator)
	}
	f, ok := d.after(d.begin(i))
	if !ok {
		return
	}
	if g, ok := d.after(right); ok && (f.dated || g.dated) {
		d.add(condition{f, g, operator})
	}
}

// after returns the formula that begins at a token.
func (d *dating) after(i int) (formula, bool) {
	r := reader{tokens: d.tokens, i: i, defined: d.defined}
	return r.sum()
}

// begin returns where the operand begins that ends before a token.
func (d *dating) begin(i int) int {
	depth := 0
	for first := i - 1; first > i-maxBrackets; first-- {
		switch t := d.at(first); {
		case t == token{mark, ")"}, t == token{mark, "]"}:
			depth++
		case t == token{mark, "("}, t == token{mark, "["}:
			if depth--; depth < 0 {
				return first + 1
			}
		case depth > 0:
		case t.kind == mark && !strings.Contains("+-*/%.?.!", t.is), t == token{}, t.kind == name && keywords[t.is] && t.is != "new":
			return first + 1
		}
	}
	return i
}

// named adds a comparison with a text that names parts of a date.
func (d *dating) named(with token, operator string) {
	if with.kind != text {
		return
	}
	for _, form := range partForms {
		if at, err := time.Parse(form.layout, with.is); err == nil {
			for _, part := range form.parts {
				d.add(condition{ofDate(part), constant(partsOf[part](at)), operator})
			}
			return
		}
	}
	for day := range time.Saturday + 1 {
		if name := day.String(); with.is == name || with.is == name[:3] {
			d.add(condition{ofDate("from Sunday"), constant(float64(day)), operator})
		}
	}
}

// partForms are the forms in which programs write some parts of a date.
var partForms = []struct {
	layout string
	parts  []string
}{
	{"01-02", []string{"month", "day"}}, {"01/02", []string{"month", "day"}}, {"0102", []string{"month", "day"}},
	{"15:04", []string{"hour", "minute"}}, {"15:", []string{"hour"}}, {"T15:", []string{"hour"}},
	{"Jan", []string{"month"}}, {"January", []string{"month"}}, {"-01-02", []string{"month", "day"}}, {"-01-", []string{"month"}},
}

func (d *dating) add(c condition) {
	if len(d.found.conditions) < maxConditions {
		d.found.conditions = append(d.found.conditions, c)
	}
}
