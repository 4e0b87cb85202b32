package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func findings(severities ...Severity) []Finding {
	var list []Finding
	for i, s := range severities {
		list = append(list, Finding{
			Rule: fmt.Sprintf("MCPA-TEST-%03d", i), Severity: s, Phase: PhaseCall,
			Capability: Capability{Kind: CapabilityTool, Name: "format_note"},
			Evidence:   []Evidence{{Time: At(time.Unix(1, 2345)), PID: 7, Syscall: "openat", Detail: "x"}},
		})
	}
	return list
}

func TestJudge(t *testing.T) {
	lost := Incomplete{Reason: ReasonTracerLost, Message: "the tracer was killed"}
	partial := Assurance{Level: AssurancePartial, Tools: "2/3"}
	for name, c := range map[string]struct {
		findings   []Finding
		failOn     Severity
		incomplete Incomplete
		verdict    Verdict
		reason     Reason
		message    string
	}{
		"nothing seen, all observed":         {nil, SeverityHigh, Incomplete{}, VerdictPass, ReasonPassed, "Pass, of 2 of 3 tools: no findings"},
		"below the threshold":                {findings(SeverityLow), SeverityHigh, Incomplete{}, VerdictPass, ReasonPassed, "Pass, of 2 of 3 tools: 1 finding, none at or above the threshold: 1 Low"},
		"at the threshold":                   {findings(SeverityHigh, SeverityHigh, SeverityInfo), SeverityHigh, Incomplete{}, VerdictFail, ReasonFindingsAboveThreshold, "2 findings at or above High: 2 High, 1 Info"},
		"no threshold":                       {findings(SeverityCritical), "", Incomplete{}, VerdictPass, ReasonPassed, "Pass, of 2 of 3 tools: 1 finding, none at or above the threshold: 1 Critical"},
		"incomplete is never a pass":         {nil, SeverityHigh, lost, VerdictInconclusive, ReasonTracerLost, "the tracer was killed"},
		"incomplete without a threshold":     {nil, "", lost, VerdictInconclusive, ReasonTracerLost, "the tracer was killed"},
		"what was seen stays seen":           {findings(SeverityHigh), SeverityHigh, lost, VerdictFail, ReasonFindingsAboveThreshold, "1 finding at or above High"},
		"an unknown severity is the highest": {findings("Apocalyptic"), SeverityCritical, Incomplete{}, VerdictFail, ReasonFindingsAboveThreshold, "1 finding at or above Critical"},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, reason, message := Judge(c.findings, Demand{FailOn: c.failOn}, c.incomplete, partial)
			if verdict != c.verdict || reason != c.reason || message != c.message {
				t.Errorf("got %s, %s, %q", verdict, reason, message)
			}
		})
	}
}

