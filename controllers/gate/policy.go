package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// The kinds of policies in references.
const (
	KindPolicy        = "MCPAuditPolicy"
	KindClusterPolicy = "ClusterMCPAuditPolicy"
)

// match is the scope of a policy. Nil fields match everything.
type match struct {
	namespaces, objects labels.Selector
	images              []glob
	// patterns is the length of images: comparing an image with them takes time in proportion to it
	// and to the image's own length.
	patterns   int
	containers map[string]bool
}

// severities of findings, worst first.
var severities = []v1alpha1.FailOn{"Critical", "High", "Medium", "Low", "Info"}

// ReadPolicy reads an MCPAuditPolicy.
func ReadPolicy(policy *v1alpha1.MCPAuditPolicy) *Policy {
	trust := ptr.Deref(policy.Spec.Trust, v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsSame})
	match := v1alpha1.ClusterMatch{Match: ptr.Deref(policy.Spec.Match, v1alpha1.Match{})}
	ref := v1alpha1.PolicyReference{Kind: KindPolicy, Name: policy.Name}
	return read(ref, policy.Namespace, match, policy.Spec.Gate, policy.Spec.Exposure, trust)
}

// ReadClusterPolicy reads a ClusterMCPAuditPolicy; nil without a gate.
func ReadClusterPolicy(policy *v1alpha1.ClusterMCPAuditPolicy) *Policy {
	if policy.Spec.Gate == nil {
		return nil
	}
	trust := ptr.Deref(policy.Spec.Trust, v1alpha1.Trust{}) // missing, which is invalid
	match := ptr.Deref(policy.Spec.Match, v1alpha1.ClusterMatch{})
	ref := v1alpha1.PolicyReference{Kind: KindClusterPolicy, Name: policy.Name}
	return read(ref, "", match, *policy.Spec.Gate, policy.Spec.Exposure, trust)
}

// read parses what both kinds have in common. An invalid part does not narrow the policy: it
// then applies to everything in its scope.
func read(ref v1alpha1.PolicyReference, namespace string, m v1alpha1.ClusterMatch, gate v1alpha1.Gate, exposure *v1alpha1.ExposureLimit, trust v1alpha1.Trust) *Policy {
	p := &Policy{Ref: ref, Namespace: namespace, Gate: withDefaults(gate), Exposure: exposure, Trust: trust}
	var problems []error
	selector := func(field string, from *metav1.LabelSelector) labels.Selector {
		if from == nil {
			return nil
		}
		selector, err := metav1.LabelSelectorAsSelector(from)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", field, err))
			return nil
		}
		return selector
	}
	p.match.namespaces = selector("spec.match.namespaceSelector", m.NamespaceSelector)
	p.match.objects = selector("spec.match.objectSelector", m.ObjectSelector)
	p.trusted = selector("spec.trust.namespaceSelector", trust.NamespaceSelector)
	unreadable := false
	for _, pattern := range m.Images {
		g, err := readGlob(pattern)
		if err != nil {
			problems, unreadable = append(problems, fmt.Errorf("spec.match.images: %w", err)), true
		}
		p.match.images = append(p.match.images, g)
		if strings.Contains(pattern, "*") {
			p.match.patterns += len(pattern)
		}
	}
	if unreadable {
		p.match.images = nil
	}
	if len(m.Containers) > 0 {
		p.match.containers = map[string]bool{}
		for _, name := range m.Containers {
			p.match.containers[name] = true
		}
	}
	problems = append(problems, p.checkGate(), p.checkExposure(), p.checkTrust())
	if first := cmp.Or(problems...); first != nil {
		p.Invalid = excerpt.Line(first.Error(), maxInvalid)
	}
	return p
}

// maxInvalid bounds Invalid in bytes.
const maxInvalid = 256

// withDefaults applies the CRD's defaults, for a policy that did not come from the API server.
func withDefaults(gate v1alpha1.Gate) v1alpha1.Gate {
	gate.Mode = cmp.Or(gate.Mode, v1alpha1.GateEnforce)
	gate.FailOn = cmp.Or(gate.FailOn, "High")
	gate.OnMissing = cmp.Or(gate.OnMissing, v1alpha1.ActionDeny)
	gate.OnOtherCommand = cmp.Or(gate.OnOtherCommand, v1alpha1.ActionDeny)
	gate.OnAltered = cmp.Or(gate.OnAltered, v1alpha1.ActionAllow)
	gate.OnInconclusive = cmp.Or(gate.OnInconclusive, v1alpha1.InconclusiveAction(v1alpha1.ActionDeny))
	gate.OnDrift = cmp.Or(gate.OnDrift, v1alpha1.ActionDeny)
	gate.OnStale = cmp.Or(gate.OnStale, v1alpha1.ActionDeny)
	gate.Offline = cmp.Or(gate.Offline, v1alpha1.OfflineDenyFailed)
	return gate
}

