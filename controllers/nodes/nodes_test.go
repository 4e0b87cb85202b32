package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	able, unable := node(handler("", new(true))), node(handler("", new(false)), handler("crun", new(true)))
	cordoned, windows := unable.DeepCopy(), unable.DeepCopy()
	cordoned.Spec.Unschedulable = true
	windows.Labels = map[string]string{corev1.LabelOSStable: "windows"}
	gvisor := node(handler("", new(true)), handler("gvisor", new(false)))
	for name, test := range map[string]struct {
		nodes []corev1.Node
		want  []string // handlers
	}{
		"no nodes":                        {nil, nil},
		"all":                             {[]corev1.Node{able, able}, []string{""}},
		"all but the last":                {[]corev1.Node{able, able, unable}, []string{"crun"}},
		"all but one that is cordoned":    {[]corev1.Node{*cordoned, able}, []string{""}},
		"all but one that runs no server": {[]corev1.Node{able, *windows}, []string{""}},
		"only one that is cordoned":       {[]corev1.Node{*cordoned}, nil},
		"nothing is said":                 {[]corev1.Node{able, node()}, nil},
		"no features":                     {[]corev1.Node{node(corev1.NodeRuntimeHandler{})}, nil},
		"not of this":                     {[]corev1.Node{node(handler("", nil))}, nil},
		"of another handler":              {[]corev1.Node{node(handler("crun", new(true)))}, []string{"crun"}},
		"the default only on one":         {[]corev1.Node{able, node(handler("crun", new(true)))}, []string{"crun"}},
		"not of another handler":          {[]corev1.Node{gvisor}, []string{""}},
		"not of another handler, on one":  {[]corev1.Node{able, gvisor}, []string{""}},
		"of another handler, on one only": {[]corev1.Node{node(handler("", new(true)), handler("gvisor", new(true))), gvisor}, []string{""}},
	} {
		var features nodes.Features
		got, err := features.UserNamespaces(t.Context(), &cluster{nodes: test.nodes}, time.Now())
		var able []string
		for handler, has := range got {
			if has {
				able = append(able, handler)
			}
		}
		slices.Sort(able)
		if err != nil || !slices.Equal(able, test.want) {
			t.Errorf("%s: %q, %v, want %q", name, able, err, test.want)
		}
	}
}

func TestAnswersAreKept(t *testing.T) {
	var features nodes.Features
	now, able := time.Now(), &cluster{nodes: []corev1.Node{node(handler("", new(true)))}}
	ask := func(at time.Time) bool {
		t.Helper()
		got, err := features.UserNamespaces(t.Context(), able, at)
		if err != nil {
			t.Fatal(err)
		}
		return got[""]
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
	down.nodes = []corev1.Node{node(handler("", new(true)))}
	if got, err := features.UserNamespaces(t.Context(), down, time.Now()); !got[""] || err != nil {
		t.Errorf("the error was kept: %+v, %v", got, err)
	}
	var others nodes.Features
	forbidden := &cluster{err: apierrors.NewForbidden(corev1.Resource("nodes"), "", nil)}
	if got, err := others.UserNamespaces(t.Context(), forbidden, time.Now()); got[""] || err != nil {
		t.Errorf("not allowed to list nodes: %+v, %v", got, err)
	}
}

func TestPlatform(t *testing.T) {
	of := func(name, os, architecture string) corev1.Node {
		n := node()
		n.Name, n.Status.NodeInfo.OperatingSystem, n.Status.NodeInfo.Architecture = name, os, architecture
		return n
	}
	away := errors.New("connection refused")
	for name, test := range map[string]struct {
		nodes  []corev1.Node
		of     string
		answer error
		want   string
		err    error
	}{
		"a node":                 {[]corev1.Node{of("a", "linux", "arm64")}, "a", nil, "linux/arm64", nil},
		"a node that is gone":    {nil, "a", nil, nodes.Unknown, nil},
		"another node":           {[]corev1.Node{of("b", "linux", "arm64")}, "a", nil, nodes.Unknown, nil},
		"no node":                {[]corev1.Node{of("", "linux", "arm64")}, "", nil, nodes.Unknown, nil},
		"a node that says less":  {[]corev1.Node{of("a", "linux", "")}, "a", nil, nodes.Unknown, nil},
		"nodes of nobody":        {nil, "a", apierrors.NewForbidden(corev1.Resource("nodes"), "", nil), nodes.Unknown, nil},
		"an API server far away": {nil, "a", away, "", away},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := nodes.Platform(t.Context(), &cluster{nodes: test.nodes, err: test.answer}, test.of)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("Platform = %q, %v", got, err)
			}
		})
	}
}
