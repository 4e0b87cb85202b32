package audit

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// TestS5SweepListsPages: the audits of a tenant, of which each may have hundreds of KiB,
// are never in memory all at once.
func TestS5SweepListsPages(t *testing.T) {
	const audits = 2*alivePage + 1
	pages := 0
	list := func(ctx context.Context, c client.WithWatch, into client.ObjectList, how ...client.ListOption) error {
		metadata, ok := into.(*metav1.PartialObjectMetadataList)
		if !ok || metadata.Kind != "MCPServerAuditList" {
			return c.List(ctx, into, how...)
		}
		var asked client.ListOptions
		asked.ApplyOptions(how)
		if asked.Limit != alivePage {
			t.Errorf("the audits are listed %d at a time", asked.Limit)
		}
		pages++
		var first int
		_, _ = fmt.Sscan(asked.Continue, &first)
		for i := first; i < min(first+alivePage, audits); i++ {
			metadata.Items = append(metadata.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprint("uid-", i))}})
		}
		if first += alivePage; first < audits {
			metadata.Continue = fmt.Sprint(first)
		}
		return nil
	}
	api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{List: list}).Build()
	s := &sweeper{&Reconciler{Client: api, Live: api, Options: options.Options{RunNamespace: "runs"}}}
	if err := s.sweep(t.Context()); err != nil || pages != 0 {
		t.Errorf("with nothing to sweep the audits are listed %d times: %v", pages, err)
	}
	pod := func(name, uid string) *corev1.Pod {
		labels := map[string]string{podspec.LabelManagedBy: podspec.ManagedBy, podspec.LabelUID: uid}
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "runs", Name: name, UID: types.UID(name), Labels: labels}}
	}
	for _, p := range []*corev1.Pod{pod("kept", fmt.Sprint("uid-", audits-1)), pod("left", "gone")} {
		if err := api.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sweep(t.Context()); err != nil || pages != 3 {
		t.Errorf("%d pages, want 3: %v", pages, err)
	}
	var pods corev1.PodList
	if err := api.List(t.Context(), &pods); err != nil || len(pods.Items) != 1 || pods.Items[0].Name != "kept" {
		t.Errorf("left are %v: %v", pods.Items, err)
	}
}