// TestJudgeByAssurance: a Pass rests on enough, and a Fail stands on whatever it rests.
func TestJudgeByAssurance(t *testing.T) {
	weak := Assurance{Level: AssuranceWeak, Tools: "10/23", Because: []string{"13 of 23 tools never accepted a call: a", "and more"}}
	timeout := Incomplete{Reason: ReasonTimeout, Message: "no answer"}
	const short = "the audit rests on 10 of 23 tools, which is Weak, and Partial is required: 13 of 23 tools never accepted a call: a"
	for name, c := range map[string]struct {
		findings   []Finding
		minimum    AssuranceLevel
		incomplete Incomplete
		rests      Assurance
		reason     Reason
		message    string
	}{
		"the default":       {nil, "", Incomplete{}, weak, ReasonWeaklyExercised, short},
		"accepted as weak":  {nil, AssuranceWeak, Incomplete{}, weak, ReasonPassed, "Pass, of 10 of 23 tools: no findings"},
		"more is asked for": {nil, AssuranceFull, Incomplete{}, Assurance{Level: AssurancePartial, Tools: "2/2"}, ReasonWeaklyExercised, "the audit rests on 2 of 2 tools, which is Partial, and Full is required"},
		"without tools":     {nil, "", Incomplete{}, Assurance{Level: AssuranceFull, Tools: "0/0"}, ReasonPassed, "Pass, of a server without tools: no findings"},
		"cut short":         {nil, "", timeout, weak, ReasonTimeout, "no answer"},
		"findings":          {findings(SeverityHigh), "", Incomplete{}, weak, ReasonFindingsAboveThreshold, "1 finding at or above High"},
	} {
		t.Run(name, func(t *testing.T) {
			_, reason, message := Judge(c.findings, Demand{SeverityHigh, c.minimum}, c.incomplete, c.rests)
			if reason != c.reason || message != c.message {
				t.Errorf("got %s, %q", reason, message)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	before := Manifest{Envelope: "e1",
		Tools:   []Item{{Name: "gone", Digest: "1"}, {Name: "kept", Digest: "2"}, {Name: "changed", Digest: "3"}},
		Prompts: []Item{{Name: "kept", Digest: "9"}}}
	after := Manifest{Envelope: "e2",
		Tools:     []Item{{Name: "changed", Digest: "4"}, {Name: "kept", Digest: "2"}},
		Prompts:   []Item{{Name: "kept", Digest: "9"}},
		Resources: []Item{{Name: "file:///new", Digest: "5"}}}
	got := Diff(before, after)
	want := Drift{Added: []string{"resource file:///new"}, Removed: []string{"tool gone"}, Changed: []string{"server", "tool changed"},
		Changes: []Change{{Capability: "server", Field: "definition"}, {Capability: "tool changed", Field: "definition"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := got.String(); s != "changed: server, tool changed; added: resource file:///new; removed: tool gone" {
		t.Errorf("reads %q", s)
	}
	if same := Diff(after, after); !same.Empty() {
		t.Errorf("a manifest differs from itself: %s", same)
	}
}

// hostile makes a report as large as a server can wish for.
func hostile() Report {
	long := strings.Repeat("\xff<é>", 4000)
	r := Report{Verdict: VerdictPass, Server: ServerRun{Name: long, Stderr: long, Command: []string{long}}}
	for range 2000 {
		f := findings(SeverityInfo, SeverityHigh)
		f[0].Message, f[1].Message, f[1].Capability.Name = long, long, long
		f[1].Evidence[0].Detail = long
		r.Findings = append(r.Findings, f...)
		r.Manifest.Tools = append(r.Manifest.Tools, Item{Name: long, Description: long, Digest: long[:64], Definition: long[:MaxDefinition]})
		p := CapabilityProfile{Kind: CapabilityTool, Name: long}
		for range 200 {
			p.Reads = append(p.Reads, FileAccess{Path: long})
			p.Execs = append(p.Execs, Exec{Path: long, Argv: []string{long, long}})
		}
		r.Profile.Capabilities = append(r.Profile.Capabilities, p)
	}
	r.Errors = []string{long}
	r.Baseline = &BaselineDrift{Manifest: Drift{Changes: slices.Repeat([]Change{{Capability: long, Field: long, Before: long, After: long}}, 100)}}
	r.Behavior = BehaviorOf(slices.Repeat([]string{long}, 100), false)
	for range 500 {
		r.Outputs = append(r.Outputs, Output{Text: long, Arguments: long, Method: long, Origins: []string{long, long, long, long, long}})
		r.Drifts = append(r.Drifts, ManifestDrift{Drift: Drift{Changed: slices.Repeat([]string{long}, 100),
			Changes: slices.Repeat([]Change{{Capability: long, Field: long, Before: long, After: long}}, 100)}})
		r.Exercise = append(r.Exercise, CapabilityCoverage{Name: long})
	}
	return r
}

// TestManyTools: a server passes with 400 tools that all use the network.
func TestManyTools(t *testing.T) {
	r := Report{Verdict: VerdictPass, Reason: ReasonPassed}
	digest := "sha256:" + strings.Repeat("a", 64)
	for i := range 400 {
		name := fmt.Sprintf("hosting_createVirtualMachine%dBackup", i)
		r.Manifest.Tools = append(r.Manifest.Tools, Item{Name: name, Description: strings.Repeat("words ", 50), Definition: strings.Repeat("x", 1200), Digest: digest, Words: digest})
		to := Connection{Address: "28.123.123.123", Port: 443, Protocol: "tcp", Host: "developers.hosting.example.com", Count: 19, BytesOut: 12345}
		r.Profile.Capabilities = append(r.Profile.Capabilities, CapabilityProfile{Phase: PhaseCall, Kind: CapabilityTool, Name: name, Connects: []Connection{to, to}})
		r.Exercise = append(r.Exercise, CapabilityCoverage{Kind: CapabilityTool, Name: name, Calls: Share{19, 19}, Branches: Share{9, 9}})
	}
	r.Cap()
	if last := r.Profile.Capabilities[len(r.Profile.Capabilities)-1]; r.Verdict != VerdictPass || len(r.Manifest.Tools) != 400 || len(last.Connects) != 1 || last.Dropped != 1 {
		t.Errorf("%s: %s; %d tools, the last profile %+v", r.Verdict, r.Message, len(r.Manifest.Tools), last)
	}
	if size(&r) > MaxBytes {
		t.Errorf("%d bytes", size(&r))
	}
}

func TestEncodeHoldsTheCaps(t *testing.T) {
	encoded, r := roundTrip(t, hostile())
	if r.Verdict != VerdictInconclusive || r.Reason != ReasonReportTruncated {
		t.Errorf("a truncated report is %s, %s", r.Verdict, r.Reason)
	}
	if len(r.Findings) == 0 || r.Findings[0].Severity != SeverityHigh {
		t.Error("the worst findings are not the first")
	}
	dropped := map[string]int{}
	for _, cut := range r.Truncated {
		dropped[cut.Field] = cut.Dropped
	}
	if kept := len(r.Findings); dropped["findings"] != 4000-kept {
		t.Errorf("%d findings kept, %d counted as dropped, of 4000", kept, dropped["findings"])
	}
	if summary, err := Summarise(r, encoded).Encode(); err != nil || len(summary) > maxSummaryBytes {
		t.Errorf("summary: %d bytes, %v", len(summary), err)
	}
}

// TestOutputsGiveWay: what a server with many tools answered does not make its
// audit incomplete.
func TestOutputsGiveWay(t *testing.T) {
	long := strings.Repeat("x", 2000)
	r := Report{Verdict: VerdictPass, Reason: ReasonPassed}
	for range 400 {
		r.Manifest.Tools = append(r.Manifest.Tools, Item{Name: long[:60], Description: long, Digest: long[:71]})
		r.Outputs = append(r.Outputs, Output{Text: long, Arguments: long})
		r.Exercise = append(r.Exercise, CapabilityCoverage{Kind: CapabilityTool, Name: long[:60]})
	}
	r.Cap()
	if r.Verdict != VerdictPass || len(r.Truncated) > 0 {
		t.Errorf("%s (%s), %v", r.Verdict, r.Reason, r.Truncated)
	}
	if len(r.Outputs) == 0 {
		t.Error("no output is left")
	}
}

func TestEncodeIsStable(t *testing.T) {
	r := Report{Findings: findings(SeverityLow, SeverityHigh), StartTime: At(time.Now()), Verdict: VerdictPass}
	first, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := Decode(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Encode(decoded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Error(diff)
	}
	for _, list := range []string{`"errors":[]`, `"tools":[]`, `"capabilities":[]`} {
		if !strings.Contains(string(first), list) {
			t.Errorf("no %s in %s", list, first)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"another version":  `{"schemaVersion":"mcpaudit.dev/report/v9"}`,
		"no version":       `{}`,
		"trailing bytes":   `{"schemaVersion":"` + SchemaVersion + `"}{}`,
		"trailing bracket": `{"schemaVersion":"` + SchemaVersion + `"}]`,
		"too large":        strings.Repeat(" ", MaxBytes) + `{}`,
		"no JSON":          `hello`,
	} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFrame(t *testing.T) {
	encoded, err := json.Marshal(map[string]string{"long": strings.Repeat("abc ", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	log.WriteString("starting\n" + FrameBegin + "\nZm9v\n")
	if err := WriteFrame(&log, encoded); err != nil {
		t.Fatal(err)
	}
	log.WriteString("done\n")
	got, err := ReadFrame(strings.NewReader(log.String()))
	if err != nil || string(got) != string(encoded) {
		t.Fatalf("read %d bytes of %d: %v", len(got), len(encoded), err)
	}
	whole := log.String()
	mixed := strings.Replace(whole, FrameBegin+"\n", FrameBegin+"\nmcpaudit-runner: judge\n", 1)
	mixed = strings.Replace(mixed, FrameEnd, "mcpaudit-runner: stop the server\n"+FrameEnd, 1)
	got, err = ReadFrame(strings.NewReader(mixed + "late\n"))
	if err != nil || string(got) != string(encoded) {
		t.Errorf("with lines of stderr in between: read %d bytes: %v", len(got), err)
	}
	for name, c := range map[string]struct {
		log  string
		want error
	}{
		"no frame":                       {"hello\n", ErrNoFrame},
		"rotated":                        {whole[len(whole)-60:], ErrRotated},
		"rotated, and another cut short": {FrameEnd + "\n" + FrameBegin + "\nZm9v\n", ErrBadFrame},
		"cut short":                      {whole[:len(whole)-60], ErrBadFrame},
		"not base64":                     {FrameBegin + "\n***\n" + FrameEnd + "\n", ErrBadFrame},
		"not gzip":                       {FrameBegin + "\nZm9vYmFy\n" + FrameEnd + "\n", ErrBadFrame},
		"far to long":                    {FrameBegin + "\n" + strings.Repeat(strings.Repeat("A", 4096)+"\n", 200), ErrBadFrame},
	} {
		if _, err := ReadFrame(strings.NewReader(c.log)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestReadFrameRefusesABomb(t *testing.T) {
	var log strings.Builder
	if err := WriteFrame(&log, make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFrame(strings.NewReader(log.String())); !errors.Is(err, ErrBadFrame) {
		t.Errorf("64 MiB of zeros: %v", err)
	}
}

func TestDecodeSummaryRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{}", `{"schemaVersion":"` + SchemaVersion + `"}`,
		`{"schemaVersion":"` + SchemaVersion + `","sha256":"` + strings.Repeat("Z", 64) + `"}`,
		`{"schemaVersion":"` + SchemaVersion + `","sha256":"` + strings.Repeat("a", 64) + `"`,
	} {
		if s, err := DecodeSummary([]byte(text)); err == nil {
			t.Errorf("%q: accepted as %+v", text, s)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	var log strings.Builder
	if err := WriteFrame(&log, []byte(`{"schemaVersion":"x"}`)); err != nil {
		f.Fatal(err)
	}
	f.Add(log.String())
	f.Add(FrameBegin + "\n" + FrameEnd + "\n")
	f.Fuzz(func(t *testing.T, log string) {
		if encoded, err := ReadFrame(strings.NewReader(log)); err == nil && len(encoded) > MaxBytes {
			t.Errorf("%d bytes", len(encoded))
		}
	})
}

func FuzzDecode(f *testing.F) {
	encoded, err := Encode(Report{Findings: findings(SeverityHigh), Verdict: VerdictFail})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Fuzz(func(t *testing.T, encoded []byte) {
		r, err := Decode(encoded)
		if err != nil {
			return
		}
		again, err := Encode(r)
		if err != nil || len(again) > MaxBytes {
			t.Fatalf("encode what was decoded: %d bytes, %v", len(again), err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeSummary(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":"` + SchemaVersion + `","sha256":"` + strings.Repeat("a", 64) + `"}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		if s, err := DecodeSummary(message); err == nil && len(s.SHA256) != 64 {
			t.Errorf("sha256 %q", s.SHA256)
		}
	})
}
