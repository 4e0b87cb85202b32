package manifest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"
)

// writeNumber writes a JSON number: as ECMAScript does (RFC 8785, 3.2.2.3)
// when a double holds it, else with all its digits. Equal values have equal
// forms, different values different ones.
func writeNumber(out *bytes.Buffer, literal string) error {
	exact, err := parseDecimal(literal)
	if err != nil {
		return err
	}
	if double, err := strconv.ParseFloat(literal, 64); err == nil {
		text, err := jcs.NumberToJSON(double)
		if err != nil {
			return fmt.Errorf("%w: number: %w", ErrNotCanonical, err)
		}
		if again, err := parseDecimal(text); err == nil && again == exact {
			out.WriteString(text)
			return nil
		}
	}
	out.WriteString(exact.String())
	return nil
}

// decimal is the number 0.digits x 10^exponent with no zero at either end of
// digits; zero has no digits and the exponent 0.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// parseDecimal parses a JSON number. It fails only when the exponent does not
// fit an int32.
func parseDecimal(literal string) (decimal, error) {
	rest, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent := rest, int64(0)
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.ParseInt(rest[i+1:], 10, 32); err != nil {
			return decimal{}, fmt.Errorf("%w: exponent: %w", ErrNotCanonical, err)
		}
		mantissa = rest[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	exponent += int64(len(whole))
	trimmed := strings.TrimLeft(digits, "0")
	exponent -= int64(len(digits) - len(trimmed))
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return decimal{}, nil
	}
	return decimal{negative, trimmed, exponent}, nil
}

// String returns the number as an integer with an exponent, which is left out if
// zero.
func (d decimal) String() string {
	text := d.digits
	if d.negative {
		text = "-" + text
	}
	if e := d.exponent - int64(len(d.digits)); e != 0 {
		text += "e" + strconv.FormatInt(e, 10)
	}
	return text
}