// checkGate rejects values that this version does not know, as a later CRD may allow, and
// parses the threshold. An unknown mode enforces.
func (p *Policy) checkGate() error {
	var problems []error
	check := func(field, word string, known ...string) bool {
		ok := slices.Contains(known, word)
		if !ok {
			problems = append(problems, fmt.Errorf("spec.gate.%s: %q is not known", field, word))
		}
		return ok
	}
	if !check("mode", string(p.Gate.Mode), "Enforce", "Warn", "Audit") {
		p.Gate.Mode = v1alpha1.GateEnforce
	}
	if p.Gate.FailOn != v1alpha1.FailOnNever {
		p.counting = slices.Index(severities, p.Gate.FailOn) + 1
		check("failOn", string(p.Gate.FailOn), "Critical", "High", "Medium", "Low", "Info")
	}
	if p.Gate.MinAssurance != "" {
		check("minAssurance", string(p.Gate.MinAssurance), "Full", "Partial", "Weak")
	}
	for _, action := range []struct{ field, word string }{
		{"onMissing", string(p.Gate.OnMissing)}, {"onOtherCommand", string(p.Gate.OnOtherCommand)}, {"onAltered", string(p.Gate.OnAltered)},
		{"onDrift", string(p.Gate.OnDrift)}, {"onStale", string(p.Gate.OnStale)},
	} {
		check(action.field, action.word, "Deny", "Warn", "Allow")
	}
	check("onInconclusive", string(p.Gate.OnInconclusive), "Deny", "Warn", "Allow", "LastVerdict")
	check("offline", string(p.Gate.Offline), "None", "DenyFailed", "RequirePassed")
	if p.Gate.MaxAge != nil && p.Gate.MaxAge.Duration <= 0 {
		problems = append(problems, errors.New("spec.gate.maxAge: must be more than 0"))
	}
	for _, target := range p.Gate.Targets {
		if !check("targets", string(target), "Pods", "Workloads", "MCPServers") {
			p.Gate.Targets = nil
		}
	}
	return errors.Join(problems...)
}

func (p *Policy) checkTrust() error {
	switch p.Trust.AuditNamespaces {
	case v1alpha1.AuditsSame, v1alpha1.AuditsAll:
		return nil
	case v1alpha1.AuditsSelected:
		if p.Trust.NamespaceSelector == nil {
			return errors.New("spec.trust.namespaceSelector: auditNamespaces Selected needs it")
		}
		return nil
	}
	return fmt.Errorf("spec.trust.auditNamespaces: %q is not known", p.Trust.AuditNamespaces)
}

// Selects reports whether a policy applies to a namespace that is in the gate. Policies apply
// to unknown namespaces.
func (p *Policy) Selects(namespace string, facts Facts) bool {
	if p.Namespace != "" {
		return p.Namespace == namespace
	}
	if p.match.namespaces == nil || p.match.namespaces.Empty() {
		return true
	}
	set, known := namespaceLabels(namespace, facts)
	return !known || p.match.namespaces.Matches(set)
}

func (p *Policy) targets(target v1alpha1.GateTarget) bool {
	return len(p.Gate.Targets) == 0 || slices.Contains(p.Gate.Targets, target)
}

// selectsObject reports whether a policy applies to an object in a selected namespace.
func (p *Policy) selectsObject(subject Subject) bool {
	return p.targets(subject.Target) && matchesObject(p.match.objects, subject)
}

// matchesObject reports whether a selector matches an object's labels or those of its Pods.
func matchesObject(selector labels.Selector, subject Subject) bool {
	return selector == nil || selector.Matches(labels.Set(subject.Labels)) ||
		subject.TemplateLabels != nil && selector.Matches(labels.Set(subject.TemplateLabels))
}

// selectsContainer reports whether a policy applies to a container of a selected object.
func (p *Policy) selectsContainer(container Container, image name) bool {
	if p.match.containers != nil && container.Role != RoleServer && !p.match.containers[container.Name] {
		return false
	}
	return p.match.images == nil || slices.ContainsFunc(p.match.images, func(g glob) bool { return g.matches(image) })
}

// Trusts reports whether a verdict counts for workloads in a namespace. If the namespace's
// labels are unknown, it does not.
func (p *Policy) Trusts(verdict *Verdict, subjectNamespace string, facts Facts) bool {
	switch p.Trust.AuditNamespaces {
	case v1alpha1.AuditsSame:
		return verdict.Audit.Namespace == subjectNamespace
	case v1alpha1.AuditsAll:
		return true
	case v1alpha1.AuditsSelected:
		set, known := namespaceLabels(verdict.Audit.Namespace, facts)
		return known && p.trusted != nil && p.trusted.Matches(set)
	}
	return false
}

func namespaceLabels(namespace string, facts Facts) (labels.Set, bool) {
	if facts.NamespaceLabels == nil {
		return nil, false
	}
	return facts.NamespaceLabels(namespace)
}

// older reports whether a time is more than maxAge ago.
func (p *Policy) older(when, now time.Time) bool {
	return p.Gate.MaxAge != nil && now.Sub(when) > p.Gate.MaxAge.Duration
}
