package sources

import (
	"cmp"
	"slices"
	"strconv"
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
const maxDates, maxConditions = 256, 12

// farthest bounds how far ahead a moment may be: beyond, 32-bit times overflow (2038).
const farthest = 10 * 365 * 24 * time.Hour

// Add adds the moments of a program in JavaScript or Python.
func (m *Moments) Add(program string, python bool) { m.add(scan(program, python), python) }

func (m *Moments) add(tokens tokens, python bool) {
	d := dating{tokens: tokens, python: python, aliases: map[string]string{}, constants: map[string]token{}, found: m}
	for i := range tokens {
		d.read(i)
	}
}

// Latest returns the latest date of the code after a time, when a working day is under way; false if there is none.
func (m Moments) Latest(after time.Time) (latest time.Time, found bool) {
	for _, date := range m.dates {
		if date.After(after) && date.Before(after.Add(farthest)) && date.After(latest) {
			latest = date
		}
	}
	return latest, !latest.IsZero()
}

// Next returns a time after the latest date of the code at which as many of its conditions hold as possible, the first
// of them first; false if it has neither.
func (m Moments) Next(after time.Time) (at time.Time, found bool) {
	at, found = m.Latest(after)
	if !found {
		at = after
	}
	from := at
	var together []condition
	for _, c := range m.conditions {
		if then, ok := when(append(together, c), from); ok {
			together, at, found = append(together, c), then, true
		}
	}
	return at, found
}

// when returns the first time from some time on at which all conditions hold, if they do at all.
func when(all []condition, from time.Time) (at time.Time, ok bool) {
	fine := func(c condition) bool { return c.part == "minute" }
	hold := func(at time.Time, of func(condition) bool) bool {
		return !slices.ContainsFunc(all, func(c condition) bool { return of(c) && !c.holds(at) })
	}
	for at = from; at.Before(from.Add(farthest)); at = at.Truncate(time.Hour).Add(time.Hour) {
		if !hold(at, func(c condition) bool { return !fine(c) }) {
			continue
		}
		for end := at.Truncate(time.Hour).Add(time.Hour); at.Before(end); at = at.Add(time.Minute) {
			if hold(at, fine) {
				return at, true
			}
		}
		at = at.Add(-time.Minute)
	}
	return time.Time{}, false
}

// condition compares a part of a date with a number.
type condition struct {
	part, operator string
	value          int
}

func (c condition) holds(at time.Time) bool {
	order := cmp.Compare(partsOf[c.part](at), c.value)
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
var partsOf = map[string]func(time.Time) int{
	"minute":            time.Time.Minute,
	"hour":              time.Time.Hour,
	"day":               time.Time.Day,
	"month":             func(t time.Time) int { return int(t.Month()) },
	"month from 0":      func(t time.Time) int { return int(t.Month()) - 1 },
	"year":              time.Time.Year,
	"day from Sunday":   func(t time.Time) int { return int(t.Weekday()) },
	"day from Monday":   func(t time.Time) int { return int(t.Weekday()+6) % 7 },
	"day from Monday 1": func(t time.Time) int { return int(t.Weekday()+6)%7 + 1 },
}

// partNames has the parts by the methods, attributes and formats of both languages (ECMA-262 21.4.4, Python's datetime,
// time and strftime).
var partNames = map[string]string{
	"getMinutes": "minute", "getUTCMinutes": "minute", "minute": "minute", "tm_min": "minute", "%M": "minute",
	"getHours": "hour", "getUTCHours": "hour", "hour": "hour", "tm_hour": "hour", "%H": "hour",
	"getDate": "day", "getUTCDate": "day", "day": "day", "tm_mday": "day", "%d": "day",
	"getMonth": "month from 0", "getUTCMonth": "month from 0", "month": "month", "tm_mon": "month", "%m": "month",
	"getFullYear": "year", "getUTCFullYear": "year", "year": "year", "tm_year": "year", "%Y": "year",
	"getDay": "day from Sunday", "getUTCDay": "day from Sunday", "%w": "day from Sunday",
	"weekday": "day from Monday", "tm_wday": "day from Monday", "isoweekday": "day from Monday 1", "%u": "day from Monday 1",
}

// dating finds the moments of a program.
type dating struct {
	tokens
	python bool
	// aliases has the part of a date that a name was assigned, constants the number or text, and subject is the part in the
	// last switch or match.
	aliases   map[string]string
	constants map[string]token
	subject   string
	found     *Moments
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
		d.assign(d.at(i-1).is, i+1)
	case t.kind == mark && compares[t.is]:
		d.compare(i, t.is)
	case t.kind == name:
		d.word(i, t.is)
	}
}

// assign keeps what a name means, within the bounds.
func (d *dating) assign(to string, i int) {
	if len(d.aliases)+len(d.constants) >= maxComparisons {
		return
	}
	if part := d.partAfter(i); part != "" {
		d.aliases[to] = part
	} else if _, ok := value(d.at(i)); ok {
		d.constants[to] = d.at(i)
	}
}

func (d *dating) word(i int, word string) {
	switch {
	case word == "in":
		d.condition(d.partBefore(i-1), "==", d.first(i+1))
	case word == "switch" || word == "match" && d.python:
		d.subject = d.partAfter(i + 1)
	case word == "case":
		d.condition(d.subject, "==", d.operand(i+1))
	case word == "includes" && d.at(i-2).is == "]":
		for first := i - 2; first > i-maxChain; first-- {
			if d.at(first).is == "[" {
				d.condition(d.partAfter(i+2), "==", d.at(first+1))
			}
		}
	case comparators[word] && d.at(i+1) == (token{mark, "("}):
		d.condition("", "==", d.at(i+2))
	}
}

// first returns the first element of a list, or the operand itself.
func (d *dating) first(i int) token {
	for t := d.at(i); t.is != "" && (t.kind == mark && strings.Contains("([{", t.is) || t.is == "range"); t = d.at(i) {
		i++
	}
	return d.operand(i)
}

// operand returns a token, or what the name that it is was assigned.
func (d *dating) operand(i int) token {
	t := d.at(i)
	if constant, ok := d.constants[t.is]; ok && t.kind == name {
		return constant
	}
	return t
}

// mirrored has the operators as they are when the sides are exchanged.
var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}

