package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
)

func TestCanonical(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"keys are sorted":               {`{"b": 1, "a": [true, null, {}]}`, `{"a":[true,null,{}],"b":1}`},
		"keys sort by UTF-16":           {`{"\ufb33":1,"\ud83d\ude00":2}`, "{\"\U0001f600\":2,\"\ufb33\":1}"},
		"escapes":                       {`"\u0041\/\u000b\n\u20ac<&>"`, `"A/\u000b\n€<&>"`},
		"number forms are one":          {`[1.0, 1e0, 10e-1, -0, 0.0]`, `[1,1,1,0,0]`},
		"RFC 8785 numbers":              {`[333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]`, `[333333333.3333333,1e+30,4.5,0.002,1e-27]`},
		"a longer number keeps digits":  {`333333333.33333329`, `33333333333333329e-8`},
		"int64 keeps its digits":        {`9223372036854775807`, `9223372036854775807`},
		"neighbours stay different":     {`[9007199254740992, 9007199254740993]`, `[9007199254740992,9007199254740993]`},
		"beyond a double":               {`[1e400, -12.5e400]`, `[1e400,-125e399]`},
		"below a double":                {`1e-400`, `1e-400`},
		"a key may look like an escape": {`{"\\ud800":1}`, `{"\\ud800":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Canonical([]byte(tc.in))
			if err != nil || string(got) != tc.want {
				t.Errorf("Canonical(%s) = %s, %v; want %s", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":            ``,
		"two values":         `1 2`,
		"a key twice":        `{"a":1,"b":2,"a":1}`,
		"a key twice, hid":   `{"a":1,"\u0061":2}`,
		"half a pair":        `"\ud800"`,
		"half a pair, low":   `"x\udc00"`,
		"two first halves":   `"\ud800\ud800"`,
		"half a pair in key": `{"\ud800":1}`,
		"invalid UTF-8":      "\"\xff\"",
		"too deep":           strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
		"far too deep":       strings.Repeat("[", 1<<20),
		"too large":          `"` + strings.Repeat("a", maxBytes) + `"`,
		"huge exponent":      `1e99999999999`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Canonical([]byte(in)); !errors.Is(err, ErrNotCanonical) {
				t.Errorf("Canonical = %.40s, %v; want ErrNotCanonical", got, err)
			}
		})
	}
}

// A wide object must not take quadratic time: this has 200 000 keys.
func TestCanonicalOfManyKeys(t *testing.T) {
	var in bytes.Buffer
	in.WriteByte('{')
	for i := range 200_000 {
		if i > 0 {
			in.WriteByte(',')
		}
		fmt.Fprintf(&in, `"%d":0`, i)
	}
	in.WriteByte('}')
	if _, err := Canonical(in.Bytes()); err != nil {
		t.Fatal(err)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,2.50,{"x":null}],"a":"\u00e9\ud83d\ude00"}`, `{"a":1,"a":2}`, `"\ud800"`,
		`9007199254740993`, `1e400`, `-0.0`, `[[[[]]]]`, `{"":{"":""}}`, "\"\xff\"", `{"a"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Canonical(in)
		if err != nil {
			if !errors.Is(err, ErrNotCanonical) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("Canonical(%q) = %q, which is not JSON", in, got)
		}
		again, err := Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not idempotent: %q, then %q, %v", got, again, err)
		}
		// Without numbers that lose digits the library agrees.
		if want, err := jcs.Transform(got); err == nil && !bytes.ContainsAny(got, "0123456789") && !bytes.Equal(want, got) {
			t.Fatalf("jcs says %q, we say %q", want, got)
		}
	})
}
