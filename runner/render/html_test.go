package render_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// pageOf is the page of a report, and what a browser makes of it.
func pageOf(t testing.TB, r report.Report) (string, *html.Node) {
	t.Helper()
	var out bytes.Buffer
	if err := render.HTML(&out, r); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), root
}

// elements returns the elements of a page without what marks hidden characters, each with its
// attributes as they come.
func elements(root *html.Node) []string {
	var all []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || isHidden(n) {
			continue
		}
		text := n.Data
		for _, a := range n.Attr {
			text += fmt.Sprintf(" %s=%q", a.Key, a.Val)
		}
		all = append(all, text)
	}
	return all
}

func isHidden(n *html.Node) bool { return n.Data == "span" && attribute(n, "class") == "hidden" }

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// words is the text of a node, its white space made one.
func words(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			b.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// filling sets every text of a report, and has one element in every list.
type filling struct {
	text func(path string) string
	yes  bool // every bool
	skip []reflect.Type
}

func (f filling) fill(v reflect.Value, path string) {
	switch {
	case slices.Contains(f.skip, v.Type()):
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)))
	case v.Kind() == reflect.String:
		v.SetString(f.text(path))
	case v.Kind() == reflect.Bool:
		v.SetBool(f.yes)
	case v.CanInt():
		v.SetInt(3)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i), path)
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."))
		}
	}
}

// filled is a report all of whose texts are as told, but for the verdict and the
// severities.
func filled(yes bool, text func(path string) string) report.Report {
	var r report.Report
	filling{text, yes, []reflect.Type{reflect.TypeFor[report.Verdict](), reflect.TypeFor[report.Severity]()}}.fill(reflect.ValueOf(&r).Elem(), "")
	r.Verdict = report.VerdictInconclusive
	for i := range r.Findings {
		r.Findings[i].Severity = report.SeverityHigh
	}
	return r
}

// FuzzHTML: a text of a report is text on the page, whatever is in it, and what
// cannot be seen of it is written out.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'--></style></title></pre></code><a href="javascript:x">`, "{{.Server}}", "&lt;b&gt;&#60;",
		"javascript:alert(1)", "</details><details open>", "\x00\x1b[2J\u202e\u200b\ufeff\xff", "a\nb\r\nc\u2028d", "<!--", "]]>", "url(https://example.com)", strings.Repeat("w", 500), " ",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	plain := map[bool][]string{}
	for _, yes := range []bool{false, true} {
		_, page := pageOf(f, filled(yes, func(string) string { return "plain" }))
		plain[yes] = elements(page)
	}
	f.Fuzz(func(t *testing.T, hostile string, yes bool) {
		if hostile == "" {
			return // an empty text leaves out what would have it
		}
		text, page := pageOf(t, filled(yes, func(string) string { return hostile }))
		if diff := cmp.Diff(plain[yes], elements(page)); diff != "" {
			t.Fatalf("%q makes another page:\n%s", hostile, diff)
		}
		for _, r := range text {
			if r != '\n' && !render.Visible(r) || r == unicode.ReplacementChar && !strings.ContainsRune(hostile, r) {
				t.Fatalf("%U is on the page", r)
			}
		}
	})
}

// unsaid are the texts that the page leaves to the JSON, and why.
var unsaid = map[string]string{
	"SchemaVersion": "for programs", "Probe.Calls": "not one of the choices", "Manifest.Digest": "is ManifestDigest", "Manifest.Envelope": "a part of that",
	"Manifest.Definition": "capabilities of the protocol", "Behavior.Entries": "the profile, in a form for comparing", "Words": "for comparing",
	"Definition": "the schemas, as long as they are", "Syscall": "in the detail of the evidence", "Attribution": "in the words about where it was seen",
	"DeclaredScope.Egress": "in the scope", "ReadPaths": "in the scope", "WritePaths": "in the scope", "Exec": "in the scope", "Listen": "in the scope",
	"Probe.Runs.StandIns": "in what was not observed", "Probe.Runs.Variables": "in what was not observed", "Server.Environment.Digest": "for comparing", "CodePaths": "for the gate", "Findings.Capability.Kind": "Tool and Server here",
}

// TestHTMLSaysAllOfTheReport: what is not on the page is known not to be.
func TestHTMLSaysAllOfTheReport(t *testing.T) {
	paths := map[string]bool{}
	name := func(path string) string { paths[path] = true; return strings.ReplaceAll(path, ".", "/") + "/" }
	said := ""
	for i, verdict := range []report.Verdict{report.VerdictFail, report.VerdictInconclusive} {
		r := filled(i == 0, name)
		r.Verdict, r.FailOn = verdict, report.SeverityHigh
		for i, kind := range []report.CapabilityKind{report.CapabilityTool, report.CapabilityServer} {
			r.Findings[i].Capability.Kind = kind
		}
		for _, d := range []*report.Drift{&r.Baseline.Manifest, &r.Drifts[0].Drift} {
			d.Changed = append(d.Changed, d.Changes[0].Capability)
		}
		_, page := pageOf(t, r)
		said += words(page)
		r.Server.Name, r.Server.URL = "", ""
		r.Captures[0].Protocol = "dns"
		_, page = pageOf(t, r)
		said += words(page)
	}
	if len(paths) < 100 {
		t.Fatalf("a report has %d texts", len(paths))
	}
	for path := range paths {
		field := path[strings.LastIndexByte(path, '.')+1:]
		quiet := unsaid[path] != "" || unsaid[field] != "" && strings.Contains(path, ".")
		if said := strings.Contains(said, name(path)) || strings.Contains(said, strings.ToLower(name(path))); said == quiet {
			t.Errorf("%s is on the page: %t", path, said)
		}
	}
}

