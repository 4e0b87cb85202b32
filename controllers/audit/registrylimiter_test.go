package audit

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// slow is all registries of a tenant who has them take their time.
type slow struct{ asked, answer chan struct{} }

func (s slow) Resolve(context.Context, string, []corev1.Secret) (imageref.Image, error) {
	s.asked <- struct{}{}
	<-s.answer
	return imageref.Image{Reference: "a@sha256:0", Entrypoint: []string{"/a"}}, nil
}

func (s slow) Digest(context.Context, string, []corev1.Secret) (string, error) { return "", nil }

// TestL3NamespacesLeaveQuestions: two namespaces whose registries do not answer leave some
// of all questions to the others.
func TestL3NamespacesLeaveQuestions(t *testing.T) {
	if 2*perNamespace >= imageref.MaxQuestions || perNamespace < 1 {
		t.Errorf("two namespaces may ask %d questions of %d", 2*perNamespace, imageref.MaxQuestions)
	}
}

// One namespace whose registries do not answer leaves questions for the others.
func TestNamespaceDoesNotAskForAll(t *testing.T) {
	images := slow{make(chan struct{}), make(chan struct{})}
	r := &Reconciler{Images: images}
	resolve := func(namespace string) (outcome, error) {
		return r.resolve(t.Context(), &session{now: time.Now(), audit: &v1alpha1.MCPServerAudit{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"},
			Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "a"}},
		}})
	}
	done := make(chan error)
	begin := func(namespace string) {
		go func() {
			_, err := resolve(namespace)
			done <- err
		}()
		<-images.asked
	}
	for range perNamespace {
		begin("hostile")
	}
	if out, err := resolve("hostile"); err != nil || out.kind != waits || out.after <= 0 {
		t.Errorf("one question too many: %v, %v", out, err)
	}
	begin("other")
	close(images.answer)
	for range perNamespace + 1 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	begin("hostile")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(r.registryLimiter.byNamespace) != 0 {
		t.Errorf("remembered: %v", r.registryLimiter.byNamespace)
	}
}
