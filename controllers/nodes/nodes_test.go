package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/nodes"
)

// cluster lists its nodes in pages of one, and counts how often it is asked.
type cluster struct {
	client.Reader
	nodes []corev1.Node
	err   error
	lists int
}

func (c *cluster) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	page := 0
	if o.Continue == "" {
		c.lists++
	} else if _, err := fmt.Sscan(o.Continue, &page); err != nil {
		return err
	}
	if c.err != nil || page >= len(c.nodes) {
		return c.err
	}
	found := list.(*corev1.NodeList)
	found.Items = c.nodes[page : page+1]
	if page+1 < len(c.nodes) {
		found.Continue = fmt.Sprint(page + 1)
	}
	return nil
}

func node(handlers ...corev1.NodeRuntimeHandler) corev1.Node {
	return corev1.Node{Status: corev1.NodeStatus{RuntimeHandlers: handlers}}
}

func handler(name string, users *bool) corev1.NodeRuntimeHandler {
	return corev1.NodeRuntimeHandler{Name: name, Features: &corev1.NodeRuntimeHandlerFeatures{UserNamespaces: users}}
}

func TestUserNamespaces(t *testing.T) {
	able, unable := node(handler("", ptr.To(true))), node(handler("", ptr.To(false)), handler("crun", ptr.To(true)))
	cordoned, windows := unable.DeepCopy(), unable.DeepCopy()
	cordoned.Spec.Unschedulable = true
	windows.Labels = map[string]string{corev1.LabelOSStable: "windows"}
	for name, test := range map[string]struct {
		nodes []corev1.Node
		want  bool
	}{
		"no nodes":                        {nil, false},
		"all":                             {[]corev1.Node{able, able}, true},
		"all but the last":                {[]corev1.Node{able, able, unable}, false},
		"all but one that is cordoned":    {[]corev1.Node{*cordoned, able}, true},
		"all but one that runs no server": {[]corev1.Node{able, *windows}, true},
		"only one that is cordoned":       {[]corev1.Node{*cordoned}, false},
		"nothing is said":                 {[]corev1.Node{node()}, false},
		"no features":                     {[]corev1.Node{node(corev1.NodeRuntimeHandler{})}, false},
		"not of this":                     {[]corev1.Node{node(handler("", nil))}, false},
		"of another handler":              {[]corev1.Node{node(handler("crun", ptr.To(true)))}, false},
	} {
		var features nodes.Features
		got, err := features.UserNamespaces(t.Context(), &cluster{nodes: test.nodes}, time.Now())
		if err != nil || got != test.want {
			t.Errorf("%s: %t, %v, want %t", name, got, err, test.want)
		}
	}
}

func TestAnswersAreKept(t *testing.T) {
	var features nodes.Features
	now, able := time.Now(), &cluster{nodes: []corev1.Node{node(handler("", ptr.To(true)))}}
	ask := func(at time.Time) bool {
		t.Helper()
		got, err := features.UserNamespaces(t.Context(), able, at)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if !ask(now) || !ask(now.Add(4*time.Minute)) || able.lists != 1 {
		t.Errorf("%d lists within five minutes", able.lists)
	}
	able.nodes = append(able.nodes, node())
	if ask(now.Add(6*time.Minute)) || able.lists != 2 {
		t.Errorf("a node that came was not seen after six minutes (%d lists)", able.lists)
	}
}

func TestErrors(t *testing.T) {
	var features nodes.Features
	down := &cluster{err: errors.New("connection refused")}
	if _, err := features.UserNamespaces(t.Context(), down, time.Now()); !errors.Is(err, down.err) {
		t.Errorf("an API server that is down: %v", err)
	}
	down.err = nil
	down.nodes = []corev1.Node{node(handler("", ptr.To(true)))}
	if got, err := features.UserNamespaces(t.Context(), down, time.Now()); !got || err != nil {
		t.Errorf("the error was kept: %t, %v", got, err)
	}
	var others nodes.Features
	forbidden := &cluster{err: apierrors.NewForbidden(corev1.Resource("nodes"), "", nil)}
	if got, err := others.UserNamespaces(t.Context(), forbidden, time.Now()); got || err != nil {
		t.Errorf("not allowed to list nodes: %t, %v", got, err)
	}
}
