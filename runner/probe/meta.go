package probe

import (
	"math/rand/v2"
	"strings"
)

// Meta is a member of `_meta` that a client adds to its calls, as the specification lets it.
type Meta struct {
	Key string
	// Form of the value: x stands for a hexadecimal digit, w for a letter or a digit.
	Form string
	// Stays: the value is the same in all calls of a session.
	Stays bool
}

// value draws a value.
func (m Meta) value(seed int64, call int) string {
	if m.Stays {
		call = 0
	}
	draw := rand.New(rand.NewPCG(uint64(seed)+1, uint64(call))) //nolint:gosec // it is no secret
	return strings.Map(func(r rune) rune {
		switch r {
		case 'x':
			return rune("0123456789abcdef"[draw.IntN(16)])
		case 'w':
			return rune("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[draw.IntN(62)])
		}
		return r
	}, m.Form)
}
