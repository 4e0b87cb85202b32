package render_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// poison puts a text into every text of a report.
func poison(r report.Report, text string) report.Report {
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Field(i); f.CanSet() {
					walk(f)
				}
			}
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.String:
			v.SetString(v.String() + text)
		}
	}
	walk(reflect.ValueOf(&r).Elem())
	return r
}

// poisoned are reports that say text everywhere: with words that are known where the
// form depends on them, and without.
func poisoned(text string) []report.Report {
	all := []report.Report{poison(fail(), text), poison(drifted(), text), poison(inconclusive(), text)}
	known := poison(fail(), text)
	known.Verdict, known.FailOn, known.Baseline = report.VerdictFail, report.SeverityHigh, poison(drifted(), text).Baseline
	for i, f := range fail().Findings {
		known.Findings[i].Severity, known.Findings[i].Rule = f.Severity, f.Rule
	}
	return append(all, known)
}

// FuzzFormats: whatever a server says, every format stays what it is.
func FuzzFormats(f *testing.F) {
	for _, text := range []string{
		"", "a|b\\|c", "`", "``` \n# x", "<script>alert(1)</script>", "![i](http://evil.example/x.png)", "[a](http://evil.example)", "@octocat #12 GH-3 a/b#4 !5 ~bug www.evil.example",
		"\x00\x01\x1b[2J\ufffe\uffff\ud7ff\u2028", "]]>", "-->", "&#x1;", "[[ATTACHMENT|/etc/passwd]]", "{0} {{x}}", "\xff\xfe", "key: value\n- x\n? y", "\u202e\u200b", "null", "1e9", "~",
		"http://evil.example <a@evil.example> https://evil.example", "* x\n1. y\n    code", "$HOME ${x} %s %n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range poisoned(text) {
			for _, one := range render.Formats {
				if check := checks[one.Name]; check != nil {
					check(t, written(t, one.Name, r))
				}
			}
		}
	})
}

// checks hold a text of a format to what it has to be, whatever is in it.
var checks = map[string]func(*testing.T, []byte){
	"json": checkJSON, "yaml": checkYAML, "sarif": checkSARIF, "junit": checkXML, "badge": checkXML, "markdown": checkMarkdown,
}

func checkJSON(t *testing.T, text []byte) {
	if !json.Valid(text) {
		t.Errorf("no JSON: %q", text)
	}
}

func checkYAML(t *testing.T, text []byte) {
	var r report.Report
	if err := yaml.UnmarshalStrict(text, &r); err != nil {
		t.Errorf("%v in %q", err, text)
	}
}

func checkSARIF(t *testing.T, text []byte) {
	checkJSON(t, text)
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var walk func(string, any)
	walk = func(field string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				walk(k, inner)
			}
		case []any:
			for _, inner := range v {
				walk(field, inner)
			}
		case string:
			if field != "markdown" && (v == "" || strings.Contains(v, "](")) {
				t.Errorf("%s is %q", field, v)
			}
			if field != "markdown" && field != "text" { // which are our own where they have more lines
				checkVisible(t, []byte(v))
			}
		}
	}
	walk("", all)
}

func checkXML(t *testing.T, text []byte) {
	decoder := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		switch token.(type) {
		case xml.Comment, xml.Directive:
			t.Errorf("%T in %q", token, text)
		}
	}
	if strings.Contains(string(text), "[[") {
		t.Errorf("an attachment is in %q", text)
	}
	checkVisible(t, text)
}

func checkVisible(t *testing.T, text []byte) {
	if !utf8.Valid(text) {
		t.Errorf("%q is no UTF-8", text)
	}
	for _, r := range string(text) {
		if r != '\n' && !render.Visible(r) {
			t.Fatalf("%U is in %q", r, text)
		}
	}
}

var (
	ourLink = regexp.MustCompile(`\[MCPA-[A-Z]+-[0-9]{3}\]\(https://github\.com/mcpaudit/mcpaudit/blob/main/docs/rules\.md#mcpa-[a-z]+-[0-9]{3}\)`)
	// bare text may be in a line besides code spans and our links.
	bare = regexp.MustCompile(`^(#{2,3} |\|---\|---\|---\|---\||\| |( {2}){0,2}\* )?[A-Za-z0-9 ✅❌❓,.;:!?'"()*|-]*$`)
)

// checkMarkdown reads the spans of each line as CommonMark does: a run of backticks is
// closed by the next one of its length. What is left must be words.
func checkMarkdown(t *testing.T, text []byte) {
	checkVisible(t, text)
	if strings.Contains(string(text), "<") || len(text) > 65_536 {
		t.Errorf("%d bytes, with HTML: %q", len(text), text)
	}
	for l := range strings.Lines(string(text)) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, "| ") && strings.Count(l, "|") != 5 {
			t.Errorf("a row of the table is %q", l)
		}
		rest := ourLink.ReplaceAllString(withoutCode(t, l), "")
		if !bare.MatchString(rest) {
			t.Errorf("%q is Markdown: %q is left", l, rest)
		}
	}
}

func withoutCode(t *testing.T, l string) string {
	var out strings.Builder
	for l != "" {
		at := strings.IndexByte(l, '`')
		if at < 0 {
			out.WriteString(l)
			break
		}
		out.WriteString(l[:at])
		inner := strings.TrimLeft(l[at:], "`")
		length := len(l) - at - len(inner)
		end := closing(inner, length)
		if end < 0 {
			t.Fatalf("a code span is not closed in %q", l)
		}
		l = inner[end:]
	}
	return out.String()
}

// closing returns where the next run of that many backticks ends; -1 where there is none.
func closing(text string, length int) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		from := i
		for i < len(text) && text[i] == '`' {
			i++
		}
		if i-from == length {
			return i
		}
	}
	return -1
}

// TestMarkdownIsBounded: it is to fit a comment, whatever there is to say.
func TestMarkdownIsBounded(t *testing.T) {
	r := fail()
	for _, text := range []string{"x", "` ", "a 1 ", "\u202e", "|"} {
		long := strings.Repeat(text, 400)
		for i := range 256 {
			f := fail().Findings[0]
			f.Message, f.Capability.Name = strconv.Itoa(i)+long, long
			r.Findings = append(r.Findings, f)
		}
		got := written(t, "markdown", r)
		checkMarkdown(t, got)
		if !strings.Contains(string(got), "left out for want of room") {
			t.Errorf("%d bytes, and nothing is said of the rest", len(got))
		}
	}
}
