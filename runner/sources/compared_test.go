package sources

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestComparisons(t *testing.T) {
	for name, tc := range map[string]struct {
		program string
		python  bool
		want    []Comparison
	}{
		"equal":                  {`if (args.mode === "maintenance") run();`, false, []Comparison{{Name: "mode", Value: "maintenance"}}},
		"not equal, turned":      {`if ('night' != mode.toLowerCase()) run()`, false, []Comparison{{Name: "mode", Value: "night"}}},
		"a member by its name":   {`if (request.params.arguments["target-host"] == "db7") {}`, false, []Comparison{{Name: "target-host", Value: "db7"}}},
		"a switch":               {"switch (args.kind) { case 'full': case \"part\": break }", false, []Comparison{{Name: "kind", Value: "full"}, {Name: "kind", Value: "part"}}},
		"a method":               {`return text.trim().includes("wire transfer") && query?.startsWith('~~')`, false, []Comparison{{Name: "text", Value: "wire transfer"}, {Name: "query", Value: "~~"}}},
		"a list":                 {`if (["alpha", "beta"].includes(args.tag)) {}`, false, []Comparison{{Name: "tag", Value: "alpha"}, {Name: "tag", Value: "beta"}}},
		"a named list":           {`const WORDS = new Set(["iban", "swift"]); if (WORDS.has(word)) {}`, false, []Comparison{{Name: "word", Value: "iban"}, {Name: "word", Value: "swift"}}},
		"some of a named list":   {`const W = ["one"]; if (W.some((w) => note.includes(w))) {}`, false, []Comparison{{Name: "w", Value: "one"}}},
		"a named text":           {`const MAGIC = "xyzzy"; if (note.title === MAGIC) {}`, false, []Comparison{{Name: "title", Value: "xyzzy"}}},
		"an expression":          {`if (/\bpass(word|phrase)\b/i.test(note)) {} else x = a / b / c`, false, []Comparison{{Name: "note", Value: `(?i)\bpass(word|phrase)\b`, Pattern: true}}},
		"a number":               {`if (args.amount > 10_000 || count === 13) {}`, false, []Comparison{{Name: "amount", Value: "10000", Number: true}, {Name: "count", Value: "13", Number: true}}},
		"escapes":                {`if (x.key === "\x61\u0062\u{63}") {}`, false, []Comparison{{Name: "key", Value: "abc"}}},
		"added texts":            {`if (x.key === "ma" + 'int' + "ain") {}`, false, []Comparison{{Name: "key", Value: "maintain"}}},
		"an encoded text":        {`const k = atob("c2VjcmV0"); if (x.key === k) {}`, false, []Comparison{{Name: "key", Value: "secret"}}},
		"comments":               {"// if (a === \"b\")\n/* x.includes('y') */ const s = `a ${b} === 'c'`", false, nil},
		"Python: equal":          {"if arguments.get('mode') == 'maintenance':  # x == 'y'\n  run()", true, []Comparison{{Name: "mode", Value: "maintenance"}}},
		"Python: in a text":      {`if "wire transfer" in text.lower(): run()`, true, []Comparison{{Name: "text", Value: "wire transfer"}}},
		"Python: in a list":      {`if mode not in ("a", 'b'): raise`, true, []Comparison{{Name: "mode", Value: "a"}, {Name: "mode", Value: "b"}}},
		"Python: any of a list":  {"WORDS = ['iban', 'swift']\nif any(w in text for w in WORDS): run()", true, []Comparison{{Name: "w", Value: "iban"}, {Name: "w", Value: "swift"}}},
		"Python: an expression":  {`if re.search(r"\bIBAN\b", text): run()`, true, []Comparison{{Name: "re", Value: `\bIBAN\b`, Pattern: true}}},
		"Python: match":          {"match args.kind:\n  case 'full':\n    run()", true, []Comparison{{Name: "kind", Value: "full"}}},
		"Python: prefix":         {`if name.startswith(("adm-", b"root")): run()`, true, []Comparison{{Name: "name", Value: "adm-"}, {Name: "name", Value: "root"}}},
		"Python: an f-string":    {`if x == f"a{b}": run()`, true, nil},
		"Python: not a list":     {`{"a": x == "b", "c": y}`, true, []Comparison{{Name: "x", Value: "b"}}},
		"Python: adjacent texts": {`if key == ("main" "tain"): run()`, true, []Comparison{{Name: "key", Value: "maintain"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, comparisons(scan(tc.program, tc.python), tc.python)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestValues(t *testing.T) {
	var v Values
	v.AddProgram(`const actions = { upper: (w) => w, "sync-all": run }; if (kind === "x") actions[kind]('to do');`, false)
	v.AddData("kdbx\t3\nledger\t12")
	want := []string{"upper", "sync-all", "kdbx", "ledger"}
	if diff := cmp.Diff(want, v.Words); diff != "" || len(v.Compared) != 1 {
		t.Errorf("compared %+v, words (-want +got)\n%s", v.Compared, diff)
	}
}

func FuzzComparisons(f *testing.F) {
	f.Add(`if (a["b"].c(/[/]x/i) === 'd\x6') switch (x) { case "y": }`, false)
	f.Add("if '''a''' in b or re.match(rb'x', y) == c.get('d'):", true)
	f.Add(`const h = new Date(2031, 4).getHours(); if (h >= 2 || [0, 6].includes(d.getDay())) switch (h) { case "2029-03-01": }`, false)
	f.Fuzz(func(t *testing.T, program string, python bool) {
		var v Values
		v.AddProgram(program, python)
		for _, c := range v.Compared {
			if c.Value == "" || len(c.Value) > len(program)+len("(?i)") {
				t.Errorf("a value of %d bytes: %q", len(c.Value), c.Value)
			}
		}
		now := time.Now()
		if at, found := v.Moments.Next(now, now); found && (at.Before(now) || at.After(farthest)) {
			t.Errorf("the moment %v", at)
		}
	})
}
