package render_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// sarif has the fields that readers of SARIF look at.
type sarif struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID                         string
					Name                       string
					ShortDescription, Help     struct{ Text string }
					FullDescription            struct{ Text string }
					DefaultConfiguration       struct{ Level string }
					Properties                 map[string]any
					HelpURI                    string
					MessageStrings, Deprecated any
				}
				Notifications []struct{ ID string }
			}
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct {
				Descriptor struct {
					ID    string
					Index int
				}
				Level   string
				Message struct{ Text string }
			}
		}
		AutomationDetails struct{ ID string }
		Results           []sarifResult
	}
}

type sarifResult struct {
	RuleID, Level       string
	RuleIndex           int
	Message             struct{ Text string }
	PartialFingerprints map[string]string
	Suppressions        []struct{ Kind, Status string }
	Locations           []struct {
		PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
		LogicalLocations []struct{ Name, FullyQualifiedName, Kind string }
	}
}

func sarifOf(t *testing.T, r report.Report) sarif {
	t.Helper()
	var got sarif
	if err := json.Unmarshal(written(t, "sarif", r), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Runs) != 1 || len(got.Runs[0].Invocations) != 1 {
		t.Fatalf("not one run with one invocation: %+v", got)
	}
	return got
}

// TestSARIFIsNoFalsePass: whoever reads the results alone, and whoever reads the
// invocation alone, sees that an audit is no success.
func TestSARIFIsNoFalsePass(t *testing.T) {
	incomplete := honest()
	incomplete.Incomplete = &report.Incomplete{Reason: report.ReasonTracerLost}
	truncated := honest()
	truncated.Truncated = []report.Truncation{{Field: "findings", Dropped: 1}}
	newer, empty := honest(), honest()
	newer.Verdict, empty.Verdict = "Excellent", ""
	strange := honest()
	strange.Verdict, strange.Findings = report.VerdictFail, []report.Finding{{Rule: "MCPA-NEW-001", Severity: "Catastrophic", Message: "New."}}
	for name, tc := range map[string]struct {
		report  report.Report
		rule    string
		success bool
	}{
		"inconclusive":         {inconclusive(), "MCPA-INCONCLUSIVE", false},
		"remote":               {remote(), "MCPA-INCONCLUSIVE", false},
		"a pass that is not":   {incomplete, "MCPA-INCONCLUSIVE", false},
		"truncated":            {truncated, "MCPA-INCONCLUSIVE", false},
		"verdict of the later": {newer, "MCPA-INCONCLUSIVE", false},
		"no verdict":           {empty, "MCPA-INCONCLUSIVE", false},
		"failed by the pin":    {drifted(), "MCPA-FAILED", true},
		"unknown severity":     {strange, "MCPA-NEW-001", true},
		"leaky":                {fail(), "MCPA-EGRESS-001", true},
	} {
		t.Run(name, func(t *testing.T) {
			run := sarifOf(t, tc.report).Runs[0]
			if run.Invocations[0].ExecutionSuccessful != tc.success {
				t.Errorf("executionSuccessful is %t", !tc.success)
			}
			for _, result := range run.Results {
				if result.RuleID == tc.rule && result.Level == "error" && len(result.Suppressions) == 0 {
					return
				}
			}
			t.Errorf("no error of %s in %+v", tc.rule, run.Results)
		})
	}
}

func TestSARIFOfAPassHasNoResults(t *testing.T) {
	run := sarifOf(t, honest()).Runs[0]
	if len(run.Results) != 0 || !run.Invocations[0].ExecutionSuccessful {
		t.Errorf("%+v", run)
	}
}

