package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// Reconciler writes the lists and bindings. It reconciles everything in one pass.
type Reconciler struct {
	// Client writes, and reads policies and exceptions from the manager's cache; Live bypasses
	// it.
	Client client.Client
	Live   client.Reader
	Index  sweep.Index
	Clock  clock.PassiveClock

	// kept is a cache of only the lists and bindings.
	kept client.Reader

	mu       sync.Mutex
	problems map[Policy]string
}

// errForeign is about an object that the operator did not make, which is left alone.
var errForeign = errors.New("there is one of this name that the operator did not make: delete it, or rename the policy")

// lasting is a problem that retrying cannot solve: its inputs must change.
type lasting string

func (l lasting) Error() string { return string(l) }

// Problem returns why a policy's offline gate could not be written; empty if it was.
func (r *Reconciler) Problem(ref v1alpha1.PolicyReference, namespace string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problems[Policy{ref, namespace}]
}

// Reconcile makes one pass.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	if !r.Index.Synced() {
		return ctrl.Result{}, nil // the index wakes it
	}
	wanted, err := r.compile(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	w := &writer{Reconciler: r, problems: map[Policy]error{}}
	if err := w.read(ctx); err != nil {
		return ctrl.Result{}, err
	}
	for policy, problem := range wanted.Problems {
		w.problems[policy] = lasting(problem)
	}
	w.write(ctx, wanted)
	for policy, note := range wanted.Notes {
		if w.problems[policy] == nil {
			w.problems[policy] = lasting(note)
		}
	}
	err = r.remember(ctx, w.problems)
	if !wanted.Next.IsZero() && err == nil {
		return ctrl.Result{RequeueAfter: max(wanted.Next.Sub(r.Clock.Now()), settle)}, nil
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) compile(ctx context.Context) (Objects, error) {
	var policies v1alpha1.MCPAuditPolicyList
	var clusterPolicies v1alpha1.ClusterMCPAuditPolicyList
	var exceptions v1alpha1.MCPAuditExceptionList
	if err := errors.Join(r.Client.List(ctx, &policies), r.Client.List(ctx, &clusterPolicies), r.Client.List(ctx, &exceptions)); err != nil {
		return Objects{}, fmt.Errorf("list policies and exceptions: %w", err)
	}
	return Compile(pointers(policies.Items), pointers(clusterPolicies.Items), World{
		Facts: r.Index.Facts(r.Clock.Now()), Verdicts: slices.Collect(r.Index.All()), Exceptions: pointers(exceptions.Items),
	}), nil
}

func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// remember keeps the problems for Problem. Lasting ones are not retried, or the author of an
// impossible policy could delay others.
func (r *Reconciler) remember(ctx context.Context, problems map[Policy]error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = map[Policy]string{}
	var again []error
	for policy, err := range problems {
		r.problems[policy] = err.Error()
		if errors.Is(err, errForeign) {
			log.FromContext(ctx).Error(err, "Left alone what the operator did not make", "policy", policy.Name, "namespace", policy.Namespace)
		}
		if !errors.As(err, new(lasting)) {
			again = append(again, err)
		}
	}
	return errors.Join(again...)
}

// writer makes one pass. Failures are per policy.
type writer struct {
	*Reconciler
	lists    map[string]*corev1.ConfigMap
	bindings map[string]*admissionv1.ValidatingAdmissionPolicyBinding
	problems map[Policy]error
}

func (w *writer) read(ctx context.Context) error {
	var lists corev1.ConfigMapList
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	if err := errors.Join(w.kept.List(ctx, &lists), w.kept.List(ctx, &bindings)); err != nil {
		return fmt.Errorf("list what is enforced: %w", err)
	}
	w.lists, w.bindings = map[string]*corev1.ConfigMap{}, map[string]*admissionv1.ValidatingAdmissionPolicyBinding{}
	for i := range lists.Items {
		w.lists[lists.Items[i].Name] = &lists.Items[i]
	}
	for i := range bindings.Items {
		w.bindings[bindings.Items[i].Name] = &bindings.Items[i]
	}
	return nil
}

// write applies the differences so that enforcement never drops below both the old and the new
// state: new lists, which only deny more or take over keys; changed lists, which may lose keys;
// bindings; then it deletes unused bindings, and last unused lists.
func (w *writer) write(ctx context.Context, wanted Objects) {
	for _, list := range wanted.Lists {
		if w.lists[list.Name] == nil {
			w.try(list, func() error { return w.create(ctx, list) })
		}
	}
	for _, list := range wanted.Lists {
		have := w.lists[list.Name]
		if have != nil && !(apiequality.Semantic.DeepEqual(have.Data, list.Data) && apiequality.Semantic.DeepEqual(have.Labels, list.Labels)) {
			next := have.DeepCopy()
			next.Data, next.Labels = list.Data, list.Labels
			w.try(list, func() error { return w.Client.Update(ctx, next) })
		}
	}
	for _, binding := range wanted.Bindings {
		w.bind(ctx, binding)
	}
	w.clear(ctx, wanted)
}

func (w *writer) bind(ctx context.Context, binding *admissionv1.ValidatingAdmissionPolicyBinding) {
	have := w.bindings[binding.Name]
	if have == nil {
		w.try(binding, func() error { return w.create(ctx, binding) })
	} else if !apiequality.Semantic.DeepEqual(have.Spec, binding.Spec) || !apiequality.Semantic.DeepEqual(have.Labels, binding.Labels) {
		next := have.DeepCopy()
		next.Spec, next.Labels = binding.Spec, binding.Labels
		w.try(binding, func() error { return w.Client.Update(ctx, next) })
	}
}

// clear deletes unused bindings and lists.
func (w *writer) clear(ctx context.Context, wanted Objects) {
	lists, bindings := map[string]bool{}, map[string]bool{}
	for _, list := range wanted.Lists {
		lists[list.Name] = true
	}
	for _, binding := range wanted.Bindings {
		bindings[binding.Name] = true
	}
	type asked struct {
		Policy
		list string
	}
	still := map[asked]bool{}
	for name, binding := range w.bindings {
		if !bindings[name] {
			w.try(binding, func() error { return w.remove(ctx, binding) })
			still[asked{policyOf(binding), binding.Labels[labelList]}] = true
		}
	}
	for name, list := range w.lists {
		if !lists[name] && !still[asked{policyOf(list), list.Labels[labelList]}] {
			w.try(list, func() error { return w.remove(ctx, list) })
		}
	}
}

func policyOf(object client.Object) Policy {
	labels := object.GetLabels()
	policy := Policy{v1alpha1.PolicyReference{Kind: gate.KindPolicy, Name: labels[labelPolicy]}, labels[labelNamespace]}
	if policy.Namespace == "" {
		policy.Kind = gate.KindClusterPolicy
	}
	return policy
}

// try runs a write for a policy that has not failed yet.
func (w *writer) try(object client.Object, do func() error) {
	policy := policyOf(object)
	if w.problems[policy] != nil {
		return
	}
	if err := do(); err != nil {
		w.problems[policy] = fmt.Errorf("write %s: %w", object.GetName(), err)
	}
}

// create creates an object. An existing unknown one is ours if it has our labels: the cache is
// stale and will catch up.
func (w *writer) create(ctx context.Context, object client.Object) error {
	labels := object.GetLabels()
	err := w.Client.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there := object.DeepCopyObject().(client.Object)
	if err := w.Live.Get(ctx, client.ObjectKeyFromObject(object), there); err != nil {
		return client.IgnoreNotFound(err)
	}
	if there.GetLabels()[labelList] != labels[labelList] {
		return errForeign
	}
	return nil
}

// remove deletes exactly the object that was read.
func (w *writer) remove(ctx context.Context, object client.Object) error {
	uid, version := object.GetUID(), object.GetResourceVersion()
	return client.IgnoreNotFound(w.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version}))
}
