package offline

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// The static policies, which also distinguish the lists.
const (
	policyDenied = "mcpaudit-denied"
	policyPassed = "mcpaudit-passed"
)

// Labels by which a binding finds its lists. The namespace is empty for a
// ClusterMCPAuditPolicy.
const (
	labelList      = "mcpaudit.dev/offline"
	labelPolicy    = "mcpaudit.dev/policy"
	labelNamespace = "mcpaudit.dev/policy-namespace"
)

// World is the input of the lists, besides the policies.
type World struct {
	Facts      gate.Facts
	Verdicts   []*gate.Verdict
	Exceptions []*v1alpha1.MCPAuditException
}

// Objects is the desired state.
type Objects struct {
	Lists    []*corev1.ConfigMap
	Bindings []*admissionv1.ValidatingAdmissionPolicyBinding
	// Problems has the reason for each policy without objects; its existing ones are left alone.
	Problems map[Policy]string
	// Notes say what the objects of a policy omit.
	Notes map[Policy]string
	// Next is when time alone changes the objects; zero for never.
	Next time.Time
}

// Policy identifies a policy.
type Policy struct {
	v1alpha1.PolicyReference
	// Namespace of an MCPAuditPolicy; empty for a ClusterMCPAuditPolicy.
	Namespace string
}

// rule is a policy with an offline gate.
type rule struct {
	kind, namespace, name string
	match                 v1alpha1.ClusterMatch
	gate                  v1alpha1.Gate
	trust                 v1alpha1.Trust
	// read is the policy without its match, which the API server evaluates.
	read *gate.Policy
}

// readPolicy and readClusterPolicy return nil for a policy without an offline gate.
func readPolicy(policy *v1alpha1.MCPAuditPolicy) *rule {
	p := policy.DeepCopy()
	read := gate.ReadPolicy(p)
	r := &rule{kind: gate.KindPolicy, namespace: p.Namespace, name: p.Name, gate: read.Gate, trust: read.Trust}
	if p.Spec.Match != nil {
		r.match.Match = *p.Spec.Match
	}
	if read.Invalid != "" || read.Gate.Offline == v1alpha1.OfflineNone {
		return nil
	}
	p.Spec.Match = nil
	r.read = gate.ReadPolicy(p)
	return r
}

func readClusterPolicy(policy *v1alpha1.ClusterMCPAuditPolicy) *rule {
	p := policy.DeepCopy()
	read := gate.ReadClusterPolicy(p)
	if read == nil || read.Invalid != "" || read.Gate.Offline == v1alpha1.OfflineNone {
		return nil
	}
	r := &rule{kind: gate.KindClusterPolicy, name: p.Name, gate: read.Gate, trust: read.Trust}
	if p.Spec.Match != nil {
		r.match = *p.Spec.Match
	}
	p.Spec.Match = nil
	r.read = gate.ReadClusterPolicy(p)
	return r
}

// Compile returns the objects of all policies. It is deterministic.
func Compile(policies []*v1alpha1.MCPAuditPolicy, clusterPolicies []*v1alpha1.ClusterMCPAuditPolicy, w World) Objects {
	return compileWithin(maxBytes, policies, clusterPolicies, w)
}

