package sources

import (
	"strconv"
	"strings"
	"time"
)

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
	if len(m.dates) == maxDates { // the first ones of a long list are its oldest
		m.dates = m.dates[1:]
	}
	if at.Equal(at.Truncate(24 * time.Hour)) {
		at = at.Add(morning)
	} else {
		at = at.Add(soonAfter)
	}
	m.dates = append(m.dates, at.UTC())
}
