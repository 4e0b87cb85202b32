// Package nodes determines which features all nodes of the cluster have. The reconciler asks
// before it creates an audit Pod, which may be scheduled to any of them.
package nodes

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keep is the cache time of an answer: features seldom change, and watching all nodes costs too
// much.
const keep = 5 * time.Minute

// pageSize is the page size of the node list.
const pageSize = 100

// Support has the runtime handlers that support user namespaces on every schedulable node that
// has them. The key for Pods without a RuntimeClass is empty, and every node must support it.
type Support map[string]bool

// Features answers from a cached node list. The zero value is ready to use, and safe for
// concurrent use.
type Features struct {
	sync.Mutex
	until time.Time
	users Support
}

// UserNamespaces returns where Pods may have user namespaces (hostUsers: false). If listing
// nodes is forbidden, none may.
func (f *Features) UserNamespaces(ctx context.Context, reader client.Reader, now time.Time) (Support, error) {
	f.Lock()
	defer f.Unlock()
	if now.Before(f.until) {
		return f.users, nil
	}
	users, err := userNamespaces(ctx, reader)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	f.users, f.until = users, now.Add(keep)
	return f.users, nil
}

// userNamespaces reads all nodes. One that does not report its handlers' features may have any
// handler.
func userNamespaces(ctx context.Context, reader client.Reader) (Support, error) {
	counted, able, having := 0, map[string]int{}, map[string]int{}
	for token := ""; ; {
		var page corev1.NodeList
		if err := reader.List(ctx, &page, client.Limit(pageSize), client.Continue(token)); err != nil {
			return nil, err
		}
		for _, node := range page.Items {
			if node.Spec.Unschedulable || node.Labels[corev1.LabelOSStable] == "windows" {
				continue
			}
			if len(node.Status.RuntimeHandlers) == 0 {
				return nil, nil
			}
			counted++
			for _, handler := range node.Status.RuntimeHandlers {
				having[handler.Name]++
				if handler.Features != nil && ptr.Deref(handler.Features.UserNamespaces, false) {
					able[handler.Name]++
				}
			}
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	support := Support{}
	for name, nodes := range able {
		support[name] = nodes == having[name] && (name != "" || nodes == counted)
	}
	return support, nil
}

// Unknown is the platform of a node that is gone or may not be read.
const Unknown = "linux/unknown"

// Platform returns the platform of a node, such as "linux/amd64", or Unknown. It uses a list of
// one node, which needs no further permission.
func Platform(ctx context.Context, reader client.Reader, name string) (string, error) {
	var found corev1.NodeList
	if name == "" {
		return Unknown, nil
	}
	err := reader.List(ctx, &found, client.MatchingFields{metav1.ObjectNameField: name})
	if err != nil && !apierrors.IsForbidden(err) {
		return "", fmt.Errorf("read node %s: %w", name, err)
	}
	for _, node := range found.Items {
		if info := node.Status.NodeInfo; node.Name == name && info.OperatingSystem != "" && info.Architecture != "" {
			return info.OperatingSystem + "/" + info.Architecture, nil
		}
	}
	return Unknown, nil
}
