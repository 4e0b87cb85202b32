package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// world is a random case, small enough that everything meets everything.
type world struct {
	subject    gate.Subject
	policies   []*gate.Policy
	exceptions []*gate.Exception
	verdicts   []*gate.Verdict
	nodes      []string
}

const worlds = 3000

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func often(r *rand.Rand) bool { return r.IntN(4) > 0 }

// commands are command and args; the first two are one command line.
var commands = [][2][]string{
	{{"node", "s.js"}, nil}, {{"node"}, {"s.js"}}, {nil, nil}, {nil, {"--all"}}, {{"/server"}, nil}, {{"sh", "$(X)"}, nil},
}

func randomVerdict(r *rand.Rand, name string) *gate.Verdict {
	command := pick(r, commands...)
	v := verdictOf(name, by(pick(r, "team", "team", "audits", "other", "unknown")), aged(time.Duration(r.IntN(4))*time.Hour))
	if len(command[0])+len(command[1]) > 0 {
		started(command[0], command[1])(v)
	}
	v.Image, v.Architecture = pick(r, tag, "docker.io/library/x:latest"), pick(r, "", "", "amd64", "arm64")
	v.Digests, v.ImageID = pick(r, []v1alpha1.Digest{index, platform}, []v1alpha1.Digest{platform}, nil), pick(r, config, config, "")
	if len(v.Digests) < 2 {
		v.Ambiguous = pick(r, index, "")
	}
	if often(r) {
		traced(v)
		v.Exercise.Rounds = pick(r, int32(3), 3, 1)
	}
	for _, change := range []func(*gate.Verdict){failed, drifted, incomplete, halted, lastPassed} {
		if r.IntN(5) == 0 {
			change(v)
		}
	}
	v.Assurance.Level, v.PassedAssurance = pick[report.AssuranceLevel](r, "", "Full", "Partial", "Weak"), pick[report.AssuranceLevel](r, "", "Partial")
	if often(r) {
		enables(r.IntN(101), report.Exposed{Kind: "CommandExecution", Reach: pick(r, report.Reaches...)})(v)
	}
	if r.IntN(5) == 0 {
		v.Unsuppressed = v1alpha1.FindingCounts{}
	}
	return v
}

func randomPolicy(r *rand.Rand, name string) *gate.Policy {
	action := func() v1alpha1.GateAction { return pick(r, deny, deny, warn, allow) }
	g := v1alpha1.Gate{
		Mode: pick(r, v1alpha1.GateEnforce, v1alpha1.GateEnforce, v1alpha1.GateWarn, v1alpha1.GateAudit), FailOn: pick[v1alpha1.FailOn](r, "High", "Low", "Critical", "Never"),
		MinAssurance: pick[report.AssuranceLevel](r, "", "", "Partial", "Weak"), OnMissing: action(), OnOtherCommand: action(), OnDrift: action(), OnStale: action(), OnAltered: pick(r, allow, allow, warn, deny),
		OnInconclusive: pick(r, v1alpha1.InconclusiveAction(action()), v1alpha1.ActionLastVerdict),
	}
	if !often(r) {
		g.MaxAge = &metav1.Duration{Duration: 150 * time.Minute}
	}
	trust := &v1alpha1.Trust{AuditNamespaces: pick(r, v1alpha1.AuditsSame, v1alpha1.AuditsAll, v1alpha1.AuditsSelected), AllowSuppressions: !often(r), IgnoreExceptions: !often(r)}
	if trust.AuditNamespaces == v1alpha1.AuditsSelected {
		trust.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"audits": "yes"}}
	}
	match := &v1alpha1.ClusterMatch{}
	if !often(r) {
		match.Containers = []string{"c1"}
	}
	if r.IntN(20) == 0 {
		match.Images = []string{"notes"} // which cannot be read
	}
	meta := metav1.ObjectMeta{Namespace: "team", Name: name}
	limit := pick(r, nil, nil, &v1alpha1.ExposureLimit{MaxLevel: "Medium", Deny: []v1alpha1.DeniedExposure{{Kind: "CommandExecution", Reach: "Partial"}}})
	if often(r) {
		return gate.ReadPolicy(&v1alpha1.MCPAuditPolicy{ObjectMeta: meta, Spec: v1alpha1.MCPAuditPolicySpec{Gate: g, Exposure: limit, Trust: trust, Match: &match.Match}})
	}
	meta.Namespace = ""
	return gate.ReadClusterPolicy(&v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: meta, Spec: v1alpha1.ClusterMCPAuditPolicySpec{Gate: &g, Exposure: limit, Trust: trust, Match: match}})
}

