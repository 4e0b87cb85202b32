package gate_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

const (
	allow = v1alpha1.ActionAllow
	warn  = v1alpha1.ActionWarn
	deny  = v1alpha1.ActionDeny
)

// TestDecideByVerdicts has the rules of what the verdicts on one image say together.
func TestDecideByVerdicts(t *testing.T) {
	at := func(change func(*v1alpha1.Gate)) *gate.Policy { return policyOf(gated(change)) }
	plain := policyOf()
	driftAllowed := at(func(g *v1alpha1.Gate) { g.OnDrift = allow })
	driftWarned := at(func(g *v1alpha1.Gate) { g.OnDrift = warn })
	aDay := at(func(g *v1alpha1.Gate) { g.MaxAge = &metav1.Duration{Duration: 24 * time.Hour} })
	byLast := at(func(g *v1alpha1.Gate) {
		g.OnInconclusive, g.MaxAge = v1alpha1.ActionLastVerdict, &metav1.Duration{Duration: 24 * time.Hour}
	})
	half := at(func(g *v1alpha1.Gate) { g.MinAssurance = report.AssurancePartial })
	halfByLast := at(func(g *v1alpha1.Gate) {
		g.MinAssurance, g.OnInconclusive = report.AssurancePartial, v1alpha1.ActionLastVerdict
	})
	admitsInconclusive := at(func(g *v1alpha1.Gate) { g.MinAssurance, g.OnInconclusive = report.AssurancePartial, "Allow" })
	rests := func(level report.AssuranceLevel, tools string) func(*gate.Verdict) {
		return func(v *gate.Verdict) { v.Assurance = report.Assurance{Level: level, Tools: tools} }
	}
	strict := at(func(g *v1alpha1.Gate) { g.FailOn = "Low" })
	node := []string{"node", "server.js"}
	suppressed := func(v *gate.Verdict) { failed(v); v.Unsuppressed = v1alpha1.FindingCounts{} }
	for _, test := range []struct {
		name      string
		policy    *gate.Policy
		container gate.Container
		verdicts  []*gate.Verdict
		reason    v1alpha1.GateReason
		action    v1alpha1.GateAction
		by        string // the audit
	}{
		{"nothing", plain, runs(pinned), nil, "NotAudited", deny, ""},
		{"passed by tag", plain, runs(pinned), []*gate.Verdict{verdictOf("a")}, "Passed", allow, "a"},
		{"passed by digest, of another repository", plain, runs("other.example/x@" + string(index)), []*gate.Verdict{verdictOf("a")}, "Passed", allow, "a"},
		{"a digest decides, whatever the tag says", plain, runs("registry.example/notes:1@" + string(digest(9))), []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"another tag", plain, runs("registry.example/notes:2"), []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"what runs decides, whatever its tag says", plain, gate.Container{Name: "s", Image: tag, Digests: []v1alpha1.Digest{digest(9)}}, []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"what runs, by the digest of the config", plain, gate.Container{Name: "s", Image: "x@" + string(digest(9)), ImageID: config}, []*gate.Verdict{verdictOf("a")}, "Passed", allow, "a"},
		{"failed", plain, runs(pinned), []*gate.Verdict{verdictOf("a", failed)}, "Failed", deny, "a"},
		{"findings below the threshold", plain, runs(pinned), []*gate.Verdict{verdictOf("a", func(v *gate.Verdict) { v.Findings.Medium = 3 })}, "Passed", allow, "a"},
		{"findings that only the policy minds", strict, runs(pinned), []*gate.Verdict{verdictOf("a", func(v *gate.Verdict) { v.Findings.Low = 1 })}, "Failed", deny, "a"},
		{"findings that deny nothing", at(func(g *v1alpha1.Gate) { g.FailOn = "Never" }), runs(pinned), []*gate.Verdict{verdictOf("a", failed)}, "Passed", allow, "a"},
		{"suppressed findings count", plain, runs(pinned), []*gate.Verdict{verdictOf("a", suppressed)}, "Failed", deny, "a"},
		{"suppressed findings do not, where that is allowed", policyOf(trusting(v1alpha1.Trust{AuditNamespaces: "Same", AllowSuppressions: true})), runs(pinned), []*gate.Verdict{verdictOf("a", suppressed)}, "Passed", allow, "a"},
		{"failed before it was cut short", plain, runs(pinned), []*gate.Verdict{verdictOf("a", failed, incomplete)}, "Failed", deny, "a"},
		{"failed, and old", aDay, runs(pinned), []*gate.Verdict{verdictOf("a", failed, aged(48*time.Hour))}, "Failed", deny, "a"},

		{"rests on enough", half, runs(pinned), []*gate.Verdict{verdictOf("a", rests("Partial", "2/3"))}, "Passed", allow, "a"},
		{"rests on too little", half, runs(pinned), []*gate.Verdict{verdictOf("a", rests("Weak", "1/3"))}, "WeaklyExercised", deny, "a"},
		{"does not say what it rests on", half, runs(pinned), []*gate.Verdict{verdictOf("a")}, "WeaklyExercised", deny, "a"},
		{"rests on a level of the future", half, runs(pinned), []*gate.Verdict{verdictOf("a", rests("Splendid", "3/3"))}, "WeaklyExercised", deny, "a"},
		{"rests on little, and nobody asks", plain, runs(pinned), []*gate.Verdict{verdictOf("a", rests("Weak", "1/3"))}, "Passed", allow, "a"},
		{"rests on too little, and failed", half, runs(pinned), []*gate.Verdict{verdictOf("a", failed, rests("Weak", "1/3"))}, "Failed", deny, "a"},
		{"one that rests on enough does", half, runs(pinned), []*gate.Verdict{verdictOf("a", rests("Weak", "1/3")), verdictOf("b", rests("Full", "3/3"))}, "Passed", allow, "b"},
		{"inconclusive is admitted, and rests on too little", admitsInconclusive, runs(pinned), []*gate.Verdict{verdictOf("a", incomplete, rests("Weak", "1/3"))}, "WeaklyExercised", deny, "a"},
		{"the last verdict does not say what it rested on", halfByLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed)}, "Inconclusive", deny, "a"},
		{"the last verdict rested on enough", halfByLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed, func(v *gate.Verdict) { v.PassedAssurance = "Partial" })}, "Passed", warn, "a"},

		{"drifted", plain, runs(pinned), []*gate.Verdict{verdictOf("a", drifted)}, "Drifted", deny, "a"},
		{"drifted, with a warning", driftWarned, runs(pinned), []*gate.Verdict{verdictOf("a", drifted)}, "Drifted", warn, "a"},
		{"drift is no failure where it is allowed", driftAllowed, runs(pinned), []*gate.Verdict{verdictOf("a", drifted)}, "Drifted", allow, "a"},
		{"drifted and failed", driftAllowed, runs(pinned), []*gate.Verdict{verdictOf("a", drifted, failed)}, "Failed", deny, "a"},
		{"drift that is allowed hides nothing", driftAllowed, runs(pinned), []*gate.Verdict{verdictOf("a", drifted, incomplete)}, "Inconclusive", deny, "a"},

		{"inconclusive", plain, runs(pinned), []*gate.Verdict{verdictOf("a", incomplete)}, "Inconclusive", deny, "a"},
		{"inconclusive, by the last verdict", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed)}, "Passed", warn, "a"},
		{"there is no last verdict", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", incomplete)}, "Inconclusive", deny, "a"},
		{"the last verdict is too old", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed, func(v *gate.Verdict) { v.Passed = now.Add(-25 * time.Hour) })}, "Inconclusive", deny, "a"},
		{"the last verdict was by a lesser measure", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed, func(v *gate.Verdict) { v.PassedFailOn = "Critical" })}, "Inconclusive", deny, "a"},
		{"the last verdict was by none", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed, func(v *gate.Verdict) { v.PassedFailOn = "Never" })}, "Inconclusive", deny, "a"},
		{"the last verdict may be by suppressions", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed, func(v *gate.Verdict) { v.PassedSuppressing = true })}, "Inconclusive", deny, "a"},
		{"the last verdict, of an audit that is suspended", byLast, runs(pinned), []*gate.Verdict{verdictOf("a", lastPassed, halted)}, "Stale", deny, "a"},

		{"suspended with an old pass", plain, runs(pinned), []*gate.Verdict{verdictOf("a", halted)}, "Stale", deny, "a"},
		{"older than maxAge", aDay, runs(pinned), []*gate.Verdict{verdictOf("a", aged(25*time.Hour))}, "Stale", deny, "a"},
		{"as old as maxAge", aDay, runs(pinned), []*gate.Verdict{verdictOf("a", aged(24*time.Hour))}, "Passed", allow, "a"},
		{"as old as it likes", plain, runs(pinned), []*gate.Verdict{verdictOf("a", aged(9999*time.Hour))}, "Passed", allow, "a"},

		{"an observation against wins", plain, runs(pinned), []*gate.Verdict{verdictOf("a"), verdictOf("b", failed), verdictOf("c")}, "Failed", deny, "b"},
		{"a drift wins", driftWarned, runs(pinned), []*gate.Verdict{verdictOf("a"), verdictOf("b", drifted)}, "Drifted", warn, "b"},
		{"then one pass is enough", plain, runs(pinned), []*gate.Verdict{verdictOf("a", incomplete), verdictOf("b"), verdictOf("c", halted)}, "Passed", allow, "b"},
		{"inconclusive before stale", plain, runs(pinned), []*gate.Verdict{verdictOf("a", halted), verdictOf("b", incomplete)}, "Inconclusive", deny, "b"},
		{"the latest is told", plain, runs(pinned), []*gate.Verdict{verdictOf("a", aged(2*time.Hour)), verdictOf("b"), verdictOf("c")}, "Passed", allow, "b"},

		{"another command", plain, runs(pinned, "sh"), []*gate.Verdict{verdictOf("a")}, "OtherCommand", deny, "a"},
		{"other args", plain, gate.Container{Name: "s", Image: pinned, Args: []string{"--all"}}, []*gate.Verdict{verdictOf("a")}, "OtherCommand", deny, "a"},
		{"the image's own command, spelled out", plain, runs(pinned, "/server"), []*gate.Verdict{verdictOf("a")}, "Passed", allow, "a"},
		{"the same words, in another place", plain, gate.Container{Name: "s", Image: pinned, Command: node[:1], Args: node[1:]}, []*gate.Verdict{verdictOf("a", started(node, nil))}, "Passed", allow, "a"},
		{"args are not a command", plain, gate.Container{Name: "s", Image: pinned, Args: node}, []*gate.Verdict{verdictOf("a", started(node, nil))}, "OtherCommand", deny, "a"},
		{"args of the same image", plain, gate.Container{Name: "s", Image: pinned, Args: node}, []*gate.Verdict{verdictOf("a", started(nil, node))}, "Passed", allow, "a"},
		{"words that the kubelet replaces", plain, runs(pinned, "node", "$(FILE)"), []*gate.Verdict{verdictOf("a", started([]string{"node", "$(FILE)"}, nil))}, "OtherCommand", deny, "a"},
		{"words that some kubelets misread", plain, runs(pinned, "node", "$é"), []*gate.Verdict{verdictOf("a", started([]string{"node", "$é"}, nil))}, "OtherCommand", deny, "a"},
		{"words with other dollars", plain, runs(pinned, "node", "$HOME é$"), []*gate.Verdict{verdictOf("a", started([]string{"node", "$HOME é$"}, nil))}, "Passed", allow, "a"},
		{"what cannot be compared", plain, gate.Container{Name: "s", Image: pinned, Unclear: "It has a plugin."}, []*gate.Verdict{verdictOf("a")}, "OtherCommand", deny, "a"},
		{"a command that is not known", plain, runs(pinned), []*gate.Verdict{verdictOf("a", func(v *gate.Verdict) { v.CommandDigest, v.ArgvDigest = "", "" })}, "OtherCommand", deny, "a"},
		{"an image that is mounted", plain, gate.Container{Name: "v", Role: gate.RoleImageVolume, Image: pinned}, []*gate.Verdict{verdictOf("a", failed)}, "Failed", deny, "a"},

		{"the image fails as it starts by itself", plain, runs(pinned, "sh"), []*gate.Verdict{verdictOf("a", failed)}, "Failed", deny, "a"},
		{"the same, where other commands are allowed", at(func(g *v1alpha1.Gate) { g.OnOtherCommand = allow }), runs(pinned, "$(SHELL)"), []*gate.Verdict{verdictOf("a", failed)}, "Failed", deny, "a"},
		{"a drift that is warned of does not admit another command", driftWarned, runs(pinned, "sh"), []*gate.Verdict{verdictOf("a", drifted)}, "OtherCommand", deny, "a"},
		{"it fails by itself, and passes with the command", plain, runs(pinned, node...), []*gate.Verdict{verdictOf("a", failed), verdictOf("b", started(node, nil))}, "Passed", allow, "b"},
		{"it fails with another command", at(func(g *v1alpha1.Gate) { g.OnOtherCommand = warn }), runs(pinned), []*gate.Verdict{verdictOf("a", started(node, nil), failed)}, "OtherCommand", deny, "a"},
		{"it passes with another command", at(func(g *v1alpha1.Gate) { g.OnOtherCommand = warn }), runs(pinned), []*gate.Verdict{verdictOf("a", started(node, nil))}, "OtherCommand", warn, "a"},
		{"it fails with one, and passes with another", at(func(g *v1alpha1.Gate) { g.OnOtherCommand = warn }), runs(pinned), []*gate.Verdict{verdictOf("a", started(node, nil), failed), verdictOf("b", started([]string{"sh"}, nil))}, "OtherCommand", warn, "a"},

		{"a tag that passed", plain, runs(tag), []*gate.Verdict{verdictOf("a")}, "NoDigest", deny, "a"},
		{"a tag that failed", plain, runs(tag), []*gate.Verdict{verdictOf("a", failed)}, "Failed", deny, "a"},
		{"a tag that was not audited", plain, runs("other:1"), []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"a tag, and drift that is allowed", driftAllowed, runs(tag), []*gate.Verdict{verdictOf("a", drifted)}, "NoDigest", deny, "a"},
		{"a tag, where what is not audited is admitted", at(func(g *v1alpha1.Gate) { g.OnMissing = warn }), runs(tag), []*gate.Verdict{verdictOf("a")}, "NoDigest", warn, "a"},
		{"a tag and a digest", plain, runs(tag + "@" + string(index)), []*gate.Verdict{verdictOf("a")}, "Passed", allow, "a"},
		{"S1: an ambiguous index", plain, runs(pinned), []*gate.Verdict{verdictOf("a", ambiguous)}, "NoDigest", deny, "a"},
		{"S1: the tag of an ambiguous index", plain, runs(tag), []*gate.Verdict{verdictOf("a", ambiguous)}, "NoDigest", deny, "a"},
		{"S1: the manifest that was run", plain, runs("x/y@" + string(platform)), []*gate.Verdict{verdictOf("a", ambiguous)}, "Passed", allow, "a"},
		{"an ambiguous index that failed", plain, runs(pinned), []*gate.Verdict{verdictOf("a", ambiguous, failed)}, "Failed", deny, "a"},
		{"S3: a manifest that is the config of what passed", plain, runs("x/y@" + string(config)), []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"S3: a kubelet that reports such a manifest", plain, gate.Container{Image: "x/y:1", Digests: []v1alpha1.Digest{config}}, []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"S3: the ID of what passed", plain, runs(string(config)), []*gate.Verdict{verdictOf("a")}, "Passed", allow, "a"},
		{"S3: an ID that is the digest of a manifest", plain, runs(string(platform)), []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},
		{"no image", plain, runs("NOT AN IMAGE"), []*gate.Verdict{verdictOf("a")}, "NotAudited", deny, ""},

		{"audits elsewhere do not count", plain, runs(pinned), []*gate.Verdict{verdictOf("a", by("other"))}, "NotAudited", deny, ""},
		{"failures elsewhere do not count", plain, runs(pinned), []*gate.Verdict{verdictOf("a"), verdictOf("b", by("other"), failed)}, "Passed", allow, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := gate.Decide(containers(test.container), factsOf(test.policy, test.verdicts...))
			if len(d.Opinions) != 1 {
				t.Fatalf("%d opinions", len(d.Opinions))
			}
			o := d.Opinions[0]
			by := ""
			if o.Verdict != nil {
				by = o.Verdict.Audit.Name
			}
			if o.Reason != test.reason || o.Action != test.action || by != test.by {
				t.Errorf("%s %s by %q, want %s %s by %q", o.Reason, o.Action, by, test.reason, test.action, test.by)
			}
			if d.Allowed != (test.action != deny) || (d.Message == "") != d.Allowed || (len(d.Warnings) == 1) != (test.action == warn) {
				t.Errorf("allowed %t, message %q, warnings %q", d.Allowed, d.Message, d.Warnings)
			}
		})
	}
}

