package audit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// CacheOptions restrict what the manager caches: of all Pods only its own, and of
// every object only what it reads.
func CacheOptions(runNamespace string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1alpha1.MCPServerAudit{}: {Transform: stripAudit},
		&corev1.Pod{}: {
			Namespaces: map[string]cache.Config{runNamespace: {}},
			Label:      labels.SelectorFromSet(labels.Set{podspec.LabelManagedBy: podspec.ManagedBy}),
			Transform:  Strip,
		},
	}
}

// Cached are the kinds that both replicas keep a cache of, so that the one that
// takes over has it already.
func Cached() []client.Object {
	return []client.Object{&v1alpha1.MCPServerAudit{}, &corev1.Pod{}}
}

// Uncached are the kinds that are always read from the API server: they are
// large or secret, and seldom needed.
func Uncached() []client.Object {
	return []client.Object{&corev1.Secret{}, &v1alpha1.MCPAuditReport{}}
}

// Strip drops what grows with every writer of an object and is read by none of ours:
// who manages which field, and kubectl's copy of what was applied. An object from
// the cache must not be written with Update, which would take that away; a merge
// patch between two states of it says nothing of what neither has. The status stays
// whole: without what it holds, what is to be removed from it would not be.
func Strip(object any) (any, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return object, nil //nolint:nilerr // a tombstone, which holds an object that was stripped
	}
	accessor.SetManagedFields(nil)
	if annotations := accessor.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		accessor.SetAnnotations(annotations)
	}
	return object, nil
}

// stripAudit is Strip for audits: of a large one it leaves what trigger.Trim does.
func stripAudit(object any) (any, error) {
	audit, ok := object.(*v1alpha1.MCPServerAudit)
	if !ok {
		return Strip(object)
	}
	if _, err := Strip(audit); err != nil {
		return nil, err
	}
	return audit, trigger.Trim(audit)
}

// full is the audit itself or, of one whose spec was trimmed, what the API server has.
func (r *Reconciler) full(ctx context.Context, audit *v1alpha1.MCPServerAudit) (*v1alpha1.MCPServerAudit, error) {
	if audit.TrimmedSpec == "" {
		return audit, nil
	}
	whole := &v1alpha1.MCPServerAudit{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(audit), whole); err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	_, err := Strip(whole)
	return whole, err
}
