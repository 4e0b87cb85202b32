package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// copySecrets copies the pull secrets to where the Pod runs, and returns the
// names of the copies.
//
// Copies are created and never changed: some policies make all Secrets immutable, and a foreign
// Secret is neither overwritten nor deleted with the audit. Another version of the original
// gets another name.
func (r *Reconciler) copySecrets(ctx context.Context, s *session) ([]string, error) {
	var names []string
	for _, secret := range s.secrets {
		copied := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: copyName(s.run.Name, secret), Namespace: r.Options.RunNamespace, Labels: podspec.Labels(s.audit)},
			Type:       secret.Type,
			Data:       map[string][]byte{corev1.DockerConfigJsonKey: secret.Data[corev1.DockerConfigJsonKey]},
		}
		copied.Labels[podspec.LabelRun] = s.run.Name
		err := r.Client.Create(ctx, copied, fieldOwner)
		if apierrors.IsAlreadyExists(err) {
			err = r.ownCopy(ctx, s.audit, copied.Name, err)
		}
		if err != nil {
			return nil, fmt.Errorf("copy pull secret %s: %w", secret.Name, err)
		}
		names = append(names, copied.Name)
	}
	return names, nil
}

// copyName derives the copy's name from the version of the original, not from its content.
func copyName(run string, secret corev1.Secret) string {
	version := sha256.Sum256([]byte(string(secret.UID) + "\n" + secret.ResourceVersion))
	const length = 10
	return run + "-pull-" + hex.EncodeToString(version[:])[:length]
}

// ownCopy accepts an existing Secret if an earlier attempt made it.
func (r *Reconciler) ownCopy(ctx context.Context, audit *v1alpha1.MCPServerAudit, name string, exists error) error {
	copies, err := r.copies(ctx, audit)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(copies, func(c metav1.PartialObjectMetadata) bool { return c.Name == name }) {
		return nil
	}
	return fmt.Errorf("it is not of this audit, delete it: %w", exists)
}

// copies lists the metadata of an audit's copies in the run namespace.
func (r *Reconciler) copies(ctx context.Context, audit *v1alpha1.MCPServerAudit) ([]metav1.PartialObjectMetadata, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := r.Live.List(ctx, &list, client.InNamespace(r.Options.RunNamespace), ofAudit(audit)); err != nil {
		return nil, fmt.Errorf("list copied pull secrets: %w", err)
	}
	return list.Items, nil
}

// ofAudit selects an audit's objects in the run namespace.
func ofAudit(audit *v1alpha1.MCPServerAudit) client.MatchingLabels {
	return client.MatchingLabels{podspec.LabelManagedBy: podspec.ManagedBy, podspec.LabelUID: string(audit.UID)}
}

// deleteSecrets deletes the copied pull secrets of an audit that is decided or idle: the
// manager may have stopped in between, or the audit was suspended while its Pod was pending.
// Most audits never had any and cost no request; for an idle one the list is usually empty.
func (r *Reconciler) deleteSecrets(ctx context.Context, s *session) error {
	pulls := len(s.audit.Spec.Server.ImagePullSecrets) > 0
	switch {
	case s.decided && (pulls || s.respecified):
	case !s.resting || !pulls && !s.audit.Spec.Suspend:
		return nil
	default:
		copies, err := r.copies(ctx, s.audit)
		if apierrors.IsForbidden(err) && r.runNamespace(ctx) != namespaceThere {
			return nil
		}
		if err != nil || len(copies) == 0 {
			return err
		}
	}
	return r.deleteAll(ctx, &corev1.Secret{}, s.audit)
}
