package sources

import (
	"strconv"
	"strings"
)

// maxCount bounds the numbers that a counter may be compared with: others are sizes and times.
const maxCount = 10_000

// growing are the methods by which a list or a set gets longer.
var growing = setOf(`push append add set unshift insert`)

// counted returns the largest number that a program compares a counter with, or divides one by; 0 for none. The bounds of
// loops do not count.
func (t tokens) counted() (most int) {
	counters, constants := t.counters(), t.constants()
	count := func(of string, number token) {
		if constant, ok := constants[number.is]; ok && number.kind == name {
			number = constant
		}
		if n, err := strconv.Atoi(strings.ReplaceAll(number.is, "_", "")); err == nil && counters[of] && n <= maxCount {
			most = max(most, n)
		}
	}
	for i := range t {
		switch {
		case t[i] == token{mark, "%"}, compares[t[i].is] && t.at(i+2) != (token{mark, ";"}):
			count(t.counter(i-1), t.at(i+1))
		}
	}
	return most
}

// constants returns the numbers that names were assigned.
func (t tokens) constants() map[string]token {
	all := map[string]token{}
	for i := range t {
		if t[i] == (token{mark, "="}) && t.at(i-1).kind == name && t.at(i+1).kind == number {
			all[t[i-1].is] = t[i+1]
		}
	}
	return all
}

// counter returns the name of what an operand that ends at a token counts: "calls" for this.calls, calls.length and
// len(calls).
func (t tokens) counter(i int) string {
	switch t.at(i) {
	case token{mark, ")"}:
		return t.named(i - 1)
	case token{name, "length"}, token{name, "size"}:
		return t.named(i - 2)
	}
	return t.named(i)
}

// counters returns the names that a program adds to: "calls" for calls++, ++this.calls, state["calls"] += 1 and
// calls.push(x).
func (t tokens) counters() map[string]bool {
	all := map[string]bool{}
	plus := token{mark, "+"}
	for i := range t {
		switch next := t.at(i + 1); {
		case growing[t[i].is] && t.at(i-1) == token{mark, "."}:
			all[t.named(i-2)] = true
		case t[i] != plus:
		case next == token{mark, "="}, next == plus:
			all[t.named(i-1)] = true
		case t.at(i-1) == plus:
			for i++; t.at(i+1) == (token{mark, "."}); i += 2 {
			}
			all[t.at(i).is] = true
		}
	}
	delete(all, "")
	return all
}

// named returns the last name of the operand that ends at a token; "" for none.
func (t tokens) named(i int) string {
	if t.at(i) == (token{mark, "]"}) {
		i--
	}
	if last := t.at(i); last.kind == name || last.kind == text {
		return last.is
	}
	return ""
}