func TestSARIFSuppressions(t *testing.T) {
	run := sarifOf(t, fail()).Runs[0]
	var got []string
	for _, r := range run.Results {
		state := "none"
		if len(r.Suppressions) > 0 {
			state = r.Suppressions[0].Status
		}
		got = append(got, r.RuleID+" "+r.Level+" "+state)
	}
	want := []string{"MCPA-EGRESS-001 error none", "MCPA-FILE-001 note rejected", "MCPA-PROTOCOL-001 note accepted",
		"MCPA-EXPOSURE note none", "MCPA-EXPOSURE note none"} // what no argument decides is none
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSARIFFingerprints: the same finding has the same one in another run, and two
// findings of one run never have.
func TestSARIFFingerprints(t *testing.T) {
	messages := func(one, two string) []string {
		r := fail()
		r.Exposure = nil
		r.Findings = append(r.Findings[:1:1], r.Findings[0])
		r.Findings[0].Message, r.Findings[1].Message = one, two
		r.Findings[0].Evidence, r.StartTime = nil, report.At(r.EndTime.AddDate(0, 0, 1))
		var marks []string
		for _, result := range sarifOf(t, r).Runs[0].Results {
			marks = append(marks, result.PartialFingerprints["primaryLocationLineHash"])
		}
		return marks
	}
	before := messages("read /proc/17/environ and /tmp/a1b2.sock by pid 7, then telemetry.example.com:443 (28.18.0.7:443, tcp)", "listens on 0.0.0.0:40123")
	after := messages("read /proc/18/environ and /tmp/c3d4.sock by pid 9, then telemetry.example.com:443 (28.18.0.9:443, tcp)", "listens on 0.0.0.0:51234")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	other := messages("read /proc/17/environ, then telemetry.example.org:443", "listens on 0.0.0.0:40123")
	if other[0] == before[0] || other[1] != before[1] {
		t.Errorf("%q and %q", before, other)
	}
	same := messages("the same", "the same")
	if len(same) != 2 || same[0] == same[1] {
		t.Errorf("two findings have %q", same)
	}
}

// TestSARIFArtifact: GitHub looks for a relative path in the repository, and refuses a
// scheme other than file.
func TestSARIFArtifact(t *testing.T) {
	for want, server := range map[string]report.ServerRun{
		"src/server.js":              {Command: []string{"node", "--inspect=no", "./src/server.js", "data.json"}},
		"file:///app/main.py":        {Command: []string{"/usr/bin/python3", "-u", "/app/../app/main.py"}},
		"file:///usr/bin/notes":      {Command: []string{"/usr/bin/notes", "--token=secret"}},
		"bin/a%20b":                  {Command: []string{"bin/a b"}},
		"@scope/server-notes":        {Command: []string{"npx", "-y", "@scope/server-notes", "--token=secret"}},
		"mcp-server-fetch":           {Command: []string{"uvx", "mcp-server-fetch"}},
		"mcp.example.com%3A8443/mcp": {URL: "https://user:secret@mcp.example.com:8443/mcp?key=secret#x"},
		"remote-mcp-server":          {URL: "::"},
		"mcp-server":                 {},
		"c%3A/notes":                 {Name: "c:/notes"},
		"etc/passwd":                 {Command: []string{"../../../etc/passwd"}},
	} {
		r := fail()
		r.Server = server
		got := sarifOf(t, r).Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI
		if got != want {
			t.Errorf("%+v is %q, want %q", server, got, want)
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "" && u.Scheme != "file" || strings.Contains(got, "secret") {
			t.Errorf("%q: %v", got, err)
		}
	}
}

// TestSARIFHoldsGitHubsLimits: of what github.com/github/docs lists for code scanning.
func TestSARIFHoldsGitHubsLimits(t *testing.T) {
	long := strings.Repeat("\u202ex](http://evil.example)", 4000)
	r := inconclusive()
	for range 300 {
		r.Findings = append(r.Findings, report.Finding{Rule: "MCPA-" + long, Title: long, Message: long, Severity: report.SeverityHigh,
			Capability: report.Capability{Kind: report.CapabilityTool, Name: long}, Evidence: []report.Evidence{{Detail: long}}})
	}
	r.Server.Name, r.Server.Version, r.Runner.Version, r.Message = long, long, long, long
	if _, err := report.Encode(r); err != nil {
		t.Fatal(err)
	}
	r.Cap()
	b := written(t, "sarif", r)
	if len(b) > 10<<20 {
		t.Errorf("%d bytes", len(b))
	}
	if strings.Contains(string(b), "](") {
		t.Error("there is a link in it")
	}
	run := sarifOf(t, r).Runs[0]
	if len(run.Results) < 20 || len(run.Results) > 257 {
		t.Errorf("%d results", len(run.Results))
	}
	for i, rule := range run.Tool.Driver.Rules {
		tags, _ := rule.Properties["tags"].([]any)
		if len([]rune(rule.ID)) > 255 || len([]rune(rule.Name)) > 255 || len([]rune(rule.ShortDescription.Text)) > 1024 || len([]rune(rule.FullDescription.Text)) > 1024 ||
			len(tags) > 10 || rule.ID == "" || rule.Name == "" || rule.ShortDescription.Text == "" || rule.FullDescription.Text == "" || rule.Help.Text == "" {
			t.Errorf("rule %d: %+v", i, rule)
		}
	}
	for _, result := range run.Results {
		if run.Tool.Driver.Rules[result.RuleIndex].ID != result.RuleID {
			t.Errorf("%s is of the rule %s", result.RuleID, run.Tool.Driver.Rules[result.RuleIndex].ID)
		}
	}
	for _, n := range run.Invocations[0].ToolExecutionNotifications {
		if run.Tool.Driver.Notifications[n.Descriptor.Index].ID != n.Descriptor.ID {
			t.Errorf("%+v refers to another", n)
		}
	}
}
