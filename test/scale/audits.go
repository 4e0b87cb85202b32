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
	// namespaces is over how many the audits are spread.
	namespaces = 50
	// creators is how many of them are created at a time.
	creators = 8
	// patience is how long nothing may be decided.
	patience = 3 * time.Minute
)

// board tells which audits are decided, and how. It is told by a watch: listing
// thousands of them every second would be the largest load of all.
type board struct {
	mu       sync.Mutex
	outcomes map[client.ObjectKey]outcome
	news     chan struct{}
}

// outcome is a verdict, and the request that it answers; empty for the first one.
type outcome struct {
	verdict v1alpha1.Verdict
	handled string
}

// watchAudits starts the board.
func watchAudits(ctx context.Context, c *cluster) (*board, error) {
	b := &board{outcomes: map[client.ObjectKey]outcome{}, news: make(chan struct{}, 1)}
	audits, err := cache.New(c.config, cache.Options{Scheme: c.client.Scheme(), DefaultTransform: verdictOnly})
	if err != nil {
		return nil, fmt.Errorf("watch audits: %w", err)
	}
	go func() { _ = audits.Start(ctx) }() // it ends with the context; await tells if it is of no use
	informer, err := audits.GetInformer(ctx, &v1alpha1.MCPServerAudit{})
	if err != nil {
		return nil, fmt.Errorf("watch audits: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) { b.see(o) }})
	return b, err
}

// verdictOnly leaves of an audit what the board looks at.
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

// count returns how many have answered a request, and how many of them as expected.
func (b *board) count(request string) (decided, expected int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.outcomes {
		if o.handled != request {
			continue
		}
		decided++
		if o.verdict == v1alpha1.VerdictFail { // that of the canned report
			expected++
		}
	}
	return decided, expected
}

// await returns when n audits have answered a request.
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
			return fmt.Errorf("%d of %d audits are decided, and none was for %s", decided, n, patience)
		}
	}
}

// createAudits creates n audits of one image.
func createAudits(ctx context.Context, c *cluster, image string, n int) error {
	for i := range min(n, namespaces) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team(i)}}
		if err := c.client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
	}
	return each(n, func(i int) error { return c.client.Create(ctx, newAudit(image, i)) })
}

// requestAudits asks for another audit of the first n.
func requestAudits(ctx context.Context, c *cluster, request string, n int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.RequestedAtAnnotation, request)
	return each(n, func(i int) error {
		return c.client.Patch(ctx, newAudit("", i), client.RawPatch(types.MergePatchType, patch))
	})
}

// each does something n times, creators of them at a time.
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

// left counts what the manager has in the run namespace.
func left(ctx context.Context, c *cluster) (int, error) {
	clients, err := metadata.NewForConfig(c.config)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, resource := range []string{"pods", "secrets", "configmaps"} {
		list, err := clients.Resource(corev1.SchemeGroupVersion.WithResource(resource)).Namespace(runNamespace).
			List(ctx, metav1.ListOptions{LabelSelector: podspec.LabelManagedBy + "=" + podspec.ManagedBy})
		if err != nil {
			return 0, fmt.Errorf("look into the run namespace: %w", err)
		}
		n += len(list.Items)
	}
	return n, nil
}
