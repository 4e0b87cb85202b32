package drift

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// policy is a policy with a gate, as it was last read.
type policy struct {
	// object is the cached MCPAuditPolicy or ClusterMCPAuditPolicy, which must not be modified.
	object     client.Object
	generation int64
	gate       *gate.Policy
	// owned is the policy as applied to the Pods of workloads.
	owned *gate.Policy
	// announced tracks the policy's events.
	announced eventLog
}

// policies has the policies with a gate, by UID.
type policies struct {
	all map[types.UID]*policy
	// of maps the gate's policy back.
	of map[*gate.Policy]*policy
}

// learn reads changed policies and notes whom they concern.
func (p *policies) learn(namespaced []v1alpha1.MCPAuditPolicy, cluster []v1alpha1.ClusterMCPAuditPolicy, n *news) {
	seen := map[types.UID]bool{}
	learn := func(object client.Object, targets []v1alpha1.GateTarget, read func([]v1alpha1.GateTarget) *gate.Policy) {
		known := p.all[object.GetUID()]
		if known == nil || known.generation != object.GetGeneration() {
			fresh := &policy{generation: object.GetGeneration(), gate: read(targets)}
			if fresh.owned = fresh.gate; ofWorkloads(targets) {
				fresh.owned = read(nil)
			}
			if known != nil {
				fresh.announced = known.announced
			}
			known, p.all[object.GetUID()] = fresh, fresh
			n.concern(object.GetNamespace())
		}
		known.object, seen[object.GetUID()] = object, true
	}
	for i := range namespaced {
		if object := &namespaced[i]; object.DeletionTimestamp.IsZero() {
			learn(object, object.Spec.Gate.Targets, func(targets []v1alpha1.GateTarget) *gate.Policy {
				of := *object
				of.Spec.Gate.Targets = targets
				return gate.ReadPolicy(&of)
			})
		}
	}
	for i := range cluster {
		if object := &cluster[i]; object.DeletionTimestamp.IsZero() && object.Spec.Gate != nil {
			learn(object, object.Spec.Gate.Targets, func(targets []v1alpha1.GateTarget) *gate.Policy {
				of, its := *object, *object.Spec.Gate
				its.Targets, of.Spec.Gate = targets, &its
				return gate.ReadClusterPolicy(&of)
			})
		}
	}
	p.of = make(map[*gate.Policy]*policy, 2*len(p.all))
	for uid, known := range p.all {
		if !seen[uid] {
			delete(p.all, uid)
			n.concern(known.gate.Namespace)
			continue
		}
		p.of[known.gate], p.of[known.owned] = known, known
	}
}

// concern notes a changed policy: of a namespace, or of the cluster.
func (n *news) concern(namespace string) {
	if namespace == "" {
		n.all = true
	} else {
		n.namespaces[namespace] = true
	}
}

// ofWorkloads reports whether a policy targets workloads but not Pods: it applies to their Pods
// all the same. One that only targets MCPServer objects does not, as a Pod does not show
// whether it belongs to one.
func ofWorkloads(targets []v1alpha1.GateTarget) bool {
	return slices.Contains(targets, v1alpha1.TargetWorkloads) && !slices.Contains(targets, v1alpha1.TargetPods)
}

// factsOf returns the facts of a group: the policies and exceptions that may apply to it, built
// once per namespace.
func (p *policies) factsOf(facts gate.Facts) func(g *group) gate.Facts {
	type place struct {
		namespace string
		owned     bool
	}
	made := map[place]gate.Facts{}
	ordered := slices.SortedFunc(maps.Values(p.all), func(a, b *policy) int { return compareNames(a.object, b.object) })
	return func(g *group) gate.Facts {
		at := place{g.Subject.Namespace, g.Owned}
		if have, ok := made[at]; ok {
			return have
		}
		own := facts
		own.Policies, own.Exceptions = nil, nil
		for _, known := range ordered {
			if known.gate.Namespace != "" && known.gate.Namespace != at.namespace {
				continue
			}
			if at.owned {
				own.Policies = append(own.Policies, known.owned)
			} else {
				own.Policies = append(own.Policies, known.gate)
			}
		}
		for _, e := range facts.Exceptions {
			if e.Namespace == at.namespace {
				own.Exceptions = append(own.Exceptions, e)
			}
		}
		made[at] = own
		return own
	}
}
