package gate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// TestH6Finding: the offline gate takes the finding as it is, whatever the image and the
// words of the finding are.
func TestH6Finding(t *testing.T) {
	for want, container := range map[string]gate.Container{
		"which names no image: name one (policy default).":                                            runs(`x", which passed`),
		"with $(...) in its command or args, which the audit team/notes cannot be compared with: see": runs(tag, "$(X)"),
		"which was audited with another command or other args, by team/notes: have it audited, as by": runs(tag, "sh"),
	} {
		o := gate.Decide(containers(container), factsOf(policyOf(), verdictOf("notes"))).Opinions[0]
		if !strings.HasPrefix(o.Finding, want) || !strings.HasSuffix(o.Sentence, ", "+o.Finding) {
			t.Errorf("finding %q of %q, want %q", o.Finding, o.Sentence, want)
		}
	}
}

func TestSentences(t *testing.T) {
	elsewhere := policyOf(trusting(v1alpha1.Trust{AuditNamespaces: "Selected", NamespaceSelector: auditsSelector}))
	for _, test := range []struct {
		policy    *gate.Policy
		container gate.Container
		verdict   *gate.Verdict
		want      string
	}{
		{policyOf(gated(func(g *v1alpha1.Gate) { g.MinAssurance = "Partial" })), runs(pinned), verdictOf("notes", func(v *gate.Verdict) {
			v.Assurance = report.Assurance{Level: "Weak", Tools: "10/23"}
		}), `Deployment notes: container server runs ` + pinned + `, whose audit team/notes rests on 10 of 23 tools: its assurance is Weak, and the policy asks for Partial: ` +
			`see "kubectl mcpaudit show notes -n team", which says what more of it has to be exercised (policy default).`},
		{policyOf(gated(func(g *v1alpha1.Gate) { g.MinAssurance = "Weak" })), runs(pinned), verdictOf("notes"),
			`Deployment notes: container server runs ` + pinned + `, whose audit team/notes does not record its assurance, and the policy asks for Weak: have it audited again (policy default).`},
		{policyOf(limited(v1alpha1.ExposureLimit{MaxLevel: "High", Deny: []v1alpha1.DeniedExposure{{Kind: "CommandExecution", Reach: "Arbitrary"}}})), runs(pinned),
			verdictOf("notes", enables(75, report.Exposed{Kind: "CommandExecution", Reach: "Arbitrary"})), `Deployment notes: container server runs ` + pinned +
				`, which enables more than the policy admits, by the audit team/notes: its exposure is 75 Critical, and High is admitted; CommandExecution (Arbitrary) is denied: ` +
				`see "kubectl mcpaudit show notes -n team", which says which of its tools do, and run a server that enables less (policy default).`},
		{policyOf(limited(v1alpha1.ExposureLimit{MaxLevel: "High"})), runs(pinned), verdictOf("notes"),
			`Deployment notes: container server runs ` + pinned + `, whose exposure, which the policy bounds, is not known by the audit team/notes: it records none: have it audited again, with the defaults of spec.probe and time for all of it (policy default).`},
		{policyOf(), runs(tag), verdictOf("leaky", failed), `Deployment notes: container server runs registry.example/notes:1, which failed its audit team/leaky (2 High findings): ` +
			`see "kubectl mcpaudit show leaky -n team", and run an image that passes (policy default).`},
		{policyOf(), runs(tag), verdictOf("notes", func(v *gate.Verdict) { v.Findings.Critical, v.Findings.High = 1, 1 }), `Deployment notes: container server runs registry.example/notes:1, ` +
			`which failed its audit team/notes (1 Critical, 1 High findings): see "kubectl mcpaudit show notes -n team", and run an image that passes (policy default).`},
		{policyOf(), runs(tag), verdictOf("notes", drifted), `Deployment notes: container server runs registry.example/notes:1, whose manifest is not the one of its baseline by the audit team/notes: ` +
			`see "kubectl mcpaudit diff notes -n team", and approve the change if it is right (policy default).`},
		{policyOf(), runs(tag), verdictOf("notes", incomplete), `Deployment notes: container server runs registry.example/notes:1, whose audit team/notes could not observe everything (Timeout): ` +
			`see "kubectl mcpaudit show notes -n team" (policy default).`},
		{policyOf(), runs(tag), verdictOf("notes", halted), `Deployment notes: container server runs registry.example/notes:1, whose audit team/notes is not renewed (Suspended): ` +
			`see "kubectl mcpaudit show notes -n team" (policy default).`},
		{policyOf(), runs(tag), verdictOf("notes", on("arm64")), `Deployment notes: container server runs registry.example/notes:1, which was audited for arm64 only, by team/notes, and may run on other nodes: ` +
			`pin its Pods to kubernetes.io/arch arm64 by nodeSelector (policy default).`},
		{policyOf(), runs(tag, "sh", "-c", "exec node"), verdictOf("notes"), `Deployment notes: container server runs registry.example/notes:1, which was audited with another command or other args, by team/notes: ` +
			`have it audited, as by "kubectl mcpaudit run --image registry.example/notes:1 -n team -- sh -c 'exec node'" (policy default).`},
		{policyOf(), runs(tag, `"`), verdictOf("notes"), `Deployment notes: container server runs registry.example/notes:1, which was audited with another command or other args, by team/notes: ` +
			`have it audited with the same command and args (policy default).`},
		{policyOf(), runs(tag, "$(X)"), verdictOf("notes"), `Deployment notes: container server runs registry.example/notes:1, with $(...) in its command or args, which the audit team/notes cannot be compared with: ` +
			`see "kubectl mcpaudit show notes -n team", and run it by words that are given (policy default).`},
		{policyOf(), runs(tag), verdictOf("notes"), `Deployment notes: container server runs registry.example/notes:1, which is named by a tag, not by a digest: ` +
			`pin it: image: registry.example/notes:1@` + string(index) + ` (policy default).`},
		{policyOf(), runs(pinned), verdictOf("notes", ambiguous), `Deployment notes: container server runs ` + pinned + `, which may be another image than was audited, as it was resolved by a node or is an ambiguous index: ` +
			`pin it: image: registry.example/notes@` + string(platform) + ` (policy default).`},
		{policyOf(), runs(pinned), verdictOf("notes", ambiguous, func(v *gate.Verdict) { v.Digests = nil }), `Deployment notes: container server runs ` + pinned + `, which may be another image than was audited, as it was resolved by a node or is an ambiguous index: ` +
			`see "kubectl mcpaudit show notes -n team", which tells how to have its digest audited (policy default).`},
		{elsewhere, runs(tag), verdictOf("notes"), `Deployment notes: container server runs registry.example/notes:1, which no audit that counts has a verdict on: ` +
			`have it audited, as by "kubectl mcpaudit run --image registry.example/notes:1", in a namespace that the policy trusts (policy default).`},
		{policyOf(), runs(`x", which passed`), nil, `Deployment notes: container server runs "x?, which passed", which names no image: name one (policy default).`},
		{policyOf(), gate.Container{Name: "server", Role: gate.RoleServer, Unclear: "It cannot be read: too deep."}, nil,
			`Deployment notes: server runs an image that is not known, which no audit can be compared with: It cannot be read: too deep: name one (policy default).`},
		{policyOf(), gate.Container{Name: "data", Role: gate.RoleImageVolume, Image: tag}, nil, `Deployment notes: image volume data mounts registry.example/notes:1, which no audit that counts has a verdict on: ` +
			`have it audited, as by "kubectl mcpaudit run --image registry.example/notes:1 -n team" (policy default).`},
	} {
		var verdicts []*gate.Verdict
		if test.verdict != nil {
			verdicts = append(verdicts, test.verdict)
		}
		if d := gate.Decide(containers(test.container), factsOf(test.policy, verdicts...)); d.Message != test.want || d.Opinions[0].Sentence != test.want {
			t.Errorf("got  %s\nwant %s", d.Message, test.want)
		}
	}
}

