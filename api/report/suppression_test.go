package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var today = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func finding(rule string, severity Severity, message string) Finding {
	return Finding{Rule: rule, Severity: severity, Message: message, Capability: Capability{Kind: CapabilityTool, Name: "format_note"}}
}

func suppression(match string) Suppression {
	return Suppression{Rule: "MCPA-EGRESS-001", Match: match, Reason: "telemetry, see SEC-12", Until: At(today.Add(time.Hour))}
}

func TestSuppressionMatches(t *testing.T) {
	host := "Tool format_note tried to connect to api.example.com:443 (1.2.3.4:443, tcp); nothing"
	file := "Tool format_note read /home/audit/.ssh/id_rsa (an SSH key), which nothing speaks of"
	for name, tc := range map[string]struct {
		match, message string
		want           bool
	}{
		"a host":               {"api.example.com", host, true},
		"with its port":        {"api.example.com:443", host, true},
		"another port":         {"api.example.com:44", host, false},
		"of a longer host":     {"example.com", host, false},
		"below a host":         {"api.example.com", "looked up the name api.example.com.evil.test (at 10.0.0.1:53)", false},
		"and then the host":    {"api.example.com", "connect to api.example.com.evil.test and to api.example.com", true},
		"a hyphen before":      {"example.com", "connect to evil-example.com:443", false},
		"the end of sentence":  {"api.example.com", "looked up the name api.example.com.", true},
		"of a URL":             {"example.com", "GET https://example.com/x", false},
		"a URL":                {"https://example.com/", "GET https://example.com/x", true},
		"an address":           {"1.2.3.4", host, true},
		"a longer address":     {"1.2.3.4", "connect to 1.2.3.45:443", false},
		"a file":               {"/home/audit/.ssh/id_rsa", file, true},
		"a directory":          {"/home/audit/.ssh/", file, true},
		"no more than a part":  {"/home/audit/.ssh", file, false},
		"the end of a path":    {"/.ssh/id_rsa", file, false},
		"another root":         {"/audit/.ssh/", "read /home/audit/.ssh/id_rsa", false},
		"a word of ours":       {"an SSH key", file, true},
		"half a word":          {"an SSH ke", file, false},
		"a capability":         {"tool format_note", file, true},
		"a tool's name":        {"format_note", "", true},
		"half a tool's name":   {"format", "", false},
		"a word in Greek":      {"λόγος", "the λόγος itself", true},
		"within one":           {"λόγο", "the λόγος itself", false},
		"everything":           {"*", "", true},
		"nothing":              {"", host, false},
		"longer than the text": {host + host, host, false},
	} {
		if got := suppression(tc.match).matches(finding("MCPA-EGRESS-001", SeverityHigh, tc.message)); got != tc.want {
			t.Errorf("%s: %q in %q: %v", name, tc.match, tc.message, got)
		}
	}
	all := suppression("*")
	if all.matches(finding("MCPA-EGRESS-001", SeverityCritical, "")) || all.matches(finding("MCPA-EGRESS-001", "Apocalyptic", "")) {
		t.Error(`"*" suppresses what is Critical`)
	}
	if named := suppression("x.test"); !named.matches(finding("MCPA-EGRESS-001", SeverityCritical, "to x.test:1")) {
		t.Error("what is Critical cannot be suppressed by its own name")
	}
	if all.matches(finding("MCPA-EGRESS-002", SeverityHigh, "")) {
		t.Error("another rule's finding is suppressed")
	}
}

// A server that says, is called, or gives to a program what is accepted does not have
// another finding accepted.
func TestSuppressionOfOwnWords(t *testing.T) {
	quoting := "Tool t tried to connect to evil.test:443; its description says \"No network access\" api.example.com \"at all\"."
	exec := finding("MCPA-EXEC-001", SeverityMedium, "Tool t started /bin/sh (sh -c : /usr/bin/git ); nothing in its declaration speaks of running programs.")
	named := finding("MCPA-EGRESS-001", SeverityMedium, "Tool api.example.com tried to connect to evil.test:443.")
	named.Capability.Name = "api.example.com"
	behind := finding("MCPA-EGRESS-001", SeverityMedium, "In the background, after tool api.example.com, the server tried to connect to evil.test:443.")
	for name, tc := range map[string]struct {
		finding Finding
		match   string
		want    bool
	}{
		"quoted":              {finding("MCPA-EGRESS-001", SeverityHigh, quoting), "api.example.com", false},
		"done, and quoted":    {finding("MCPA-EGRESS-001", SeverityHigh, quoting), "evil.test", true},
		"an argument":         {exec, "/usr/bin/git", false},
		"the program":         {exec, "/bin/sh", true},
		"a tool's name":       {named, "api.example.com", false},
		"the tool":            {named, "tool api.example.com", true},
		"another tool's name": {behind, "api.example.com", false},
		"in the background":   {behind, "evil.test", true},
	} {
		s := suppression(tc.match)
		s.Rule = tc.finding.Rule
		if got := s.matches(tc.finding); got != tc.want {
			t.Errorf("%s: %q in %q: %v", name, tc.match, tc.finding.Message, got)
		}
	}
}

