package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/apierr"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// retryAfter is the retry interval for audits that the API server refused: quotas and admission
// policies change without notice.
const retryAfter = 5 * time.Minute

// Reconciler reconciles all ClusterMCPAuditPolicies in one pass.
type Reconciler struct {
	// Client reads policies and audits from the cache, and writes.
	Client client.Client
	// Live reads an audit before it is created.
	Live   client.Reader
	Events events.EventRecorder
	// Clock is replaced in tests.
	Clock clock.PassiveClock

	watches *watches
	// settled has the inputs of audits that were up to date: rechecking thousands costs more
	// than remembering.
	settled map[types.UID]facts
	// context is the manager's, in which the watches run.
	context context.Context
}

// Reconcile makes one pass over the cluster.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var policies v1alpha1.ClusterMCPAuditPolicyList
	if err := r.Client.List(ctx, &policies); err != nil {
		return ctrl.Result{}, fmt.Errorf("list policies: %w", err)
	}
	sources, err := r.watches.want(r.context, wantedSources(policies.Items))
	if err != nil {
		return ctrl.Result{}, err
	}
	known, complete := r.watches.namespaceLabels()
	if !complete && len(sources) > 0 {
		return ctrl.Result{}, nil // a watch wakes the controller
	}
	var audits v1alpha1.MCPServerAuditList
	if err := r.Client.List(ctx, &audits, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("list audits: %w", err)
	}
	plan := newPlan(input{
		Policies: policies.Items, Namespaces: known, Own: options.OwnNamespaces(),
		Sources: sources, Candidates: r.watches.candidates(), Audits: audits.Items,
	})
	made := r.apply(ctx, plan)
	deleted, deleteErr := r.delete(ctx, plan.Unwanted)
	problems := []error{deleteErr}
	var result ctrl.Result
	for _, o := range plan.Outcomes {
		err := r.report(ctx, o, sources)
		if apierrors.IsConflict(err) { // the gate's part of the status is newer than the cache
			err, result.RequeueAfter = nil, settle
		}
		problems = append(problems, o.Problem, err)
		if n := made[o]; n > 0 {
			r.Events.Eventf(o.Policy, nil, corev1.EventTypeNormal, "AuditsApplied", "Discover", "Applied %d MCPServerAudits of %d servers", n, o.discovered())
		}
		if slices.ContainsFunc(o.Skipped, func(s v1alpha1.SkippedServer) bool { return s.Reason == v1alpha1.SkipRefused }) && result.RequeueAfter == 0 {
			result.RequeueAfter = retryAfter
		}
	}
	if deleted > 0 {
		log.FromContext(ctx).Info("Deleted audits whose servers are gone or not selected", "count", deleted)
	}
	return result, errors.Join(problems...)
}

// facts identifies everything that an audit depends on.
type facts struct {
	audit, candidate, policy types.UID
	versions                 [2]string
	generation               int64
}

func factsOf(w wantedAudit) facts {
	policy := w.Outcome.Policy
	return facts{
		audit: w.Audit.UID, candidate: w.Candidate.UID, policy: policy.UID,
		versions: [2]string{w.Audit.ResourceVersion, w.Candidate.ResourceVersion}, generation: policy.Generation,
	}
}

// wantedSources returns the sources of all policies.
func wantedSources(policies []v1alpha1.ClusterMCPAuditPolicy) []v1alpha1.DiscoverySource {
	var wanted []v1alpha1.DiscoverySource
	for i := range policies {
		if d := policies[i].Spec.Discovery; d != nil && policies[i].DeletionTimestamp.IsZero() {
			wanted = append(wanted, sourcesOf(d)...)
		}
	}
	return wanted
}

