package offline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Namespace admins may write policies, each of which may trust all audits of the cluster. The
// manager holds all of their lists in memory, and etcd stores them.
const (
	// maxPolicies is the number of policies with lists in a namespace.
	maxPolicies = 16
	// maxBytes bounds the lists of all namespaces together. Those of ClusterMCPAuditPolicies
	// are the administrator's own and unbounded.
	maxBytes = 32 << 20
)

// budget collects objects within the limits.
type budget struct {
	Objects
	left int // bytes
	// full is set once a policy that trusts other namespaces' audits did not fit: later ones
	// are not tried.
	full bool
}

// turn is a policy and its position in its namespace.
type turn struct {
	*rule
	place int
}

// inTurns orders policies for the budget: those of the cluster, then the first of each
// namespace, the second of each, and so on, so no namespace with many policies crowds out
// others. Within a turn, lists about audits of their own namespace come first.
func inTurns(rules []*rule) []turn {
	of := map[string]int{}
	turns := make([]turn, len(rules))
	for i, r := range rules {
		turns[i] = turn{rule: r}
		if r.namespace != "" {
			of[r.namespace]++
			turns[i].place = of[r.namespace]
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.reach(), b.reach()))
	})
	return turns
}

// reach is 0 for a policy whose lists only cover audits of its own namespace.
func (r *rule) reach() int {
	if r.namespace != "" && r.trust.AuditNamespaces == v1alpha1.AuditsSame {
		return 0
	}
	return 1
}

// compile adds the objects of a policy, or records that they do not fit.
func (b *budget) compile(t turn, w World) {
	if t.place > maxPolicies {
		b.Problems[t.policy()] = fmt.Sprintf("the namespace has more than %d policies with gate.offline, and only the first by name have lists", maxPolicies)
		return
	}
	isBounded := t.namespace != ""
	if isBounded && b.full && t.reach() > 0 {
		b.refuse(t)
		return
	}
	objects, err := t.compileAll(w)
	if n := bytesOf(objects.Lists); isBounded && n > b.left {
		b.full = b.full || t.reach() > 0
		b.refuse(t)
		return
	} else if isBounded {
		b.left -= n
	}
	if err != nil {
		b.Problems[t.policy()] = err.Error()
	}
	b.Lists, b.Bindings = append(b.Lists, objects.Lists...), append(b.Bindings, objects.Bindings...)
	maps.Copy(b.Notes, objects.Notes)
	if !objects.Next.IsZero() {
		b.next(objects.Next)
	}
}

func (b *budget) refuse(t turn) {
	b.Problems[t.policy()] = fmt.Sprintf("the lists of the policies of all namespaces have more than %d MiB: trust fewer audits, or have fewer policies with gate.offline", maxBytes>>20)
}

// sort makes the order of the objects independent of the turns.
func (b *budget) sort() {
	slices.SortStableFunc(b.Lists, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(b.Bindings, func(a, b *admissionv1.ValidatingAdmissionPolicyBinding) int { return strings.Compare(a.Name, b.Name) })
}

func bytesOf(lists []*corev1.ConfigMap) int {
	n := 0
	for _, list := range lists {
		for key, value := range list.Data {
			n += len(key) + len(value)
		}
	}
	return n
}
