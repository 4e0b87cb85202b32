package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/credential"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// TestCarriedAlong: a credential is the server's own when nothing else has given it to the
// server, and it is the same in another call or launch.
func TestCarriedAlong(t *testing.T) {
	const secret = "Winter2024!x"
	tool := report.Capability{Kind: report.CapabilityTool, Name: "t"}
	says := func(texts ...string) observation {
		o := watched()
		for _, text := range texts {
			o.result.Outputs = append(o.result.Outputs, report.Output{Capability: tool, Text: text, Count: 1})
		}
		return o
	}
	again := func(o observation) observation {
		o.how.moment = report.MomentIdentity
		return o
	}
	effect := func(kind profile.Kind, path string) profile.Effect {
		e := profile.Effect{Fact: profile.Fact{Kind: kind, Path: path}}
		e.Capability = tool
		return e
	}
	quiet := []observation{says(""), again(says(""))}
	refusing := func(texts ...string) (o observation) {
		o.how.given = map[string]json.RawMessage{"t": json.RawMessage(`{"password":"Honest2024!x"}`)}
		for _, text := range texts {
			o.result.Attempts = append(o.result.Attempts, attack.Attempt{Of: tool, Value: "marlow-c7x!", Answered: true, Answer: text})
		}
		return o
	}
	opening := func(o observation, e profile.Effect) observation {
		o.profile.Effects = append(o.profile.Effects, e)
		return o
	}
	twice := []observation{says("password: " + secret), again(says("password: " + secret))}
	for name, tc := range map[string]struct {
		plan Plan
		runs []observation
		in   rules.Input
		want int

		attacked observation
	}{
		"in two launches":         {runs: twice, want: 1},
		"in two answers":          {runs: []observation{says("password: "+secret, "a password: "+secret), again(says(""))}, want: 2},
		"where nobody asks again": {runs: twice[:1], want: 1},
		"drawn anew":              {runs: []observation{says("password: " + secret), again(says("password: Summer2025!y"))}},
		"of an argument":          {runs: twice, in: rules.Input{Arguments: map[report.Capability][]rules.Argument{{}: {{Value: "x " + secret, Given: true}}}}},
		"handed on by us":         {runs: twice, want: 1, in: rules.Input{Arguments: map[report.Capability][]rules.Argument{{}: {{Value: secret}}}}},
		"of the user":             {runs: twice, plan: Plan{Env: []string{"PW=" + secret}}},
		"a decoy":                 {runs: twice, plan: Plan{Decoys: decoy.Set{Vars: []decoy.Var{{Name: "A", Value: secret, Secrets: []string{secret}}}}}},
		"of a file":               {runs: twice, in: rules.Input{Profile: profile.Profile{Effects: []profile.Effect{effect(profile.KindRead, "/srv/x")}}}},
		"of a file of its own": {runs: twice, want: 1, in: rules.Input{Profile: profile.Profile{Effects: []profile.Effect{
			effect(profile.KindWrite, "/tmp/x"), effect(profile.KindRead, "/tmp/x"),
		}}}},
		"in two refusals of attempts":      {runs: quiet, attacked: refusing("password: "+secret, "no; password: "+secret), want: 2},
		"in one refusal":                   {runs: quiet, attacked: refusing("password: " + secret)},
		"of an attempt":                    {runs: quiet, attacked: refusing("password: marlow-c7x!", "password: marlow-c7x!")},
		"of the honest call of an attempt": {runs: quiet, attacked: refusing("password: Honest2024!x", "password: Honest2024!x")},
		"of a file that an attempt opened": {runs: quiet, attacked: opening(refusing("password: "+secret, "password: "+secret), effect(profile.KindRead, "/srv/x"))},
		"of a program":                     {runs: twice, in: rules.Input{Profile: profile.Profile{Effects: []profile.Effect{effect(profile.KindExec, "/bin/cat")}}}},
	} {
		if got := carried(tc.plan, tc.runs, tc.attacked, tc.in); len(got) != tc.want {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
	}
}

// TestWithoutCarried: what a report shows of it is shortened.
func TestWithoutCarried(t *testing.T) {
	const text = "password: Winter2024!x"
	r := report.Report{Outputs: []report.Output{{Text: text}}}
	in := rules.Input{Carried: carried(Plan{}, []observation{{}}, observation{}, rules.Input{})}
	withoutCarried(&r, in)
	if r.Outputs[0].Text != text {
		t.Error("a report without a finding is altered")
	}
	o := watched()
	o.result.Outputs = r.Outputs
	in.Carried = carried(Plan{}, []observation{o}, observation{}, rules.Input{})
	withoutCarried(&r, in)
	if strings.Contains(r.Outputs[0].Text, "Winter2024") {
		t.Errorf("the report shows %q", r.Outputs[0].Text)
	}
}

// TestCarriedFromTexts: keys in the audit's own texts are none of the server's, wherever it shows them again.
func TestCarriedFromTexts(t *testing.T) {
	arguments, _ := json.Marshal(map[string]string{"note": inputs.Mark{Call: 3}.Text()})
	shown := 0
	for n := range 2 * inputs.LongText {
		varied, _ := inputs.Varied(nil, arguments, n, inputs.Mark{Call: n})
		var got struct{ Note string }
		if err := json.Unmarshal(varied, &got); err != nil {
			t.Fatal(err)
		}
		o := watched()
		again, _ := json.Marshal([]string{got.Note})
		o.result.Outputs = []report.Output{{Text: got.Note, Count: 2}, {Text: string(again), Count: 2}}
		shown += len(credential.Find(got.Note))
		if found := carried(Plan{}, []observation{o}, observation{}, rules.Input{}); len(found) > 0 {
			t.Errorf("text %d: %+v", n, found)
		}
	}
	if shown < 3 {
		t.Errorf("the texts hold %d keys", shown)
	}
}