func randomException(r *rand.Rand, name string) *gate.Exception {
	read, err := gate.ReadException(exceptionOf(func(e *v1alpha1.MCPAuditException) {
		e.Name = name
		e.Spec.PolicyRef.Name, e.Spec.PolicyRef.Kind = pick(r, "p0", "p1"), pick(r, gate.KindPolicy, gate.KindPolicy, gate.KindClusterPolicy)
		e.Spec.Images = []v1alpha1.Digest{pick(r, index, platform)}
		e.Spec.ExpiresAt = metav1.NewTime(now.Add(time.Duration(r.IntN(3)) * time.Hour))
		if !often(r) {
			selectingObjects(map[string]string{"app": "notes"})(e)
			e.Spec.Images = nil
		}
	}))
	if err != nil {
		panic(err)
	}
	return read
}

func randomWorld(r *rand.Rand) world {
	w := world{subject: containers(), nodes: pick(r, nil, []string{"amd64"}, []string{"amd64", "arm64"})}
	w.subject.Architecture, w.subject.NodesByLabel = pick(r, "", "", "amd64", "arm64"), r.IntN(4) == 0
	for i := range 1 + r.IntN(4) {
		command := pick(r, commands...)
		c := gate.Container{
			Name: fmt.Sprintf("c%d", i), Role: pick(r, gate.RoleContainer, gate.RoleInitContainer, gate.RoleImageVolume, gate.RoleServer),
			Image: pick(r, tag, "x", pinned, pinned, "y@"+string(platform), "y@"+string(config), string(config), string(index), "NONE"), Command: command[0], Args: command[1],
		}
		if r.IntN(6) == 0 {
			c.Digests, c.ImageID = pick(r, nil, []v1alpha1.Digest{platform}, []v1alpha1.Digest{config}), pick(r, "", "", config)
		}
		if r.IntN(4) == 0 {
			c.Additions.Mounts = []string{pick(r, "/app", "/data")}
		}
		if r.IntN(8) == 0 {
			c.Unclear = "It is odd."
		}
		w.subject.Containers = append(w.subject.Containers, c)
	}
	for i := range r.IntN(6) {
		w.verdicts = append(w.verdicts, randomVerdict(r, fmt.Sprintf("v%d", i)))
	}
	for i := range 1 + r.IntN(2) {
		w.policies = append(w.policies, randomPolicy(r, fmt.Sprintf("p%d", i)))
	}
	for i := range r.IntN(3) {
		w.exceptions = append(w.exceptions, randomException(r, fmt.Sprintf("e%d", i)))
	}
	return w
}

func (w world) decide() gate.Decision {
	return gate.Decide(w.subject, gate.Facts{
		Policies: w.policies, Exceptions: w.exceptions, Verdicts: storeOf(w.verdicts...),
		NamespaceLabels: namespaces, Architectures: w.nodes, Now: now,
	})
}

// shuffled is the same world in another order.
func (w world) shuffled(r *rand.Rand) world {
	w.subject.Containers, w.policies = slices.Clone(w.subject.Containers), slices.Clone(w.policies)
	w.exceptions, w.verdicts, w.nodes = slices.Clone(w.exceptions), slices.Clone(w.verdicts), slices.Clone(w.nodes)
	swap := func(n int, f func(i, j int)) { r.Shuffle(n, f) }
	swap(len(w.subject.Containers), func(i, j int) {
		w.subject.Containers[i], w.subject.Containers[j] = w.subject.Containers[j], w.subject.Containers[i]
	})
	swap(len(w.policies), func(i, j int) { w.policies[i], w.policies[j] = w.policies[j], w.policies[i] })
	swap(len(w.exceptions), func(i, j int) { w.exceptions[i], w.exceptions[j] = w.exceptions[j], w.exceptions[i] })
	swap(len(w.verdicts), func(i, j int) { w.verdicts[i], w.verdicts[j] = w.verdicts[j], w.verdicts[i] })
	swap(len(w.nodes), func(i, j int) { w.nodes[i], w.nodes[j] = w.nodes[j], w.nodes[i] })
	return w
}