// Each case has its action, in each mode.
func TestDecideByModeAndCase(t *testing.T) {
	for _, test := range []struct {
		name    string
		set     func(*v1alpha1.Gate, v1alpha1.GateAction)
		subject gate.Container
		verdict *gate.Verdict
		reason  v1alpha1.GateReason
	}{
		{"onMissing", func(g *v1alpha1.Gate, a v1alpha1.GateAction) { g.OnMissing = a }, runs("x"), verdictOf("a"), "NotAudited"},
		{"onMissing for another platform", func(g *v1alpha1.Gate, a v1alpha1.GateAction) { g.OnMissing = a }, runs(pinned), verdictOf("a", on("s390x")), "OtherPlatform"},
		{"onOtherCommand", func(g *v1alpha1.Gate, a v1alpha1.GateAction) { g.OnOtherCommand = a }, runs(pinned, "x"), verdictOf("a"), "OtherCommand"},
		{"onInconclusive", func(g *v1alpha1.Gate, a v1alpha1.GateAction) { g.OnInconclusive = v1alpha1.InconclusiveAction(a) }, runs(pinned), verdictOf("a", incomplete), "Inconclusive"},
		{"onDrift", func(g *v1alpha1.Gate, a v1alpha1.GateAction) { g.OnDrift = a }, runs(pinned), verdictOf("a", drifted), "Drifted"},
		{"onStale", func(g *v1alpha1.Gate, a v1alpha1.GateAction) { g.OnStale = a }, runs(pinned), verdictOf("a", halted), "Stale"},
	} {
		for _, mode := range []v1alpha1.GateMode{"Enforce", "Warn", "Audit"} {
			for _, action := range []v1alpha1.GateAction{deny, warn, allow} {
				policy := policyOf(gated(func(g *v1alpha1.Gate) { g.Mode = mode; test.set(g, action) }))
				d := gate.Decide(containers(test.subject), factsOf(policy, test.verdict))
				if o := d.Opinions[0]; o.Reason != test.reason || o.Action != action {
					t.Errorf("%s %s: %s %s", test.name, action, o.Reason, o.Action)
				}
				allowed := mode != "Enforce" || action != deny
				warned := mode != "Audit" && (action == warn || action == deny && mode == "Warn")
				if d.Allowed != allowed || (len(d.Warnings) == 1) != warned {
					t.Errorf("%s %s in mode %s: allowed %t, warnings %q", test.name, action, mode, d.Allowed, d.Warnings)
				}
			}
		}
	}
}

