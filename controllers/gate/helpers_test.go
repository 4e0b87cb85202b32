package gate_test

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// tag is the image of the tests, and pinned the same by the digest of its index.
const tag = "registry.example/notes:1"

var (
	index, platform, config = digest(1), digest(2), digest(3)
	pinned                  = "registry.example/notes@" + string(index)
)

func digest(n int) v1alpha1.Digest { return v1alpha1.Digest(fmt.Sprintf("sha256:%064x", n)) }

// policyOf makes a policy of namespace team.
func policyOf(change ...func(*v1alpha1.MCPAuditPolicySpec)) *gate.Policy {
	p := &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "default"}}
	for _, c := range change {
		c(&p.Spec)
	}
	return gate.ReadPolicy(p)
}

func gated(change func(*v1alpha1.Gate)) func(*v1alpha1.MCPAuditPolicySpec) {
	return func(s *v1alpha1.MCPAuditPolicySpec) { change(&s.Gate) }
}

func matching(change func(*v1alpha1.Match)) func(*v1alpha1.MCPAuditPolicySpec) {
	return func(s *v1alpha1.MCPAuditPolicySpec) {
		if s.Match == nil {
			s.Match = &v1alpha1.Match{}
		}
		change(s.Match)
	}
}

func trusting(trust v1alpha1.Trust) func(*v1alpha1.MCPAuditPolicySpec) {
	return func(s *v1alpha1.MCPAuditPolicySpec) { s.Trust = &trust }
}

// verdictOf makes a verdict that passed, on the image of the tests as it starts by itself.
func verdictOf(name string, change ...func(*gate.Verdict)) *gate.Verdict {
	own := v1alpha1.CommandDigest(nil, nil)
	v := &gate.Verdict{
		Audit: types.NamespacedName{Namespace: "team", Name: name}, Image: tag, Digests: []v1alpha1.Digest{index, platform}, ImageID: config,
		CommandDigest: own, ArgvDigest: v1alpha1.CommandDigest([]string{"/server"}, nil),
		Complete: true, Reason: "Passed", Time: now.Add(-time.Hour),
	}
	for _, c := range change {
		c(v)
	}
	return v
}

// ambiguous is an index of which runtimes could run another manifest.
func ambiguous(v *gate.Verdict) { v.Digests, v.Ambiguous = []v1alpha1.Digest{platform}, index }

func failed(v *gate.Verdict) {
	v.Findings = v1alpha1.FindingCounts{High: 2, Low: 1}
	v.Unsuppressed, v.Reason = v.Findings, "FindingsAboveThreshold"
}

func drifted(v *gate.Verdict)    { v.Drifted, v.Reason = true, "ManifestDrifted" }
func incomplete(v *gate.Verdict) { v.Complete, v.Reason = false, "Timeout" }
func halted(v *gate.Verdict)     { v.Halted, v.Reason = true, "Suspended" }
func lastPassed(v *gate.Verdict) {
	incomplete(v)
	v.Passed, v.PassedFailOn = now.Add(-2*time.Hour), "High"
}

func aged(age time.Duration) func(*gate.Verdict) {
	return func(v *gate.Verdict) { v.Time = now.Add(-age) }
}

func by(namespace string) func(*gate.Verdict) {
	return func(v *gate.Verdict) { v.Audit.Namespace = namespace }
}

func on(architecture string) func(*gate.Verdict) {
	return func(v *gate.Verdict) { v.Architecture = architecture }
}

// started is an audit with a command line of its own.
func started(command, args []string) func(*gate.Verdict) {
	return func(v *gate.Verdict) {
		v.CommandDigest, v.ArgvDigest = v1alpha1.CommandDigest(command, args), ""
		if len(command) > 0 {
			v.ArgvDigest = v1alpha1.CommandDigest(append(append([]string{}, command...), args...), nil)
		}
	}
}

// store has verdicts as the index has.
type store struct {
	digests, ids map[v1alpha1.Digest][]*gate.Verdict
	images       map[string][]*gate.Verdict
}

func (s store) ByDigest(d v1alpha1.Digest) []*gate.Verdict  { return s.digests[d] }
func (s store) ByImageID(d v1alpha1.Digest) []*gate.Verdict { return s.ids[d] }
func (s store) ByImage(image string) []*gate.Verdict        { return s.images[image] }

func storeOf(verdicts ...*gate.Verdict) store {
	s := store{map[v1alpha1.Digest][]*gate.Verdict{}, map[v1alpha1.Digest][]*gate.Verdict{}, map[string][]*gate.Verdict{}}
	for _, v := range verdicts {
		for _, d := range v.Manifests() {
			s.digests[d] = append(s.digests[d], v)
		}
		s.ids[v.ImageID] = append(s.ids[v.ImageID], v)
		s.images[v.Image] = append(s.images[v.Image], v)
	}
	return s
}

// containers makes a Deployment of namespace team.
func containers(all ...gate.Container) gate.Subject {
	return gate.Subject{
		Kind: "Deployment", Namespace: "team", Name: "notes", Target: v1alpha1.TargetWorkloads,
		Labels: map[string]string{"app": "notes"}, TemplateLabels: map[string]string{"tier": "tools"}, Containers: all,
	}
}

func runs(image string, words ...string) gate.Container {
	return gate.Container{Name: "server", Role: gate.RoleContainer, Image: image, Command: words}
}

// namespaces are known by their labels: each has its name, and those of "audits" are
// trusted.
func namespaces(name string) (labels.Set, bool) {
	set := labels.Set{"kubernetes.io/metadata.name": name}
	if strings.HasPrefix(name, "audits") {
		set["audits"] = "yes"
	}
	return set, name != "unknown"
}

func factsOf(policy *gate.Policy, verdicts ...*gate.Verdict) gate.Facts {
	return gate.Facts{
		Policies: []*gate.Policy{policy}, Verdicts: storeOf(verdicts...), NamespaceLabels: namespaces,
		Architectures: []string{"amd64"}, Now: now,
	}
}

var auditsSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"audits": "yes"}}