// TestHTMLNeedsNothing: its policy allows its own style and nothing else, and it
// refers to nothing but itself.
func TestHTMLNeedsNothing(t *testing.T) {
	for name, r := range map[string]report.Report{"fail": fail(), "inconclusive": inconclusive(), "filled": filled(true, func(string) string { return "text" })} {
		t.Run(name, func(t *testing.T) {
			text, page := pageOf(t, r)
			ids, targets, style, policy := map[string]int{}, []string{}, "", ""
			for n := range page.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				if slices.Contains([]string{"script", "link", "img", "iframe", "object", "embed", "form", "base", "svg"}, n.Data) {
					t.Errorf("there is an element %s", n.Data)
				}
				for _, a := range n.Attr {
					switch {
					case a.Key == "id":
						ids[a.Val]++
					case a.Key == "href":
						targets = append(targets, a.Val)
					case a.Key == "src", a.Key == "style", strings.HasPrefix(a.Key, "on"):
						t.Errorf("there is an attribute %s", a.Key)
					case a.Key == "http-equiv":
						policy = attribute(n, "content")
					}
				}
				if n.Data == "style" {
					style += n.FirstChild.Data
				}
			}
			sum := sha256.Sum256([]byte(style))
			if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"; policy != want {
				t.Errorf("the policy is %s, want %s", policy, want)
			}
			for _, target := range targets {
				if id, inside := strings.CutPrefix(target, "#"); !inside || ids[id] != 1 {
					t.Errorf("%s leads nowhere on the page", target)
				}
			}
			for id, n := range ids {
				if n != 1 {
					t.Errorf("%d elements have the id %s", n, id)
				}
			}
			if strings.Contains(style, "url(") || strings.Contains(style, "@import") || strings.Contains(text, "ZgotmplZ") {
				t.Error("the style refers to something, or a text was refused")
			}
		})
	}
}

// TestHTMLPassesOnlyAPass: nothing else looks like one.
func TestHTMLPassesOnlyAPass(t *testing.T) {
	pass := report.Report{Verdict: report.VerdictPass, FailOn: report.SeverityHigh}
	cut, incomplete := pass, pass
	cut.Truncated = []report.Truncation{{Field: "findings", Dropped: 1}}
	incomplete.Incomplete = &report.Incomplete{Reason: report.ReasonTimeout}
	for name, tc := range map[string]struct {
		report report.Report
		class  string
	}{
		"pass": {pass, "verdict pass"}, "fail": {fail(), "verdict fail"}, "inconclusive": {inconclusive(), "verdict inconclusive"},
		"none": {report.Report{}, "verdict inconclusive"}, "small letters": {report.Report{Verdict: "pass"}, "verdict inconclusive"},
		"made up": {report.Report{Verdict: "Pass "}, "verdict inconclusive"}, "truncated": {cut, "verdict inconclusive"}, "incomplete": {incomplete, "verdict inconclusive"},
	} {
		t.Run(name, func(t *testing.T) {
			_, page := pageOf(t, tc.report)
			for n := range page.Descendants() {
				if n.Type != html.ElementNode || n.Data != "header" {
					continue
				}
				if got := attribute(n, "class"); got != tc.class {
					t.Errorf("the verdict looks like %q, want %q", got, tc.class)
				}
				text := words(n)
				if open := tc.class == "verdict inconclusive"; strings.Contains(text, "This is not a pass") != open || strings.Contains(text, "✓") != (tc.class == "verdict pass") {
					t.Errorf("it says %s", text)
				}
			}
		})
	}
}

// TestHTMLIsBounded: a report full of what has to be written out makes no page that
// a browser chokes on.
func TestHTMLIsBounded(t *testing.T) {
	r := filled(false, func(string) string { return strings.Repeat("\x00a", 512) })
	r.Findings = slices.Repeat(r.Findings[:1], report.MaxFindings)
	r.Profile.Capabilities = slices.Repeat(r.Profile.Capabilities[:1], 32)
	r.Cap()
	text, _ := pageOf(t, r)
	if most := 24 * report.MaxBytes; len(text) > most {
		t.Errorf("the page has %d bytes, more than %d", len(text), most)
	}
}
