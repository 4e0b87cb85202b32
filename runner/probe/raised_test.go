package probe

import (
	"strings"
	"testing"
)

// TestRaised: a log tells why a call failed, by the exception after each stack.
func TestRaised(t *testing.T) {
	for name, tc := range map[string]struct{ log, want string }{
		"no exception": {"INFO: GET /tasks 200\nERROR: it failed\n", ""},
		"Python": {"ERROR:mcp:Tool 'tasks' raised\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n    return T(**x)\n           ^^^^\n" +
			"pydantic_core.ValidationError: 1 validation error for T\nlimit\n  Field required [type=missing]\nINFO:mcp:next\n",
			"pydantic_core.ValidationError: 1 validation error for T\nlimit\n  Field required [type=missing]\n"},
		"a chain": {"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
			"Traceback (most recent call last):\n  File \"b.py\", line 1, in g\nValueError: no a\n",
			"KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: no a\n"},
		"framed":     {"╭── Traceback (most recent call last) ──╮\n│ a.py:1 in f │\n╰──────╯\nKeyError: 'limit'\n[10/11/26 10:00:00] INFO next\n", "KeyError: 'limit'\n"},
		"JavaScript": {"listening\nTypeError: Cannot read properties of undefined (reading 'id')\n    at f (a.js:1:2)\n    at g (a.js:3:4)\n", "TypeError: Cannot read properties of undefined (reading 'id')\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := raised(tc.log); got != tc.want {
				t.Errorf("raised %q, want %q", got, tc.want)
			}
		})
	}
	if got := raised("Traceback (most recent call last):\n" + strings.Repeat("x\n", maxRaised)); len(got) > 2*maxRaised {
		t.Errorf("%d bytes", len(got))
	}
}

// TestBlames: an exception about a service's answer says nothing of the arguments.
func TestBlames(t *testing.T) {
	for raised, want := range map[string]string{
		"": "failed", "ValueError: no such zone\n": "failed\nValueError: no such zone\n", "limit\n  Field required [type=missing, input_value={'a': 'note'}]\n": "failed",
	} {
		if got := (reply{text: "failed", raised: raised}).blames(); got != want {
			t.Errorf("%q blames %q", raised, got)
		}
	}
}

func FuzzRaised(f *testing.F) {
	f.Add("Traceback (most recent call last):\n  File\nKeyError: 'a'\n")
	f.Fuzz(func(t *testing.T, log string) {
		if got := raised(log); len(got) > len(log) {
			t.Errorf("raised %q of %q", got, log)
		}
	})
}
