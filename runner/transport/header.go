package transport

import (
	"encoding/base64"
	"strings"
)

// HeaderValue returns a text as the value of a header: as it is, or in Base64 between
// "=?base64?" and "?=" if it looks like that itself or is not allowed in a header
// (specification 2026-07-28, basic/transports/streamable-http, "value encoding").
func HeaderValue(text string) string {
	const before, after = "=?base64?", "?="
	plain := strings.TrimSpace(text) == text && !(strings.HasPrefix(text, before) && strings.HasSuffix(text, after))
	for _, b := range []byte(text) {
		plain = plain && b >= 0x20 && b <= 0x7e
	}
	if plain {
		return text
	}
	return before + base64.StdEncoding.EncodeToString([]byte(text)) + after
}
