package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

const (
	// namespaces is the number of namespaces with audits.
	namespaces = 50
	// creators is the number of concurrent writers of audits.
	creators = 8
	// patience bounds the time without a new verdict.
	patience = 3 * time.Minute
)

// board records the audits' verdicts from a watch: listing thousands every second would be the
// largest load of all.
type board struct {
	mu       sync.Mutex
	outcomes map[client.ObjectKey]outcome
	news     chan struct{}
}

// outcome is a verdict with the request that it answers; empty for the first audit.
type outcome struct {
	verdict v1alpha1.Verdict
	handled string
}

// watchAudits returns a board that follows all audits.
func watchAudits(ctx context.Context, c *cluster) (*board, error) {
	b := &board{outcomes: map[client.ObjectKey]outcome{}, news: make(chan struct{}, 1)}
	audits, err := cache.New(c.Admin, cache.Options{Scheme: c.Client.Scheme(), DefaultTransform: verdictOnly})
	if err != nil {
		return nil, fmt.Errorf("watch audits: %w", err)
	}
	go func() { _ = audits.Start(ctx) }() // if it fails, await times out
	informer, err := audits.GetInformer(ctx, &v1alpha1.MCPServerAudit{})
	if err != nil {
		return nil, fmt.Errorf("watch audits: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) { b.see(o) }})
	return b, err
}

// verdictOnly reduces an audit to the fields that the board reads.
func verdictOnly(object any) (any, error) {
	audit, ok := object.(*v1alpha1.MCPServerAudit)
	if !ok {
		return object, nil
	}
	return &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: audit.Namespace, Name: audit.Name, UID: audit.UID, ResourceVersion: audit.ResourceVersion},
		Status:     v1alpha1.MCPServerAuditStatus{Verdict: audit.Status.Verdict, LastHandledReconcileAt: audit.Status.LastHandledReconcileAt},
	}, nil
}

func (b *board) see(object any) {
	audit, ok := object.(*v1alpha1.MCPServerAudit)
	if !ok || audit.Status.Verdict == "" {
		return
	}
	b.mu.Lock()
	b.outcomes[client.ObjectKeyFromObject(audit)] = outcome{audit.Status.Verdict, audit.Status.LastHandledReconcileAt}
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// count returns how many audits have answered a request, and how many of them as expected.
func (b *board) count(request string) (decided, expected int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.outcomes {
		if o.handled != request {
			continue
		}
		decided++
		if o.verdict == v1alpha1.VerdictFail { // as in the canned report
			expected++
		}
	}
	return decided, expected
}

// await waits until n audits have answered a request.
func (b *board) await(ctx context.Context, request string, n int) error {
	for {
		decided, _ := b.count(request)
		if decided >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.news:
		case <-time.After(patience):
			return fmt.Errorf("%d of %d audits are decided, and no other within %s", decided, n, patience)
		}
	}
}

// createAudits creates n audits of one image.
func createAudits(ctx context.Context, c *cluster, image string, n int) error {
	for i := range min(n, namespaces) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team(i)}}
		if err := c.Client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
	}
	return each(n, func(i int) error { return c.Client.Create(ctx, newAudit(image, i)) })
}

// requestAudits requests another run of the first n audits.
func requestAudits(ctx context.Context, c *cluster, request string, n int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.RequestedAtAnnotation, request)
	return each(n, func(i int) error {
		return c.Client.Patch(ctx, newAudit("", i), client.RawPatch(types.MergePatchType, patch))
	})
}

// each calls do for 0 to n-1, from several goroutines.
func each(n int, do func(i int) error) error {
	failures := make([]error, n)
	workqueue.ParallelizeUntil(context.Background(), creators, n, func(i int) { failures[i] = do(i) })
	return errors.Join(failures...)
}

func team(i int) string { return fmt.Sprintf("team-%02d", i%namespaces) }

func newAudit(image string, i int) *v1alpha1.MCPServerAudit {
	return &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: team(i), Name: fmt.Sprintf("notes-%05d", i), Labels: map[string]string{"app.kubernetes.io/part-of": "scale"}},
		Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: image}},
	}
}

// left counts the manager's objects in the run namespace.
func left(ctx context.Context, c *cluster) (int, error) {
	clients, err := metadata.NewForConfig(c.Admin)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, resource := range []string{"pods", "secrets", "configmaps"} {
		list, err := clients.Resource(corev1.SchemeGroupVersion.WithResource(resource)).Namespace(runNamespace).
			List(ctx, metav1.ListOptions{LabelSelector: podspec.LabelManagedBy + "=" + podspec.ManagedBy})
		if err != nil {
			return 0, fmt.Errorf("list the run namespace: %w", err)
		}
		n += len(list.Items)
	}
	return n, nil
}
