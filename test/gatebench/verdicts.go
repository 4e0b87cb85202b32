package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/index"
)

// The requested images. One in crowded audits is of the image crowd, each with other args, like
// a package runner's, whose args name the package.
const (
	honest  = "registry.example/bench/honest:1.0.0"
	leaky   = "registry.example/bench/leaky:1.0.0"
	crowd   = "registry.example/bench/runner:1.0.0"
	unknown = "registry.example/bench/unknown:1.0.0"
	crowded = 50
	// asked is the number of audits that always exist: one of each image except unknown.
	asked = 3
	// auditTeams is the number of namespaces with audits.
	auditTeams = 50
)

// digestOf returns a made-up digest.
func digestOf(image string) v1alpha1.Digest { return v1alpha1.CommandDigest([]string{image}, nil) }

// byDigest returns a reference with a digest.
func byDigest(image string) string { return image + "@" + string(digestOf(image)) }

// newAudit returns a finished audit, decoded so that it shares no memory with others. Numbers
// below 0 are for the requested images.
func newAudit(i int) (*v1alpha1.MCPServerAudit, error) {
	a := describe(i)
	encoded, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	decoded := &v1alpha1.MCPServerAudit{}
	return decoded, json.Unmarshal(encoded, decoded)
}

func describe(i int) *v1alpha1.MCPServerAudit {
	image, reason, findings := fmt.Sprintf("registry.example/team-%02d/server-%05d:1.4.2", (i+auditTeams)%auditTeams, i), v1alpha1.ReasonPassed, v1alpha1.FindingCounts{Medium: 1, Info: 3}
	server := v1alpha1.Server{}
	switch {
	case i == -1:
		image = honest
	case i == -2:
		image = leaky
	case i == -3, i%crowded == 1:
		image, server.Args = crowd, []string{"-y", fmt.Sprintf("@team/server-%05d", i), "--stdio"}
	case i%3 == 0:
		server.Args = []string{"--stdio", "--root=/data", fmt.Sprintf("--tenant=%d", i)}
	}
	verdict := v1alpha1.VerdictPass
	if i == -2 || i >= 0 && i%10 == 0 {
		verdict, reason, findings = v1alpha1.VerdictFail, v1alpha1.ReasonFindingsAboveThreshold, v1alpha1.FindingCounts{High: 2, Medium: 1}
	}
	server.Image = image
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	a := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%02d", (i+auditTeams)%auditTeams), Name: fmt.Sprintf("server-%05d", i+asked), Generation: 1,
			UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i+asked)), ResourceVersion: "1", CreationTimestamp: now,
			Labels: map[string]string{"app.kubernetes.io/part-of": "servers"},
		},
		Spec: v1alpha1.MCPServerAuditSpec{Server: server},
	}
	digest := digestOf(image)
	a.Status = v1alpha1.MCPServerAuditStatus{
		ObservedGeneration: 1, Verdict: verdict, ImageDigest: digest, LastAuditTime: &now, Findings: &findings,
		Audited: &v1alpha1.AuditedServer{
			Image: image, Digests: []v1alpha1.Digest{digest, digestOf(image + " of a platform")}, Unsuppressed: &findings,
			CommandDigest: v1alpha1.CommandDigest(server.Command, server.Args), ArgvDigest: digestOf(fmt.Sprintf("argv %d", i)),
		},
	}
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionAudited, v1alpha1.ConditionManifestStable} {
		a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: now, ObservedGeneration: 1, Message: "2 High findings, 1 Medium finding.",
		})
	}
	for range 5 {
		a.Status.History = append(a.Status.History, v1alpha1.HistoryEntry{Time: now, Verdict: verdict, ImageDigest: digest})
	}
	return a
}

// feed implements the part of cache.Cache that the index uses.
type feed struct {
	cache.Cache
	scheme    *runtime.Scheme
	informers map[string]toolscache.SharedIndexInformer
}

// newFeed starts informers with n audits besides those of the requested images, the policies and
// the namespaces. They end with the context.
func newFeed(ctx context.Context, n int) (*feed, error) {
	f := &feed{scheme: runtime.NewScheme(), informers: map[string]toolscache.SharedIndexInformer{}}
	if err := v1alpha1.AddToScheme(f.scheme); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	audits := make([]runtime.Object, 0, n+asked)
	for i := -asked; i < n; i++ {
		made, err := newAudit(i)
		if err != nil {
			return nil, fmt.Errorf("make audit: %w", err)
		}
		audits = append(audits, made)
	}
	var policies, teams []runtime.Object
	for _, policy := range clusterPolicies() {
		policies = append(policies, policy)
	}
	for _, team := range teamLabels() {
		teams = append(teams, team)
	}
	for kind, objects := range map[client.Object][]runtime.Object{
		&v1alpha1.MCPServerAudit{}: audits, &v1alpha1.ClusterMCPAuditPolicy{}: policies, &v1alpha1.MCPAuditPolicy{}: nil,
		&v1alpha1.MCPAuditException{}: nil, metadataOf("Namespace"): teams, metadataOf("Node"): nil,
	} {
		gvk, err := apiutil.GVKForObject(kind, f.scheme)
		if err != nil {
			return nil, fmt.Errorf("make informers: %w", err)
		}
		informer := toolscache.NewSharedIndexInformer(canned(objects), kind, 0, toolscache.Indexers{})
		if err := informer.SetTransform(audit.Strip); err != nil {
			return nil, fmt.Errorf("make informers: %w", err)
		}
		go informer.RunWithContext(ctx)
		if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return nil, ctx.Err()
		}
		f.informers[gvk.Kind] = informer
	}
	return f, nil
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: kind}}
}

// listed lists objects that never change.
type listed struct{ *toolscache.ListWatch }

// IsWatchListSemanticsUnSupported makes the informer list before it watches.
func (listed) IsWatchListSemanticsUnSupported() bool { return true }

// canned returns its objects once, so that only the informer keeps them.
func canned(objects []runtime.Object) toolscache.ListerWatcher {
	return listed{&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			list := &corev1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
			err := meta.SetList(list, objects)
			objects = nil
			return list, err
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}}
}

// GetInformer implements cache.Cache.
func (f *feed) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	gvk, err := apiutil.GVKForObject(object, f.scheme)
	if err != nil {
		return nil, err
	}
	if informer := f.informers[gvk.Kind]; informer != nil {
		return informer, nil
	}
	return nil, fmt.Errorf("there is no informer of %s", gvk.Kind)
}

// feeding implements the part of manager.Manager that the index uses.
type feeding struct {
	ctrl.Manager
	feed  *feed
	index manager.Runnable
}

// GetCache implements manager.Manager.
func (f *feeding) GetCache() cache.Cache { return f.feed }

// Add implements manager.Manager.
func (f *feeding) Add(runnable manager.Runnable) error {
	f.index = runnable
	return nil
}

// fill returns an index of the feed's objects.
func (f *feed) fill(ctx context.Context) (*index.Store, error) {
	store, from := index.New(), &feeding{feed: f}
	if err := store.SetupWithManager(from); err != nil {
		return nil, err
	}
	if err := from.index.Start(ctx); err != nil {
		return nil, err
	}
	if !store.Synced() {
		return nil, errors.New("the index was not filled")
	}
	return store, nil
}