func TestDecideByPlatform(t *testing.T) {
	onlyArm := policyOf(gated(func(g *v1alpha1.Gate) { g.OnMissing = warn }))
	for _, test := range []struct {
		name    string
		image   gate.Container
		pinned  string
		nodes   []string
		verdict *gate.Verdict
		reason  v1alpha1.GateReason
	}{
		{"all nodes have it", runs(pinned), "", []string{"amd64"}, verdictOf("a", on("amd64")), "Passed"},
		{"some nodes have it", runs(pinned), "", []string{"amd64", "arm64"}, verdictOf("a", on("amd64")), "OtherPlatform"},
		{"no node has it", runs(pinned), "", []string{"arm64"}, verdictOf("a", on("amd64")), "OtherPlatform"},
		{"nodes are not known", runs(pinned), "", nil, verdictOf("a", on("amd64")), "OtherPlatform"},
		{"pinned to it", runs(pinned), "amd64", []string{"amd64", "arm64"}, verdictOf("a", on("amd64")), "Passed"},
		{"pinned to another", runs(pinned), "arm64", []string{"amd64"}, verdictOf("a", on("amd64")), "OtherPlatform"},
		{"an image for one", runs(pinned), "", []string{"amd64", "arm64"}, verdictOf("a"), "Passed"},
		{"the digest of the platform", runs("x@" + string(platform)), "", []string{"arm64", "amd64"}, verdictOf("a", on("amd64")), "Passed"},
		{"the digest of the index", runs(pinned), "", []string{"arm64", "amd64"}, verdictOf("a", on("amd64")), "OtherPlatform"},
		{"what fails on some nodes fails", runs(pinned), "", []string{"amd64", "arm64"}, verdictOf("a", on("amd64"), failed), "Failed"},
		{"what fails may fail on nodes that are not known", runs(pinned), "", nil, verdictOf("a", on("amd64"), failed), "Failed"},
		{"what fails on no node", runs(pinned), "", []string{"arm64"}, verdictOf("a", on("amd64"), failed), "OtherPlatform"},
		{"what fails on some nodes, by a command of its own", runs(pinned, "node"), "", []string{"amd64", "arm64"}, verdictOf("a", on("amd64"), started([]string{"node"}, nil), failed), "Failed"},
		{"what fails where it is not pinned to", runs(pinned), "arm64", []string{"amd64", "arm64"}, verdictOf("a", on("amd64"), failed), "OtherPlatform"},
	} {
		t.Run(test.name, func(t *testing.T) {
			subject, facts := containers(test.image), factsOf(onlyArm, test.verdict)
			subject.Architecture, facts.Architectures = test.pinned, test.nodes
			if o := gate.Decide(subject, facts).Opinions[0]; o.Reason != test.reason {
				t.Errorf("%s, want %s", o.Reason, test.reason)
			}
		})
	}
}

