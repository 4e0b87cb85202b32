package discovery

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// input is the known state of the cluster.
type input struct {
	Policies []v1alpha1.ClusterMCPAuditPolicy
	// Namespaces are the labels of the namespaces that exist.
	Namespaces map[string]labels.Set
	// Own are the namespaces of the operator.
	Own []string
	// Sources are the states of the sources that the policies want.
	Sources map[v1alpha1.DiscoverySource]sourceState
	// Candidates are the objects of the sources that are watched.
	Candidates []*candidate
	// Audits are all that exist. They are not changed.
	Audits []v1alpha1.MCPServerAudit
}

// sourceState is the state of a source; Message says what is wrong, if anything is.
type sourceState struct {
	State   v1alpha1.DiscoverySourceState
	Message string
	// Unread means that the CRD is installed but not read, such as another version, so which
	// objects exist is unknown.
	Unread bool
}

// plan is the desired state.
type plan struct {
	Wanted   []wantedAudit
	Unwanted []*v1alpha1.MCPServerAudit
	// Outcomes of the active policies, in order of precedence.
	Outcomes []*policyOutcome
}

// wantedAudit is an audit that should exist.
type wantedAudit struct {
	Key       types.NamespacedName
	Candidate *candidate
	// Audit is the existing one, or nil.
	Audit   *v1alpha1.MCPServerAudit
	Outcome *policyOutcome
}

// policyOutcome is the result of one policy.
type policyOutcome struct {
	Policy *v1alpha1.ClusterMCPAuditPolicy
	// Invalid is the error of an invalid spec, whose audits stay as they are.
	Invalid error
	// Discovered counts servers by source.
	Discovered map[v1alpha1.DiscoverySource]int32
	Skipped    []v1alpha1.SkippedServer
	// Audited counts audits that are up to date, Waiting those that are not yet.
	Audited, Waiting int32
	// Problem says why the first of those waits.
	Problem error
}

type planner struct {
	input
	plan    plan
	audits  map[types.NamespacedName]*v1alpha1.MCPServerAudit // that exist
	wanted  map[types.NamespacedName]bool
	claimed map[types.UID]string // by the name of a policy
	kept    map[string]bool      // policies whose audits stay regardless
}

// newPlan decides what is audited. It is a pure function: the order of its input does not
// matter.
func newPlan(in input) plan {
	p := &planner{
		input: in, audits: map[types.NamespacedName]*v1alpha1.MCPServerAudit{}, wanted: map[types.NamespacedName]bool{},
		claimed: map[types.UID]string{}, kept: map[string]bool{},
	}
	for i := range in.Audits {
		p.audits[keyOf(&in.Audits[i])] = &in.Audits[i]
	}
	p.Candidates = slices.SortedFunc(slices.Values(in.Candidates), older)
	policies := slices.Clone(in.Policies)
	slices.SortFunc(policies, func(a, b v1alpha1.ClusterMCPAuditPolicy) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range policies {
		if policies[i].DeletionTimestamp.IsZero() {
			p.follow(&policies[i])
		}
	}
	for i := range in.Audits {
		if audit := &in.Audits[i]; p.unwanted(audit) {
			p.plan.Unwanted = append(p.plan.Unwanted, audit)
		}
	}
	return p.plan
}

// older orders candidates by age, then by identity.
func older(a, b *candidate) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.kindName(), b.kindName()))
}

// follow applies one policy to what older ones have left.
func (p *planner) follow(policy *v1alpha1.ClusterMCPAuditPolicy) {
	outcome := &policyOutcome{Policy: policy, Discovered: map[v1alpha1.DiscoverySource]int32{}}
	p.plan.Outcomes = append(p.plan.Outcomes, outcome)
	discovery := policy.Spec.Discovery
	if discovery == nil {
		return
	}
	selector, err := selectorOf(discovery)
	if err != nil {
		outcome.Invalid = err
		p.kept[policy.Name] = true
		return
	}
	selected := p.selected(discovery, selector)
	found := map[types.UID]*candidate{}
	for _, c := range selected {
		found[c.UID] = c
	}
	room := int(discovery.Max) - p.unread(policy.Name)
	for _, c := range selected {
		outcome.Discovered[c.Source]++
		if reason, message := p.skip(c, policy, found[c.Controller], room); reason != "" {
			outcome.skip(c, reason, message)
			continue
		}
		room--
		key := c.auditKey()
		p.wanted[key] = true
		p.plan.Wanted = append(p.plan.Wanted, wantedAudit{Key: key, Candidate: c, Audit: p.audits[key], Outcome: outcome})
	}
}