func TestTheWorstComesFirst(t *testing.T) {
	d := gate.Decide(containers(runs("a"), runs("b"), runs(tag)), factsOf(policyOf(), verdictOf("leaky", failed)))
	if !strings.Contains(d.Message, "failed its audit team/leaky") || !strings.HasSuffix(d.Message, " And 2 more.") {
		t.Error(d.Message)
	}
}

// bounded says what is wrong with a text that goes to people.
func bounded(text string, limit int) string {
	encoded, _ := json.Marshal(text)
	if len(encoded)-2 > limit {
		return fmt.Sprintf("%d bytes", len(encoded)-2)
	}
	for _, r := range text {
		if r != ' ' && !unicode.IsPrint(r) {
			return fmt.Sprintf("it has %U", r)
		}
	}
	return ""
}

// Everything in an object, an audit or an exception may be hostile, or as long as it can be.
func TestSentencesAreBounded(t *testing.T) {
	hostile := []string{"", "x", strings.Repeat("y", 5000), strings.Repeat("<\"\\>", 300), "a\nb\x1b[31m\u202e\u2028\x00\xff\u200b", strings.Repeat("\u00e9\U0001f600", 400)}
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return pick(r, hostile...) }
	for range 3000 {
		v := randomVerdict(r, strings.Repeat("n", 1+r.IntN(253)))
		v.Audit.Namespace = strings.Repeat("m", 1+r.IntN(63))
		v.Reason, v.Architecture = word(), pick(r, "", word())
		c := gate.Container{
			Name: word(), Role: gate.RoleContainer, Image: pick(r, tag, tag, word()), Unclear: pick(r, "", "", word()),
			Command: pick(r, nil, []string{word(), word()}), Args: pick(r, nil, []string{word()}),
		}
		subject := containers(c, c)
		subject.Kind, subject.Name = word(), word()
		policy := randomPolicy(r, word())
		policy.Namespace = "team"
		facts := factsOf(policy, v)
		exception := randomException(r, word())
		exception.Ticket, exception.Policy = word(), policy.Ref
		if !often(r) {
			facts.Exceptions = []*gate.Exception{exception}
		}
		d := gate.Decide(subject, facts)
		texts := map[string]int{d.Message: 1024}
		for _, o := range d.Opinions {
			texts[o.Sentence], texts[o.Finding] = 1024, 1024
		}
		for _, w := range d.Warnings {
			texts[w] = 256
		}
		for text, limit := range texts {
			if problem := bounded(text, limit); problem != "" {
				t.Fatalf("%s: %s", problem, text)
			}
		}
	}
}