// An autoscaler adds nodes with the labels that a Pod requires.
func TestNodesThatDoNotExistYet(t *testing.T) {
	for verdict, reason := range map[*gate.Verdict]v1alpha1.GateReason{
		verdictOf("a", on("amd64")): "OtherPlatform", verdictOf("a", on("amd64"), failed): "Failed", verdictOf("a"): "Passed",
	} {
		subject := containers(runs(pinned))
		subject.NodesByLabel = true
		if o := gate.Decide(subject, factsOf(policyOf(), verdict)).Opinions[0]; o.Reason != reason {
			t.Errorf("a verdict on %q: %s, want %s", verdict.Architecture, o.Reason, reason)
		}
	}
}

// An index may have an image for Windows, which no audit runs.
func TestOtherSystems(t *testing.T) {
	for _, test := range []struct {
		architecture, system string
		reason               v1alpha1.GateReason
	}{
		{"", "", "OtherPlatform"}, {"amd64", "", "OtherPlatform"}, {"amd64", "windows", "OtherPlatform"}, {"", "windows", "OtherPlatform"},
		{"", "linux", "Passed"}, {"amd64", "linux", "Passed"},
	} {
		subject, facts := containers(runs(pinned)), factsOf(policyOf(), verdictOf("a", on("amd64")))
		subject.Architecture, subject.OS, facts.Architectures = test.architecture, test.system, []string{"amd64", "windows/amd64"}
		if o := gate.Decide(subject, facts).Opinions[0]; o.Reason != test.reason {
			t.Errorf("pinned to %q and %q: %s, want %s", test.architecture, test.system, o.Reason, test.reason)
		}
	}
}