// apply updates the audits, records the results in the outcomes, and returns the number of
// writes for each.
func (r *Reconciler) apply(ctx context.Context, plan plan) map[*policyOutcome]int {
	made := map[*policyOutcome]int{}
	before := r.settled
	r.settled = make(map[types.UID]facts, len(plan.Wanted)) // forget deleted ones
	for _, w := range plan.Wanted {
		if w.Audit != nil && before[w.Audit.UID] == factsOf(w) {
			r.settled[w.Audit.UID] = factsOf(w)
			w.Outcome.Audited++
			continue
		}
		wrote, err := r.ensure(ctx, w)
		switch {
		case errors.Is(err, errNameTaken):
			w.Outcome.skip(w.Candidate, v1alpha1.SkipNameTaken, nameTaken(w.Key.Name))
		case refused(err):
			w.Outcome.skip(w.Candidate, v1alpha1.SkipRefused, excerpt.Line(fmt.Sprintf("The API server refused the audit; it is tried again every %s: %s", retryAfter, err), source.MaxNotAuditable))
		case err != nil:
			w.Outcome.Waiting++
			if w.Outcome.Problem == nil {
				w.Outcome.Problem = fmt.Errorf("apply audit %s: %w", w.Key, err)
			}
		case w.Audit != nil && !w.Audit.DeletionTimestamp.IsZero():
			w.Outcome.Waiting++ // its deletion wakes the controller
		default:
			w.Outcome.Audited++
		}
		if wrote {
			made[w.Outcome]++
		}
	}
	return made
}

// errNameTaken means that an audit of this name exists that the cache did not have yet.
var errNameTaken = errors.New("there is an audit of that name")

// ensure applies one audit unless it is up to date.
func (r *Reconciler) ensure(ctx context.Context, w wantedAudit) (wrote bool, err error) {
	if w.Audit != nil && !w.Audit.DeletionTimestamp.IsZero() {
		return false, nil
	}
	want, err := desired(w)
	if err != nil {
		return false, err
	}
	have, err := r.full(ctx, w.Audit)
	if err != nil {
		return false, err
	}
	same, err := applied(have, want)
	if same {
		r.settled[w.Audit.UID] = factsOf(w)
	}
	if same || err != nil {
		return false, err
	}
	options := []client.ApplyOption{client.FieldOwner(fieldManager)}
	if w.Audit != nil {
		want.SetUID(w.Audit.UID) // this one, not a replacement
		options = append(options, client.ForceOwnership)
	} else if err := r.free(ctx, w); err != nil {
		return false, err
	}
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(want), options...); err != nil {
		return false, err
	}
	log.FromContext(ctx).Info("Applied audit", "audit", w.Key, "source", w.Candidate.kindName(), "policy", w.Outcome.Policy.Name)
	return true, nil
}

// full returns the audit, read live if the cache has only part of it.
func (r *Reconciler) full(ctx context.Context, audit *v1alpha1.MCPServerAudit) (*v1alpha1.MCPServerAudit, error) {
	if audit == nil || audit.TrimmedSpec == "" {
		return audit, nil
	}
	whole := &v1alpha1.MCPServerAudit{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(audit), whole); err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return whole, nil
}

// free checks with a live read that the name is not taken.
func (r *Reconciler) free(ctx context.Context, w wantedAudit) error {
	var audit v1alpha1.MCPServerAudit
	switch err := r.Live.Get(ctx, w.Key, &audit); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case !ours(&audit):
		return errNameTaken
	}
	return nil
}

// delete deletes audits, with preconditions on what was read.
func (r *Reconciler) delete(ctx context.Context, audits []*v1alpha1.MCPServerAudit) (int, error) {
	var problems []error
	deleted := 0
	for _, audit := range audits {
		err := r.Client.Delete(ctx, audit, client.Preconditions{UID: &audit.UID})
		switch {
		case err == nil:
			deleted++
		case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err):
			problems = append(problems, fmt.Errorf("delete audit %s: %w", keyOf(audit), err))
		}
	}
	return deleted, errors.Join(problems...)
}

// refused reports whether the API server refused the audit itself. A namespace or audit that
// came or went meanwhile is retried.
func refused(err error) bool {
	return apierr.IsRefusal(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err)
}
