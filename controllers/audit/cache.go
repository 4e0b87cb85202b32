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

// CacheOptions restricts the cache to the manager's own Pods and to the fields it reads.
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

// Cached lists the kinds that every replica caches, so a new leader starts warm.
func Cached() []client.Object {
	return []client.Object{&v1alpha1.MCPServerAudit{}, &corev1.Pod{}}
}

// Uncached lists the kinds that are always read live: they are large or secret, and seldom
// needed.
func Uncached() []client.Object {
	return []client.Object{&corev1.Secret{}, &v1alpha1.MCPAuditReport{}}
}

// Strip drops managedFields and kubectl's last-applied annotation, which nothing reads. Cached
// objects must therefore not be written with Update; a merge patch between two stripped states
// is safe. The status stays whole, or removals from it would be lost.
func Strip(object any) (any, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return object, nil //nolint:nilerr // a tombstone, which holds a stripped object
	}
	accessor.SetManagedFields(nil)
	if annotations := accessor.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		accessor.SetAnnotations(annotations)
	}
	return object, nil
}

// stripAudit is Strip for audits: trigger.Trim shortens large ones.
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

// full returns the audit, read live if the cached spec was trimmed.
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
