package rules

import (
	"net/netip"
	"strconv"
	"strings"
)

// legacyAddress parses an address as inet_aton(3) and C libraries do: one to four decimal, octal or
// hexadecimal numbers, the last of which fills the remaining bytes.
func legacyAddress(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, part := range parts {
		number, ok := legacyNumber(part)
		left := 8 * (4 - i)
		if i < len(parts)-1 {
			left = 8
		}
		if !ok || number >= 1<<left {
			return netip.Addr{}, false
		}
		all = all<<left | number
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}

func legacyNumber(text string) (uint64, bool) {
	base := 10
	switch digits, isHex := strings.CutPrefix(text, "0x"); {
	case isHex:
		text, base = digits, 16
	case len(text) > 1 && text[0] == '0':
		base = 8
	}
	if strings.ContainsAny(text, "+_") {
		return 0, false
	}
	number, err := strconv.ParseUint(text, base, 32)
	return number, err == nil
}