// The command that is to be pasted is whole, however long the names are.
func TestNoCommandIsCut(t *testing.T) {
	long := verdictOf(strings.Repeat("n", 253), failed)
	subject := containers(runs(tag))
	subject.Name = strings.Repeat("d", 253)
	want := fmt.Sprintf(`"kubectl mcpaudit show %s -n team"`, long.Audit.Name)
	if d := gate.Decide(subject, factsOf(policyOf(), long)); !strings.Contains(d.Message, want) {
		t.Error(d.Message)
	}
	warns := policyOf(gated(func(g *v1alpha1.Gate) { g.Mode = v1alpha1.GateWarn }))
	if d := gate.Decide(subject, factsOf(warns, long)); strings.Contains(d.Warnings[0], "kubectl") || !strings.Contains(d.Warnings[0], "failed its audit") {
		t.Error(d.Warnings)
	}
}

func TestFewWarnings(t *testing.T) {
	warns := policyOf(gated(func(g *v1alpha1.Gate) { g.Mode = v1alpha1.GateWarn }))
	subject := containers()
	for i := range 3000 {
		subject.Containers = append(subject.Containers, runs(fmt.Sprintf("registry.example/i%04d", i)))
	}
	d := gate.Decide(subject, factsOf(warns))
	if len(d.Warnings) != 8 || !strings.HasSuffix(d.Warnings[7], " And 2992 more.") || len(d.Opinions) != 3000 {
		t.Errorf("%d warnings of %d opinions: %q", len(d.Warnings), len(d.Opinions), d.Warnings)
	}
}
