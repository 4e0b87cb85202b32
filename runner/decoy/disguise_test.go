package decoy_test

import (
	"encoding/ascii85"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// eachByte makes a disguise that changes each byte, by its place.
func eachByte(change func(c byte, i int) byte) func(string) string {
	return func(s string) string {
		out := []byte(s)
		for i := range out {
			out[i] = change(out[i], i)
		}
		return string(out)
	}
}

// listed makes a disguise of a word for each byte.
func listed(format, between string) func(string) string {
	return func(s string) string {
		var words []string
		for _, c := range []byte(s) {
			words = append(words, fmt.Sprintf(format, c))
		}
		return strings.Join(words, between)
	}
}

func xor(key string) func(string) string {
	return eachByte(func(c byte, i int) byte { return c ^ key[i%len(key)] })
}

// padded returns a key as long as the secret, and the secret XORed with it.
func padded(s string) string {
	pad := make([]byte, len(s))
	random := rand.New(rand.NewPCG(7, 7))
	for i := range pad {
		pad[i] = byte(random.Uint32())
	}
	return string(pad) + xor(string(pad))(s)
}

// disguises are ways to hide a secret with a key.
var disguises = map[string]func(string) string{
	"one byte": xor("\x5a"), "two bytes": xor("k3"), "a word": xor("squirrel"), "sixteen bytes": xor("0123456789abcdef"),
	"not":     eachByte(func(c byte, _ int) byte { return ^c }),
	"added":   eachByte(func(c byte, _ int) byte { return c + 7 }),
	"nibbles": eachByte(func(c byte, _ int) byte { return c<<4 | c>>4 }),
	"bits":    eachByte(func(c byte, _ int) byte { return c<<3 | c>>5 }),
	"rot13":   eachByte(rot13),
	"rot47":   eachByte(func(c byte, _ int) byte { return '!' + (c-'!'+47)%94 }),
	"backwards, not": func(s string) string {
		return encodings["reversed"](eachByte(func(c byte, _ int) byte { return ^c })(s))
	},
	"own base64": func(s string) string {
		return base64.NewEncoding("zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA9876543210#$").EncodeToString([]byte(s))
	},
	"UTF-16":  wide,
	"padded":  eachWith("~#"),
	"numbers": listed("%d", ","), "numbers in hex": listed("%02x", ":"), "escapes": listed(`\x%02x`, ""), "bits in words": listed("%08b", " "),
	"numbers joined": listed("%03d", ""), "bits joined": listed("%08b", ""), "code points": listed("U+%04X", " "),
	"emoji":          func(s string) string { return strings.Map(func(r rune) rune { return 0x1F300 + r }, s) },
	"XOR in base64":  func(s string) string { return std(xor("\x17")(s)) },
	"XOR in hex":     func(s string) string { return hex.EncodeToString([]byte(xor("key")(s))) },
	"XOR in numbers": func(s string) string { return listed("%d", ", ")(xor("\x2a")(s)) },
	"base64, rot13":  func(s string) string { return eachByte(rot13)(std(s)) },
	"hex, rot13": func(s string) string {
		return eachByte(func(c byte, _ int) byte { return c + 16 })(hex.EncodeToString([]byte(s)))
	},
	"a pad along":   padded,
	"a pad, base64": func(s string) string { return std(padded(s)) },
	"a chain": func(s string) string {
		out := []byte("k")
		for i, c := range []byte(s) {
			out = append(out, c^out[i])
		}
		return string(out)
	},
	"compressed": func(s string) string { return compress(xor("\x5a")(s)) },
	"Ascii85":    ascii,
	"RFC 1924": func(s string) string {
		const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
		return eachByte(func(c byte, _ int) byte { return digits[c-'!'] })(ascii(s))
	},
}

func ascii(s string) string {
	out := make([]byte, ascii85.MaxEncodedLen(len(s)))
	return string(out[:ascii85.Encode(out, []byte(s))])
}

func rot13(c byte, _ int) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a' + (c-'a'+13)%26
	case c >= 'A' && c <= 'Z':
		return 'A' + (c-'A'+13)%26
	}
	return c
}

func wide(s string) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// eachWith puts noise after each byte.
func eachWith(noise string) func(string) string {
	return func(s string) string {
		var out []byte
		for i, c := range []byte(s) {
			out = append(out, c, noise[i%len(noise)])
		}
		return string(out)
	}
}

// TestDisguises: a secret of 40 characters is found whatever the key is.
func TestDisguises(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	for _, v := range set.Vars {
		if v.Name != "AWS_SECRET_ACCESS_KEY" && v.Name != "CLOUDFLARE_API_TOKEN" && v.Name != "SECRET_KEY" {
			continue
		}
		for name, hide := range disguises {
			for shift := range 4 {
				found, unsearched := m.Find([]byte("id=7;" + hide("xxxx"[:shift]+v.Value) + "\n"))
				if len(found) != 1 || found[0].Decoy.Name != v.Name || unsearched > 0 {
					t.Errorf("%s as %s, shifted by %d: %+v", v.Name, name, shift, found)
				}
			}
		}
	}
}

// TestNoDisguise: other texts, random ones among them, are not taken for secrets.
func TestNoDisguise(t *testing.T) {
	m := decoy.NewMatcher(newSet(t, "/home/server", false))
	noise := make([]byte, 2<<20)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(noise)
	for name, data := range map[string][]byte{
		"random": noise, "base64": []byte(std(string(noise))), "hex": []byte(hex.EncodeToString(noise)),
		"numbers": []byte(listed("%d", ",")(string(noise[:200_000]))), "zeros": make([]byte, 1<<20),
		"text": []byte(strings.Repeat("The quick brown fox jumps over the lazy dog, and 12 other things that it has to do today.\n", 1000)),
	} {
		s := m.Stream()
		if found := append(s.Write(data), s.Flush()...); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