func eachWorld(t *testing.T, check func(r *rand.Rand, w world, d gate.Decision) string) {
	t.Helper()
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := randomWorld(r)
		if problem := check(r, w, w.decide()); problem != "" {
			t.Fatalf("world %d: %s", seed, problem)
		}
	}
}

func TestDecisionsDoNotDependOnTheOrder(t *testing.T) {
	seen := map[v1alpha1.GateReason]int{}
	eachWorld(t, func(r *rand.Rand, w world, d gate.Decision) string {
		for _, o := range d.Opinions {
			seen[o.Reason]++
		}
		return cmp.Diff(d, w.shuffled(r).decide(), cmpopts.IgnoreUnexported(gate.Policy{}, gate.Exception{}))
	})
	for _, reason := range []v1alpha1.GateReason{"Passed", "Excepted", "Stale", "Inconclusive", "OtherPlatform", "OtherCommand", "NotAudited", "NoDigest", "Drifted", "Failed"} {
		if seen[reason] < worlds/100 {
			t.Errorf("only %d of %s: the worlds say little", seen[reason], reason)
		}
	}
}

// What another audit sees against an image admits nothing that was denied before.
func TestAFailingAuditNeverAdmits(t *testing.T) {
	eachWorld(t, func(r *rand.Rand, w world, d gate.Decision) string {
		bad := randomVerdict(r, "bad")
		bad.Findings = v1alpha1.FindingCounts{Critical: 1}
		bad.Unsuppressed = bad.Findings
		if slices.ContainsFunc(w.policies, func(p *gate.Policy) bool { return p.Gate.FailOn == v1alpha1.FailOnNever }) {
			return "" // to which it is none
		}
		w.verdicts = append(w.verdicts, bad)
		if after := w.decide(); after.Allowed && !d.Allowed {
			return "admitted, and denied before: " + d.Message
		}
		return ""
	})
}

func TestAnExceptionNeverDenies(t *testing.T) {
	eachWorld(t, func(r *rand.Rand, w world, d gate.Decision) string {
		w.exceptions = append(w.exceptions, randomException(r, "more"))
		if after := w.decide(); d.Allowed && !after.Allowed {
			return "denied by an exception: " + after.Message
		}
		return ""
	})
}

func TestAPolicyNeverAdmits(t *testing.T) {
	eachWorld(t, func(r *rand.Rand, w world, d gate.Decision) string {
		w.policies = append(w.policies, randomPolicy(r, "p2"))
		if after := w.decide(); after.Allowed && !d.Allowed {
			return "admitted by one more policy"
		}
		return ""
	})
}

// What is Passed rests on a verdict that the policy trusts, on the same image and
// command, which was complete or was so before, and below the threshold.
func TestUnknownIsNeverPassed(t *testing.T) {
	eachWorld(t, func(_ *rand.Rand, _ world, d gate.Decision) string {
		for _, o := range d.Opinions {
			if o.Reason != v1alpha1.GatePassed {
				continue
			}
			v, c := o.Verdict, o.Container
			full, named, err := gate.Reference(c.Image)
			digests := c.Digests
			if full != string(named) { // else it is the ID of an image
				digests = append(slices.Clone(digests), named)
			}
			sameImage := err == nil && named != "" && (full == string(v.ImageID) || c.ImageID != "" && c.ImageID == v.ImageID ||
				slices.ContainsFunc(v.Digests, func(d v1alpha1.Digest) bool { return slices.Contains(digests, d) }))
			sameCommand := v.CommandDigest == v1alpha1.CommandDigest(c.Command, c.Args) ||
				len(c.Command) > 0 && v.ArgvDigest == v1alpha1.CommandDigest(slices.Concat(c.Command, c.Args), nil)
			clear := c.Unclear == "" && !strings.Contains(fmt.Sprint(c.Command, c.Args), "$(")
			complete := v.Complete || !v.Passed.IsZero() && o.Policy.Gate.OnInconclusive == v1alpha1.ActionLastVerdict && o.Action == warn ||
				o.Policy.Gate.OnInconclusive == "Allow"
			if !sameImage || !sameCommand || !clear || !complete || !o.Policy.Trusts(v, "team", gate.Facts{NamespaceLabels: namespaces}) || o.Policy.Invalid != "" {
				return fmt.Sprintf("passed: %+v by %+v", c, v)
			}
		}
		return ""
	})
}