// selectorOf returns the namespace selector; without one, all are selected.
func selectorOf(discovery *v1alpha1.Discovery) (labels.Selector, error) {
	if discovery.NamespaceSelector == nil {
		return labels.Everything(), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(discovery.NamespaceSelector)
	if err != nil {
		return nil, fmt.Errorf("spec.discovery.namespaceSelector: %w", err)
	}
	return selector, nil
}

// sourcesOf returns the sources of a policy.
func sourcesOf(discovery *v1alpha1.Discovery) []v1alpha1.DiscoverySource {
	if len(discovery.Sources) == 0 {
		return v1alpha1.DiscoverySources
	}
	return discovery.Sources
}

func (p *planner) selected(discovery *v1alpha1.Discovery, selector labels.Selector) []*candidate {
	var selected []*candidate
	sources := sourcesOf(discovery)
	for _, c := range p.Candidates {
		namespace, exists := p.Namespaces[c.Namespace]
		if exists && c.DeletionTimestamp.IsZero() && slices.Contains(sources, c.Source) &&
			!slices.Contains(p.Own, c.Namespace) && selector.Matches(namespace) {
			selected = append(selected, c)
		}
	}
	return selected
}

// unread counts a policy's audits whose sources cannot be read at the moment. They keep their
// places, or each restart would briefly give those to others.
func (p *planner) unread(policy string) int {
	count := 0
	for i := range p.Audits {
		if audit := &p.Audits[i]; audit.Labels[LabelDiscoveredBy] == policy && ours(audit) && p.pending(audit) {
			count++
		}
	}
	return count
}

// pending reports whether it is unknown if the source of an audit exists.
func (p *planner) pending(audit *v1alpha1.MCPServerAudit) bool {
	r, known := resourceOf(audit.Labels[LabelSourceKind])
	source := p.Sources[r.source]
	return known && (source.State == v1alpha1.SourcePending || source.Unread)
}

// skip returns why a candidate is not audited. One that cannot be audited takes no place.
func (p *planner) skip(c *candidate, policy *v1alpha1.ClusterMCPAuditPolicy, controller *candidate, room int) (v1alpha1.SkipReason, string) {
	if other, claimed := p.claimed[c.UID]; claimed {
		return v1alpha1.SkipOtherPolicy, fmt.Sprintf("The older policy %s selects it as well.", other)
	}
	p.claimed[c.UID] = policy.Name
	key := c.auditKey()
	audit := p.audits[key]
	switch {
	case controller != nil:
		return v1alpha1.SkipDuplicate, fmt.Sprintf("It belongs to the %s %s, which was found itself.", controller.kindName(), controller.Name)
	case c.NotAuditable != "":
		return v1alpha1.SkipNotAuditable, c.NotAuditable
	case audit != nil && !ours(audit), p.wanted[key]:
		return v1alpha1.SkipNameTaken, nameTaken(key.Name)
	case room <= 0:
		return v1alpha1.SkipBeyondMax, fmt.Sprintf("%d older servers are audited, which is spec.discovery.max.", policy.Spec.Discovery.Max)
	}
	return "", ""
}

func nameTaken(audit string) string {
	return fmt.Sprintf("The MCPServerAudit %s exists, and discovery did not make it for this server. It is left alone: it audits what it says.", audit)
}

func (o *policyOutcome) skip(c *candidate, reason v1alpha1.SkipReason, message string) {
	o.Skipped = append(o.Skipped, v1alpha1.SkippedServer{
		Kind: c.kindName(), Namespace: c.Namespace, Name: c.Name, Reason: reason, Message: message,
	})
}

func (p *planner) unwanted(audit *v1alpha1.MCPServerAudit) bool {
	return ours(audit) && audit.DeletionTimestamp.IsZero() && !p.wanted[keyOf(audit)] &&
		!p.kept[audit.Labels[LabelDiscoveredBy]] && !p.pending(audit)
}

func keyOf(audit *v1alpha1.MCPServerAudit) types.NamespacedName {
	return types.NamespacedName{Namespace: audit.Namespace, Name: audit.Name}
}

func (c *candidate) auditKey() types.NamespacedName {
	r, _ := resourceOf(c.kindName()) // candidates are made of resources
	return types.NamespacedName{Namespace: c.Namespace, Name: auditName(r, c.Name)}
}