// The same findings are judged with one suppression as it runs and as it ends.
func TestSuppress(t *testing.T) {
	found := []Finding{
		finding("MCPA-EGRESS-001", SeverityHigh, "to a.test:443"),
		finding("MCPA-EGRESS-001", SeverityHigh, "to b.test:443"),
		finding("MCPA-FILE-001", SeverityLow, "read /x"),
	}
	found[2].Suppressed = &Suppressed{Reason: "it says so itself", Until: At(today.Add(time.Hour))}
	sooner, later, idle := suppression("a.test"), suppression("a.test"), suppression("c.test")
	later.Until = At(today.Add(2 * time.Hour))
	by := []Suppression{sooner, later, idle}
	rests := Assurance{Level: AssurancePartial, Tools: "2/3"}
	at := func(now time.Time, message string, suppressed int, verdict Verdict) {
		t.Helper()
		marked, unused := Suppress(found, by, now)
		if diff := cmp.Diff([]Suppression{idle}, unused); diff != "" {
			t.Error(diff)
		}
		if s := marked[0].Suppressed; s == nil || !s.Until.Equal(later.Until.Time) || s.Reason != later.Reason {
			t.Errorf("suppressed by %+v, not by the one that ends last", s)
		}
		if marked[1].Suppressed != nil || marked[2].Suppressed != nil {
			t.Errorf("suppressed by nobody: %+v", marked[1:])
		}
		if counts := Count(marked); counts.Suppressed != suppressed || counts.Total() != 3 {
			t.Errorf("counts %+v", counts)
		}
		got, _, said := Judge(marked[:1], Demand{FailOn: SeverityHigh}, Incomplete{}, rests)
		if got != verdict || said != message {
			t.Errorf("%s, %q", got, said)
		}
		if all, _, _ := Judge(marked, Demand{FailOn: SeverityHigh}, Incomplete{}, rests); all != VerdictFail {
			t.Errorf("with another finding: %s", all)
		}
	}
	at(today, "Pass, of 2 of 3 tools: no findings; suppressed: 1 High", 1, VerdictPass)
	at(later.Until.Add(-time.Second), "Pass, of 2 of 3 tools: no findings; suppressed: 1 High", 1, VerdictPass)
	at(later.Until.Time, "1 finding at or above High; suppressed no more: 1 finding", 0, VerdictFail)
	if found[0].Suppressed != nil {
		t.Error("the list that was given is marked")
	}
	marked, _ := Suppress(found, by, today)
	if v, r, said := Judge(marked[:1], Demand{FailOn: SeverityHigh}, Incomplete{ReasonTracerLost, "lost"}, rests); v != VerdictInconclusive || r != ReasonTracerLost || said != "lost; suppressed: 1 High" {
		t.Errorf("%s, %s, %q", v, r, said)
	}
	if said := Count(marked).String(); said != "2 High, 1 Low (1 suppressed)" {
		t.Error(said)
	}
}

func TestCheckSuppression(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Suppression)
		want   string // a part of the error; "" for none
	}{
		"as it should be":    {func(*Suppression) {}, ""},
		"everything":         {func(s *Suppression) { s.Match = "*" }, ""},
		"expired":            {func(s *Suppression) { s.Until = At(today.Add(-time.Hour)) }, ""},
		"a year":             {func(s *Suppression) { s.Until = At(today.AddDate(1, 0, 0)) }, ""},
		"long, not in ASCII": {func(s *Suppression) { s.Match, s.Reason = strings.Repeat("ü", 256), strings.Repeat("ü", 512) }, ""},
		"no rule":            {func(s *Suppression) { s.Rule = "" }, `rule ""`},
		"a pattern of rules": {func(s *Suppression) { s.Rule = "MCPA-EGRESS-*" }, "want the id of a rule"},
		"the baseline":       {func(s *Suppression) { s.Rule = RuleManifestChanged }, "approve the manifest"},
		"no match":           {func(s *Suppression) { s.Match = "" }, `match ""`},
		"a short match":      {func(s *Suppression) { s.Match = "a." }, "at least 3 characters"},
		"a long match":       {func(s *Suppression) { s.Match = strings.Repeat("x", 257) }, "257 characters, more than the 256"},
		"no reason":          {func(s *Suppression) { s.Reason = "" }, "at least 8 characters"},
		"an empty reason":    {func(s *Suppression) { s.Reason = "  ok      " }, "at least 8 characters"},
		"a long reason":      {func(s *Suppression) { s.Reason = strings.Repeat("x", 513) }, "513 characters, more than the 512"},
		"no end":             {func(s *Suppression) { s.Until = Time{} }, "until: missing"},
		"for good":           {func(s *Suppression) { s.Until = At(today.AddDate(2, 0, 0)) }, "at most a year ahead"},
	} {
		s := suppression("a.test")
		tc.change(&s)
		err := s.Check(today)
		if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseUntil(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-31":                "2026-12-31T23:59:59Z",
		"2026-12-31T12:00:00Z":      "2026-12-31T12:00:00Z",
		"2026-12-31T12:00:00+02:00": "2026-12-31T10:00:00Z",
		"":                          "", "31.12.2026": "", "2026-02-30": "", "tomorrow": "", "2026-12-31T12:00": "",
	} {
		got, err := ParseUntil(text)
		if (err == nil) != (want != "") || err == nil && got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// FuzzMentions: what a server writes into a message takes no time, and what matches
// is in the text.
func FuzzMentions(f *testing.F) {
	f.Add("to api.example.com:443", "api.example.com")
	f.Add("read /a/b.", "/a/")
	f.Add("\xff\xffé.é", "é")
	f.Fuzz(func(t *testing.T, text, word string) {
		if word != "" && mentions(text, word) && !strings.Contains(text, word) {
			t.Errorf("%q in %q", word, text)
		}
	})
}