// What was audited elsewhere does not excuse what was audited otherwise.
func TestAnotherPlatformDoesNotAdmitAnotherCommand(t *testing.T) {
	policy := policyOf(gated(func(g *v1alpha1.Gate) { g.OnMissing = allow }))
	node := started([]string{"node"}, nil)
	for _, verdicts := range [][]*gate.Verdict{{verdictOf("a", node)}, {verdictOf("a", node), verdictOf("b", on("arm64"), failed)}} {
		if d := gate.Decide(containers(runs(pinned)), factsOf(policy, verdicts...)); d.Allowed {
			t.Errorf("admitted: %s", d.Opinions[0].Sentence)
		}
	}
}

func TestAllPoliciesHaveToAdmit(t *testing.T) {
	lenient := policyOf(gated(func(g *v1alpha1.Gate) { g.OnMissing = allow }))
	cluster := gate.ReadClusterPolicy(&v1alpha1.ClusterMCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "all"},
		Spec:       v1alpha1.ClusterMCPAuditPolicySpec{Gate: &v1alpha1.Gate{}, Trust: &v1alpha1.Trust{AuditNamespaces: "All"}},
	})
	facts := factsOf(lenient)
	if d := gate.Decide(containers(runs(pinned)), facts); !d.Allowed {
		t.Error("one that allows denies")
	}
	facts.Policies = append(facts.Policies, cluster)
	d := gate.Decide(containers(runs(pinned)), facts)
	if d.Allowed || len(d.Opinions) != 2 || d.Opinions[0].Policy != cluster {
		t.Errorf("one of two that denies does not: %+v", d)
	}
	if d := gate.Decide(containers(), facts); !d.Allowed || len(d.Opinions) != 0 {
		t.Error("an object that runs nothing is denied")
	}
	if d := gate.Decide(containers(runs(pinned)), gate.Facts{}); !d.Allowed || d.Message != "" {
		t.Error("denied without a policy")
	}
}