func (d *dating) compare(i int, operator string) {
	if _, ok := value(d.operand(i + 1)); ok {
		d.condition(d.partBefore(i-1), operator, d.operand(i+1))
		return
	}
	d.condition(d.partAfter(i+1), cmp.Or(mirrored[operator], operator), d.operand(i-1))
}

// condition adds a comparison of a part of a date with a number, or of anything with a text that is part of a date.
func (d *dating) condition(part, operator string, with token) {
	if n, err := strconv.Atoi(with.is); err == nil && part != "" && (with.kind == number || with.kind == text) {
		d.add(condition{part, operator, n})
		return
	}
	if with.kind != text {
		return
	}
	for _, form := range partForms {
		if at, err := time.Parse(form.layout, with.is); err == nil {
			for _, part := range form.parts {
				d.add(condition{part, operator, partsOf[part](at)})
			}
			return
		}
	}
	for day := range time.Saturday + 1 {
		if name := day.String(); with.is == name || with.is == name[:3] {
			d.add(condition{"day from Sunday", operator, int(day)})
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
	if len(d.found.conditions) < maxConditions && !slices.Contains(d.found.conditions, c) {
		d.found.conditions = append(d.found.conditions, c)
	}
}

// partBefore returns the part of a date that the operand that ends at a token means; "" for none.
func (d *dating) partBefore(i int) string {
	for n := 0; n < maxChain && d.inOperand(i); n, i = n+1, i-1 {
		if part := d.part(d.at(i)); part != "" {
			return part
		}
	}
	return ""
}

// partAfter returns the part of a date that the operand that begins at a token means; "" for none.
func (d *dating) partAfter(i int) (found string) {
	for n := 0; n < maxChain && d.inOperand(i); n, i = n+1, i+1 {
		before := d.at(i - 1)
		if n > 0 && d.at(i).kind == name && before.kind == name && before.is != "new" {
			break // the next statement
		}
		found = cmp.Or(d.part(d.at(i)), found)
	}
	return found
}

func (d *dating) part(t token) string {
	if t.kind == name && d.aliases[t.is] != "" {
		return d.aliases[t.is]
	}
	if t.kind == name || t.kind == text {
		return partNames[t.is]
	}
	return ""
}

// inOperand reports whether a token may be part of an operand.
func (d *dating) inOperand(i int) bool {
	switch t := d.at(i); t.kind {
	case mark:
		return joining[t.is]
	case name:
		return t.is == "new" || !keywords[t.is]
	case text:
		return true
	}
	return false
}

// dateForms are the forms of dates in programs.
var dateForms = []string{
	time.DateOnly, time.DateTime, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04Z", "2006-01", "2006-",
	"2006/01/02", "2006/1/2", "2006.01.02", "20060102", "01/02/2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006", "2 Jan 2006", "2 January 2006", time.RFC1123,
}

// longestDate bounds the text of a date, in bytes.
const longestDate = 40

// addText adds a text that is a date.
func (m *Moments) addText(is string) {
	if len(is) > longestDate || !strings.Contains(is, "20") {
		return
	}
	for _, form := range dateForms {
		if at, err := time.Parse(form, is); err == nil {
			m.date(at)
			return
		}
	}
}

// dateNumber adds a time in seconds or milliseconds since 1970, or a day such as 20270314. next is the token after the
// number, which may be its exponent.
func (d *dating) dateNumber(is, next string) {
	if exponent, ok := strings.CutPrefix(next, "e"); ok {
		if _, err := strconv.Atoi(exponent); err == nil {
			is += next
		}
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(is, "_", ""), 64)
	switch {
	case err != nil:
	case n >= 20200101 && n <= 20991231:
		d.found.addText(is)
	case n >= 1.6e9 && n < 4.1e9:
		d.found.date(time.Unix(int64(n), 0).UTC())
	case n >= 1.6e12 && n < 4.1e12:
		d.found.date(time.UnixMilli(int64(n)).UTC())
	}
}

// dateCalls has the functions that make a date of numbers, with the number of January.
var dateCalls = map[string]int{"UTC": 0, "Date": 0, "datetime": 1, "date": 1}

// dateCall adds the date of a call such as Date.UTC(2027, 2, 14).
func (d *dating) dateCall(i int) {
	january, ok := dateCalls[d.at(i-1).is]
	if !ok || d.at(i-1).kind != name {
		return
	}
	parts := []int{0, january, 1, 0, 0}
	for n := range parts {
		value, err := strconv.Atoi(d.at(i + 1 + 2*n).is)
		if err != nil {
			break
		}
		if parts[n] = value; d.at(i+2+2*n) != (token{mark, ","}) {
			break
		}
	}
	if parts[0] > 2000 && parts[0] < 2100 {
		d.found.date(time.Date(parts[0], time.Month(parts[1]-january+1), parts[2], parts[3], parts[4], 0, 0, time.UTC))
	}
}

// soonAfter is added to a date with a time of day, and morning to one without: a program acts from then on, or on that day.
const soonAfter, morning = 15 * time.Minute, 10*time.Hour + 15*time.Minute

func (m *Moments) date(at time.Time) {
	if len(m.dates) == maxDates {
		return
	}
	if at.Equal(at.Truncate(24 * time.Hour)) {
		at = at.Add(morning)
	} else {
		at = at.Add(soonAfter)
	}
	m.dates = append(m.dates, at.UTC())
}