func compileWithin(bytes int, policies []*v1alpha1.MCPAuditPolicy, clusterPolicies []*v1alpha1.ClusterMCPAuditPolicy, w World) Objects {
	var rules []*rule
	for _, p := range policies {
		rules = append(rules, readPolicy(p))
	}
	for _, p := range clusterPolicies {
		rules = append(rules, readClusterPolicy(p))
	}
	w.Verdicts = slices.Clone(w.Verdicts)
	slices.SortFunc(w.Verdicts, func(a, b *gate.Verdict) int { return strings.Compare(a.Audit.String(), b.Audit.String()) })
	rules = slices.DeleteFunc(rules, func(r *rule) bool { return r == nil })
	slices.SortFunc(rules, func(a, b *rule) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	rules = slices.DeleteFunc(rules, func(r *rule) bool { return !r.isGated(w.Facts) })
	b := budget{Objects: Objects{Problems: map[Policy]string{}, Notes: map[Policy]string{}}, left: bytes}
	for _, r := range inTurns(rules) {
		b.compile(r, w)
	}
	b.sort()
	return b.Objects
}

func (r *rule) compileAll(w World) (Objects, error) {
	objects, lists := Objects{}, []string{policyDenied}
	if r.requires() {
		lists = append(lists, policyPassed)
	}
	var problems []error
	for _, list := range lists {
		problems = append(problems, r.compile(list, w, &objects))
	}
	return objects, errors.Join(problems...)
}

// isGated reports whether a policy can have an effect: one in a namespace outside the gate has
// no lists.
func (r *rule) isGated(facts gate.Facts) bool {
	if r.namespace == "" || facts.NamespaceLabels == nil {
		return true
	}
	set, known := facts.NamespaceLabels(r.namespace)
	return !known || set[v1alpha1.GateLabel] == v1alpha1.GateEnabled
}

func (r *rule) policy() Policy {
	return Policy{v1alpha1.PolicyReference{Kind: r.kind, Name: r.name}, r.namespace}
}

// requires reports whether the rule has an allow list: only if it denies images without an
// audit.
func (r *rule) requires() bool {
	return r.gate.Offline == v1alpha1.OfflineRequirePassed && r.gate.OnMissing == v1alpha1.ActionDeny
}

// prefix returns the prefix of the keys of a namespace.
func (r *rule) prefix(namespace string) string {
	if r.namespace == "" && r.trust.AuditNamespaces == v1alpha1.AuditsSame {
		return namespace + "."
	}
	return ""
}

// compile makes one list of a policy and its binding.
func (r *rule) compile(policy string, w World, into *Objects) error {
	header := r.header()
	excepted := r.exceptions(w, header, into)
	list := map[string][]string{}
	put := func(key string, lines []string) {
		if len(lines) > 0 {
			list[key] = lines
		}
	}
	subjects := r.subjects(w)
	if policy == policyPassed {
		for key := range excepted { // including those without verdicts
			if subjects[key] == nil {
				subjects[key] = &subject{}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(subjects)) {
		s := subjects[key]
		if policy == policyDenied {
			put(key, s.denied(r.read, w, excepted[key]))
			continue
		}
		if len(s.verdicts) == 0 {
			put(key, []string{line("*", "*", lineNone, excepted[key], "")})
			continue
		}
		put(key, s.passed(r.read, w, excepted[key]))
		into.ageing(r, s.verdicts, w.Facts.Now)
	}
	short := ""
	if policy == policyDenied {
		short = line("*", "*", lineDeny, "", "which has more verdicts than a list takes ("+header["policy"]+").")
	}
	if n := fit(list, short); n > 0 {
		into.note(r, "%d images have more verdicts than a list takes, and are denied: delete audits of them", n)
	}
	return r.objects(policy, header, fill(list), into)
}

// header returns the data that all shards of a list share.
func (r *rule) header() map[string]string {
	kind := "policy "
	if r.namespace == "" {
		kind = "cluster policy "
	}
	header := map[string]string{"policy": kind + r.name}
	if r.prefix("") != "" {
		header["same"] = "true"
	}
	if r.match.Images != nil {
		header["images"] = images(r.match.Images)
	}
	if r.match.Containers != nil {
		header["containers"] = strings.Join(r.match.Containers, ",")
	}
	if r.match.ObjectSelector != nil {
		header["selector"] = requirements(r.match.ObjectSelector)
	}
	return header
}

// exceptions writes a policy's exceptions into the header: by id, with namespace and selector.
// It returns their ids as ",id,id,", by the keys that they except.
func (r *rule) exceptions(w World, header map[string]string, into *Objects) map[string]string {
	found := map[string]string{}
	if r.trust.IgnoreExceptions {
		return found
	}
	var counting []*v1alpha1.MCPAuditException
	for _, e := range w.Exceptions {
		if r.excepts(e, w) {
			counting = append(counting, e)
		}
	}
	slices.SortFunc(counting, byName)
	counting, leftOut := listed(counting)
	if leftOut > 0 {
		into.note(r, "%d exceptions have no room in its lists, and admit nothing: shorten their selectors, or delete some", leftOut)
	}
	for _, e := range counting {
		into.next(e.Spec.ExpiresAt.Time)
		id := hash(e.Namespace + "/" + e.Name)
		header["x"+id] = e.Namespace + "\n" + requirements(e.Spec.ObjectSelector)
		if e.Spec.Images == nil {
			header["except"] += "," + id + ","
		}
		for _, digest := range e.Spec.Images {
			found[keyOf(r.prefix(e.Namespace), string(digest))] += "," + id + ","
		}
	}
	return found
}

// next schedules a recompilation.
func (o *Objects) next(at time.Time) {
	if o.Next.IsZero() || at.Before(o.Next) {
		o.Next = at
	}
}

// ageing schedules a recompilation for when a verdict becomes too old.
func (o *Objects) ageing(r *rule, verdicts []*gate.Verdict, now time.Time) {
	if r.gate.MaxAge == nil {
		return
	}
	for _, v := range verdicts {
		for _, at := range []time.Time{v.Time, v.Passed} {
			if end := at.Add(r.gate.MaxAge.Duration + time.Second); end.After(now) {
				o.next(end)
			}
		}
	}
}

// hash replaces names that are too long or have invalid characters. It must be
// collision-resistant: exception authors in one namespace must not find a name with another's
// hash.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// objects makes the ConfigMaps of a list and its binding.
func (r *rule) objects(policy string, header, list map[string]string, into *Objects) error {
	name := policy + ".cluster." + r.name
	if r.namespace != "" {
		name = policy + ".namespace." + r.namespace + "." + r.name
	}
	labels := map[string]string{labelList: policy, labelPolicy: r.name, labelNamespace: r.namespace}
	room := maxShard
	for key, value := range header {
		room -= len(key) + len(value)
	}
	if room < maxShard/4 {
		return fmt.Errorf("compile %s: what it matches and its exceptions take %d bytes, which leaves no room for a list", name, maxShard-room)
	}
	for _, data := range split(header, list, room) {
		into.Lists = append(into.Lists, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: options.SystemNamespace, Name: name + "." + hash(data["from"]), Labels: labels}, Data: data,
		})
	}
	into.Bindings = append(into.Bindings, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy, ValidationActions: actions(r.gate.Mode),
			ParamRef: &admissionv1.ParamRef{
				Namespace: options.SystemNamespace, Selector: &metav1.LabelSelector{MatchLabels: labels}, ParameterNotFoundAction: new(missing(policy)),
			},
			MatchResources: &admissionv1.MatchResources{
				NamespaceSelector: r.namespaces(), ObjectSelector: &metav1.LabelSelector{}, MatchPolicy: new(admissionv1.Equivalent),
				ResourceRules: resources(r.gate.Targets),
			},
		},
	})
	return nil
}

// missing returns what a deleted list means: an empty deny list, or an allow list that admits
// nothing.
func missing(policy string) admissionv1.ParameterNotFoundActionType {
	if policy == policyPassed {
		return admissionv1.DenyAction
	}
	return admissionv1.AllowAction
}

func actions(mode v1alpha1.GateMode) []admissionv1.ValidationAction {
	switch mode {
	case v1alpha1.GateWarn:
		return []admissionv1.ValidationAction{admissionv1.Warn, admissionv1.Audit}
	case v1alpha1.GateAudit:
		return []admissionv1.ValidationAction{admissionv1.Audit}
	}
	return []admissionv1.ValidationAction{admissionv1.Deny}
}
