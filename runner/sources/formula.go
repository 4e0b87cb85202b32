package sources

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// formula is a number that a program computes from the date. fine is set if it depends on minutes, and dated if it
// depends on the date at all. size counts its operands.
type formula struct {
	at          func(time.Time) float64
	fine, dated bool
	size        int
}

// maxOperands bounds a formula: a hostile program may add a name to itself again and again.
const maxOperands = 32

// constant returns a number as a formula.
func constant(n float64) formula { return formula{at: func(time.Time) float64 { return n }, size: 1} }

// then returns a formula that is computed from two others.
func (f formula) then(g formula, compute func(a, b float64) float64) formula {
	return formula{
		at:   func(t time.Time) float64 { return compute(f.at(t), g.at(t)) },
		fine: f.fine || g.fine, dated: f.dated || g.dated, size: f.size + g.size,
	}
}

// reader reads formulas. defined are those that names were assigned.
type reader struct {
	tokens
	i       int
	defined map[string]formula
	depth   int
}

// maxFormula bounds how deep a formula is nested.
const maxFormula = 32

// sum reads terms that are added; false if there is no formula.
func (r *reader) sum() (f formula, ok bool) {
	f, ok = r.joined(r.product, map[string]func(a, b float64) float64{
		"+": func(a, b float64) float64 { return a + b }, "-": func(a, b float64) float64 { return a - b },
	})
	return f, ok && f.size <= maxOperands
}

// product reads factors. A division of whole numbers is written with two marks in Python.
func (r *reader) product() (formula, bool) {
	return r.joined(r.factor, map[string]func(a, b float64) float64{
		"*": func(a, b float64) float64 { return a * b }, "/": func(a, b float64) float64 { return a / b },
		"//": func(a, b float64) float64 { return math.Floor(a / b) }, "%": math.Mod,
	})
}

// joined reads operands with operators between them.
func (r *reader) joined(operand func() (formula, bool), operators map[string]func(a, b float64) float64) (formula, bool) {
	f, ok := operand()
	for ok && r.at(r.i).kind == mark {
		operator := r.at(r.i).is
		if operator == "/" && r.at(r.i+1) == (token{mark, "/"}) {
			operator = "//"
		}
		compute := operators[operator]
		if compute == nil || r.at(r.i+1) == (token{mark, "="}) || operator == "+" && r.at(r.i+1) == (token{mark, "+"}) {
			break
		}
		r.i += len(operator)
		var g formula
		if g, ok = operand(); ok {
			f = f.then(g, compute)
		}
	}
	return f, ok
}

func (r *reader) factor() (f formula, ok bool) {
	if r.depth++; r.depth > maxFormula {
		return f, false
	}
	defer func() { r.depth-- }()
	switch t := r.at(r.i); {
	case t.kind == number:
		return r.number()
	case t == token{mark, "-"} || t == token{mark, "+"}:
		r.i++
		if f, ok = r.factor(); t.is == "-" && ok {
			f = constant(0).then(f, func(_, b float64) float64 { return -b })
		}
		return f, ok
	case t == token{mark, "("}:
		r.i++
		f, ok = r.sum()
		return f, ok && r.passes(")")
	case t == token{name, "new"}:
		r.i++
		return r.factor()
	case t.kind == name && !keywords[t.is]:
		return r.chain()
	}
	return f, false
}

// passes reads a mark; false if another token follows.
func (r *reader) passes(is string) bool {
	if r.at(r.i) != (token{mark, is}) {
		return false
	}
	r.i++
	return true
}

func (r *reader) number() (formula, bool) {
	is := strings.ReplaceAll(r.at(r.i).is, "_", "")
	r.i++
	if next := r.at(r.i); next.kind == name && len(next.is) > 1 && next.is[0] == 'e' {
		is += next.is
		r.i++
	}
	n, err := strconv.ParseFloat(is, 64)
	return constant(n), err == nil
}

// rounding are functions that are applied to a formula.
var rounding = map[string]func(float64) float64{
	"ceil": math.Ceil, "floor": math.Floor, "trunc": math.Trunc, "round": math.Round, "int": math.Trunc, "parseInt": math.Trunc, "abs": math.Abs,
	"Number": func(n float64) float64 { return n }, "float": func(n float64) float64 { return n }, "str": func(n float64) float64 { return n }, "String": func(n float64) float64 { return n },
}

// chain reads a name with its members and calls: a part of the date, a function of a formula, or what a name was assigned.
func (r *reader) chain() (f formula, ok bool) {
	for n := 0; n < maxChain; n++ {
		word, next := r.at(r.i).is, r.at(r.i+1)
		r.i++
		part, isPart := partNames[word]
		defined, isDefined := r.defined[word]
		switch round := rounding[word]; {
		case round != nil && next == token{mark, "("}:
			r.i++
			if f, ok = r.sum(); ok {
				f = f.then(constant(0), func(a, _ float64) float64 { return round(a) })
			}
			r.skip()
		case n == 0 && isDefined && next != token{mark, "."}:
			f, ok = defined, true
		case isPart:
			f, ok = ofDate(part), true
		}
		if part := r.groups(); part != "" {
			f, ok = ofDate(part), true
		}
		if !r.passes(".") && !r.passes("?.") || r.at(r.i).kind != name {
			break
		}
	}
	return f, ok
}

// ofDate returns a part of the date as a formula.
func ofDate(part string) formula {
	of := partsOf[part]
	return formula{at: func(t time.Time) float64 { return of(t) }, fine: part == "minute", dated: true, size: 1}
}

// groups reads what is in brackets after a name, and returns the part of the date that a format within names.
func (r *reader) groups() (part string) {
	for n := 0; n < maxChain && (r.at(r.i) == (token{mark, "("}) || r.at(r.i) == (token{mark, "["})); n++ {
		r.i++
		part = cmp.Or(r.skip(), part)
	}
	return part
}

// maxBrackets bounds what is skipped in brackets, in tokens.
const maxBrackets = 64

// skip reads up to the bracket that closes the one before, and returns the part of the date that a format within names.
func (r *reader) skip() (part string) {
	depth := 1
	for end := r.i + maxBrackets; r.i < end && depth > 0; r.i++ {
		switch t := r.at(r.i); {
		case t.kind == text && partNames[t.is] != "":
			part = partNames[t.is]
		case t == token{mark, "("}, t == token{mark, "["}:
			depth++
		case t == token{mark, ")"}, t == token{mark, "]"}:
			depth--
		}
	}
	return part
}
