package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/credential"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// carried returns credentials in the server's answers that are built into it: neither given by the audit, its user or
// a file, nor random. A random one occurs once; a built-in one recurs in another call or launch.
//
// attacked is the launch that tries guards: its errors count, too, because some tell how the server reaches its services.
func carried(plan Plan, runs []observation, attacked observation, in rules.Input) []rules.Carried {
	foreign := notOwn(plan, append(slices.Clip(runs), attacked), in)
	seen, read := map[string]int{}, map[string][]credential.Credential{} // most texts recur in each launch
	find := func(text string) []credential.Credential {
		if _, known := read[text]; !known {
			read[text] = credential.Find(text)
		}
		return read[text]
	}
	answers, refusals := 0, attacked.refusedAttempts()
	count := func(outputs []report.Output) {
		for _, out := range outputs {
			for _, c := range find(out.Text) {
				seen[c.Value] += out.Count
			}
		}
	}
	count(refusals)
	for _, o := range runs {
		if len(o.result.Outputs) > 0 {
			answers++
		}
		count(o.result.Outputs)
	}
	var all []rules.Carried
	for _, out := range slices.Concat(exercised(runs).result.Outputs, refusals) {
		if fetches(plan, in.Profile, out.Capability) || fetches(plan, attacked.profile, out.Capability) {
			continue
		}
		for _, c := range find(out.Text) {
			if (seen[c.Value] > 1 || answers == 1) && !strings.Contains(out.Arguments, c.Value) && !foreign(c.Value) {
				all = append(all, rules.Carried{Credential: c, Output: out})
			}
		}
	}
	return all
}

// maxRefusals bounds the errors of one capability that are searched for credentials: most are the same, but for the mark.
const maxRefusals = 48

// refusedAttempts returns errors that attempts got. As arguments they have those of the honest call and the changed value.
func (o observation) refusedAttempts() (all []report.Output) {
	had := map[report.Capability]int{}
	for _, a := range o.result.Attempts {
		if !a.Answered || a.Accepted || a.Of.Kind != report.CapabilityTool || had[a.Of] >= maxRefusals {
			continue
		}
		had[a.Of]++
		all = append(all, report.Output{Kind: report.OutputError, Capability: a.Of, Method: "tools/call", Text: a.Answer, Count: 1,
			Arguments: string(o.how.given[a.Of.Name]) + " " + a.Value})
	}
	return all
}

// notOwn returns a function that reports whether a credential came from the audit or its user.
func notOwn(plan Plan, runs []observation, in rules.Input) func(value string) bool {
	given := decoy.NewMatcher(plan.Decoys.With(given(runs)))
	return func(value string) bool {
		found, _ := given.Find([]byte(value))
		return len(found) > 0 || inputs.Pasted(value) || handed(in, value) ||
			slices.ContainsFunc(plan.Env, func(set string) bool { return strings.Contains(set, value) })
	}
}

// handed reports whether the user gave a value in an argument, or the manifest offers it for one. A later argument
// may contain a value from an earlier answer; that does not count.
func handed(in rules.Input, value string) bool {
	m := in.Manifest
	offered := slices.ContainsFunc(slices.Concat(m.Tools, m.ResourceTemplates, m.Prompts), func(raw json.RawMessage) bool {
		return bytes.Contains(raw, []byte(value))
	})
	for _, arguments := range in.Arguments {
		if slices.ContainsFunc(arguments, func(a rules.Argument) bool { return (a.Given || offered) && strings.Contains(a.Value, value) }) {
			return true
		}
	}
	return false
}

// fetches reports whether the answer of a capability may come from elsewhere: from a program, a file that the server
// did not write, or a network other than the sinkhole.
func fetches(plan Plan, seen profile.Profile, of report.Capability) bool {
	written := map[string]bool{}
	for _, e := range seen.Effects {
		if e.Kind == profile.KindWrite {
			written[e.Path] = true
		}
	}
	return slices.ContainsFunc(seen.Effects, func(e profile.Effect) bool {
		if e.Capability != of || e.Error != "" {
			return false
		}
		switch e.Kind {
		case profile.KindRead:
			return !written[e.Path]
		case profile.KindConnect:
			return plan.Network == report.NetworkAllow
		}
		return e.Kind == profile.KindExec
	})
}

// withoutCarried shortens built-in credentials wherever the report shows them.
func withoutCarried(r *report.Report, in rules.Input) {
	var pairs []string
	for _, value := range rules.CarriedValues(in) {
		pairs = append(pairs, value, credential.Shorten(value))
	}
	if len(pairs) > 0 {
		r.Redact(strings.NewReplacer(pairs...).Replace)
	}
}
