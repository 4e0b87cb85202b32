// Package nodes knows what all nodes of the cluster can do. The reconciler asks
// before it creates an audit Pod, which may be scheduled to any of them.
package nodes

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keep is how long an answer is good: nodes seldom change what they can do, and
// they are too many and too large to watch for that.
const keep = 5 * time.Minute

// pageSize bounds what is held of the nodes at a time.
const pageSize = 100

// Features answers from a list that is some minutes old at most. The zero value is
// ready to be used, by several at a time.
type Features struct {
	sync.Mutex
	until time.Time
	users bool
}

// UserNamespaces tells whether every node that can be scheduled to runs Pods in user
// namespaces of their own (hostUsers: false), by the runtime that is its default.
// Nodes that may not be listed count as nodes that do not.
func (f *Features) UserNamespaces(ctx context.Context, reader client.Reader, now time.Time) (bool, error) {
	f.Lock()
	defer f.Unlock()
	if now.Before(f.until) {
		return f.users, nil
	}
	users, err := everyNode(ctx, reader, hasUserNamespaces)
	if err != nil && !apierrors.IsForbidden(err) {
		return false, fmt.Errorf("list nodes: %w", err)
	}
	f.users, f.until = users && err == nil, now.Add(keep)
	return f.users, nil
}

// everyNode is false if there is none.
func everyNode(ctx context.Context, reader client.Reader, holds func(corev1.Node) bool) (bool, error) {
	found := false
	for token := ""; ; {
		var page corev1.NodeList
		if err := reader.List(ctx, &page, client.Limit(pageSize), client.Continue(token)); err != nil {
			return false, err
		}
		for _, node := range page.Items {
			if node.Spec.Unschedulable || node.Labels[corev1.LabelOSStable] == "windows" {
				continue
			}
			if !holds(node) {
				return false, nil
			}
			found = true
		}
		if token = page.Continue; token == "" {
			return found, nil
		}
	}
}

// hasUserNamespaces looks at the runtime handler without a name, which is the default.
func hasUserNamespaces(node corev1.Node) bool {
	for _, handler := range node.Status.RuntimeHandlers {
		if handler.Name == "" && handler.Features != nil && handler.Features.UserNamespaces != nil {
			return *handler.Features.UserNamespaces
		}
	}
	return false
}
