package drift

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

// place is the subject of an event: an owner's containers of one name.
type place struct{ namespace, owner, container string }

// tally counts the running containers that a policy applies to.
type tally struct {
	containers, violating int32
	running               map[v1alpha1.RunningViolation]int32
	// places have one group each, for the message.
	places map[place]*group
}

// count sums the judgements. It is linear in the groups and does not ask the gate.
func count(groups iter.Seq[*group], p *policies) (map[*policy]*tally, map[metrics.RunningContainer]int) {
	sums, fleet := map[*policy]*tally{}, map[metrics.RunningContainer]int{}
	for _, known := range p.all {
		sums[known] = &tally{running: map[v1alpha1.RunningViolation]int32{}, places: map[place]*group{}}
	}
	for g := range groups {
		worst := make([]*opinion, len(g.Subject.Containers))
		for i := range g.opinions {
			o := &g.opinions[i]
			if sum := sums[p.of[o.policy]]; sum != nil {
				sum.add(g, o)
			}
			if w := worst[o.container]; w == nil || w.violates == o.violates && rank(o.reason) > rank(w.reason) || !w.violates && o.violates {
				worst[o.container] = o
			}
		}
		for _, o := range worst {
			if o != nil {
				fleet[metrics.RunningContainer{Reason: o.reason, Denied: o.violates}] += int(g.pods)
			}
		}
	}
	return sums, fleet
}

func (t *tally) add(g *group, o *opinion) {
	t.containers += g.pods
	if !o.violates {
		return
	}
	c := g.Subject.Containers[o.container]
	t.violating += g.pods
	t.running[v1alpha1.RunningViolation{
		Namespace: g.Subject.Namespace, Owner: excerpt.Line(g.Owner, maxOwner), Container: c.Name,
		Image: excerpt.Line(c.Image, maxImage), ImageID: excerpt.Line(g.ImageIDs[o.container], maxImage), Reason: o.reason,
	}] += g.pods
	at := place{g.Subject.Namespace, g.Owner, c.Name}
	if have := t.places[at]; have == nil || slices.Compare(have.sum[:], g.sum[:]) > 0 {
		t.places[at] = g
	}
}

// The limits of a RunningViolation's texts in bytes, as in the CRD.
const (
	maxOwner = 320
	maxImage = 512
)

// reasons from good to bad, as in the API.
var reasons = []v1alpha1.GateReason{
	v1alpha1.GatePassed, v1alpha1.GateExcepted, v1alpha1.GateLittleExercised, v1alpha1.GateWeaklyExercised, v1alpha1.GateExposureUnknown, v1alpha1.GateStale, v1alpha1.GateInconclusive, v1alpha1.GateOtherPlatform,
	v1alpha1.GateOtherEnvironment, v1alpha1.GateOtherCommand, v1alpha1.GateAltered, v1alpha1.GateUnreadable, v1alpha1.GateNotAudited, v1alpha1.GateNoDigest, v1alpha1.GateExposed, v1alpha1.GateDrifted, v1alpha1.GateFailed,
}

func rank(r v1alpha1.GateReason) int { return slices.Index(reasons, r) }

// status returns the gate's part of the status.
func (t *tally) status() *v1alpha1.GateStatus {
	first := slices.SortedFunc(maps.Keys(t.running), func(a, b v1alpha1.RunningViolation) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Container, b.Container),
			cmp.Compare(a.Image, b.Image), cmp.Compare(a.ImageID, b.ImageID), cmp.Compare(a.Reason, b.Reason))
	})
	first = first[:min(len(first), v1alpha1.MaxRunning)]
	for i := range first {
		first[i].Pods = t.running[first[i]]
	}
	return &v1alpha1.GateStatus{Containers: t.containers, Violating: t.violating, Running: first}
}

// state has the other parts of a policy's status.
type state struct {
	// invalid describes the error in the spec.
	invalid string
	// off is set if the policy's namespace lacks the gate's label.
	off bool
	// offline says why the offline gate could not be written.
	offline string
	// trustsAll is set if audits of any namespace count.
	trustsAll bool
	// unread is a namespace in the policy's scope whose Pods are unknown.
	unread string
}

// gated returns the gate's condition. Violations by running Pods leave it True: the policy is
// in force, which is all that applying it can achieve. With False, a deployment that waits for
// the policy would fail because of unrelated workloads, and no policy could be applied before
// everything that runs complies.
func (t *tally) gated(s state) conditions.Condition {
	runs := fmt.Sprintf("Containers that run: %d; none of them would be denied.", t.containers)
	if t.violating > 0 {
		runs = fmt.Sprintf("Containers that run: %d; would be denied by now: %d, see status.gate.running. They are left alone.", t.containers, t.violating)
	}
	if s.trustsAll {
		runs += " Audits of every namespace count (trust.auditNamespaces: All): who may write an MCPServerAudit anywhere can have an image pass or fail."
	}
	switch {
	case s.invalid != "":
		return conditions.False(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("The spec cannot be followed, so all that the policy could be about is denied. Correct it: %s", s.invalid))
	case s.unread != "":
		return conditions.Unknown(v1alpha1.ReasonPodsPending, fmt.Sprintf("The policy is in force; what runs is not known, because the Pods of the namespace %s "+
			"could not be listed yet. The log of the manager says why.", s.unread))
	case s.offline != "":
		return conditions.Unknown(v1alpha1.ReasonOfflineGatePending, fmt.Sprintf("What the API server enforces by itself could not be written: %s. %s", s.offline, runs))
	case s.off:
		return conditions.True(v1alpha1.ReasonNamespaceNotGated, fmt.Sprintf("The policy has no effect: the namespace does not have the label %s=%s.", v1alpha1.GateLabel, v1alpha1.GateEnabled))
	case t.violating > 0:
		return conditions.True(v1alpha1.ReasonRunningViolations, runs)
	default:
		return conditions.True(v1alpha1.ReasonGating, runs)
	}
}

func compareNames(a, b client.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}
