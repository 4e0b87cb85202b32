package drift

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func digest(n int) v1alpha1.Digest { return v1alpha1.Digest(fmt.Sprintf("sha256:%064x", n)) }

// index knows verdicts by digest, for tests.
type index struct {
	verdicts   map[types.NamespacedName]*gate.Verdict
	exceptions []*gate.Exception
	asked      int
	onAsk      func()
}

func (i *index) ByDigest(d v1alpha1.Digest) []*gate.Verdict {
	i.asked++
	if i.onAsk != nil {
		i.onAsk()
	}
	var found []*gate.Verdict
	if v := i.verdicts[types.NamespacedName{Namespace: "team", Name: string(d[len(d)-8:])}]; v != nil {
		found = append(found, v)
	}
	return found
}
func (i *index) ByImageID(v1alpha1.Digest) []*gate.Verdict { return nil }
func (i *index) ByImage(string) []*gate.Verdict            { return nil }
func (i *index) Facts(now time.Time) gate.Facts {
	return gate.Facts{Exceptions: i.exceptions, Verdicts: i, Now: now, Architectures: []string{"amd64"},
		NamespaceLabels: func(string) (labels.Set, bool) { return labels.Set{}, true }}
}
func (i *index) All() iter.Seq[*gate.Verdict] { return maps.Values(i.verdicts) }
func (i *index) Synced() bool                 { return true }
func (i *index) Subscribe(func())             {}

// know sets the verdict on a digest: findings that are high.
func (i *index) know(n int, high int32, at time.Time) {
	d := digest(n)
	name := types.NamespacedName{Namespace: "team", Name: string(d[len(d)-8:])}
	i.verdicts[name] = &gate.Verdict{Audit: name, Image: "registry.example/notes:1", Digests: []v1alpha1.Digest{d}, Complete: true,
		CommandDigest: v1alpha1.CommandDigest(nil, nil), Findings: v1alpha1.FindingCounts{High: high}, Unsuppressed: v1alpha1.FindingCounts{High: high}, Time: at}
}

type recorded struct{ notes []string }

func (r *recorded) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf("%s %s: ", kind, reason)+fmt.Sprintf(note, args...))
}

func newReconciler(t testing.TB) (*Reconciler, *index, *recorded) {
	t.Helper()
	known, events := &index{verdicts: map[types.NamespacedName]*gate.Verdict{}}, &recorded{}
	r := &Reconciler{Index: known, Events: events, Clock: testclock.NewFakePassiveClock(noon)}
	r.start(context.Background(), func() {})
	return r, known, events
}

// pod of a ReplicaSet, which runs an image by its digest.
func pod(namespace, owner string, n, image int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", owner, n), Labels: map[string]string{"app": owner},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner, Controller: new(true)}}},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "server", Image: "registry.example/notes:1@" + string(digest(image))}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "server",
			ImageID: "registry.example/notes@" + string(digest(image)), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
	}
}

func policyOf(namespace, name string, generation int64, changes ...func(*v1alpha1.Gate)) v1alpha1.MCPAuditPolicy {
	p := v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), Generation: generation}}
	for _, change := range changes {
		change(&p.Spec.Gate)
	}
	return p
}

// sumOf returns what a pass says of one policy.
func sumOf(sums map[*policy]*tally, name string) string {
	for p, sum := range sums {
		if p.object.GetName() != name {
			continue
		}
		var text []string
		for _, v := range sum.status().Running {
			text = append(text, fmt.Sprintf("%s %s x%d", v.Owner, v.Reason, v.Pods))
		}
		return strings.Join(append([]string{fmt.Sprintf("%d/%d", sum.violating, sum.containers)}, text...), "; ")
	}
	return "none"
}

// TestJudgeFollowsWhatChanges, and asks about nothing else.
func TestJudgeFollowsWhatChanges(t *testing.T) {
	r, known, _ := newReconciler(t)
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	known.know(1, 0, noon)
	known.know(2, 0, noon)
	var listed []any
	for i := range 100 {
		listed = append(listed, pod("team", "notes", i, 1), pod("team", "mail", i, 2))
	}
	if err := s.Replace(listed, ""); err != nil {
		t.Fatal(err)
	}
	policies := []v1alpha1.MCPAuditPolicy{policyOf("team", "default", 1), policyOf("other", "elsewhere", 1)}
	var cluster []v1alpha1.ClusterMCPAuditPolicy
	now := noon
	step := func(what, want string, asks int) time.Time {
		t.Helper()
		known.asked = 0
		sums, due := r.judge(policies, cluster, now)
		if got := sumOf(sums, "default"); got != want || known.asked != 2*asks { // what it costs, and what it is
			t.Errorf("%s: %q after %d questions, want %q after %d", what, got, known.asked, want, 2*asks)
		}
		return due
	}
	step("200 Pods of two kinds", "0/200", 2)
	step("nothing new", "0/200", 0)

	known.know(2, 1, noon)
	step("a verdict", "100/200; ReplicaSet/mail Failed x100", 1)

	_ = s.Update(pod("team", "notes", 0, 3))
	step("a Pod whose tag was moved", "101/200; ReplicaSet/mail Failed x100; ReplicaSet/notes NotAudited x1", 1)
	_ = s.Delete(pod("team", "notes", 0, 3))
	step("it is gone", "100/199; ReplicaSet/mail Failed x100", 0)

	known.exceptions = []*gate.Exception{{NamespacedName: types.NamespacedName{Namespace: "team", Name: "e"}, Expires: noon.Add(time.Hour),
		Policy: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "default"}, Images: map[v1alpha1.Digest]bool{digest(2): true}}}
	due := step("an exception", "0/199", 2)
	if want := noon.Add(time.Hour + time.Second); !due.Equal(want) {
		t.Errorf("the next pass is due at %s, want %s", due, want)
	}
	now = due
	step("which ends", "100/199; ReplicaSet/mail Failed x100", 2)
	step("once", "100/199; ReplicaSet/mail Failed x100", 0)

	policies[0] = policyOf("team", "default", 2, func(g *v1alpha1.Gate) { g.FailOn, g.MaxAge = "Never", &metav1.Duration{Duration: 3 * time.Hour} })
	if due = step("another policy", "0/199", 2); !due.Equal(noon.Add(3*time.Hour + time.Second)) {
		t.Errorf("verdicts are too old at %s", due)
	}
	now = due
	step("verdicts that are too old", "199/199; ReplicaSet/mail Stale x100; ReplicaSet/notes Stale x99", 2)

	policies = policies[1:]
	step("no policy", "none", 0)
	if got := r.Containers(); len(got) != 0 {
		t.Errorf("the metric has %v of no policy", got)
	}
	r.podStore.drop("team")
	if len(r.podStore.groups) != 0 || len(r.podStore.pods) != 0 {
		t.Errorf("%d groups of %d namespaces are left", len(r.podStore.groups), len(r.podStore.pods))
	}
}

// TestFleetCountsEachContainerOnce, by the policy that thinks worst of it.
func TestFleetCountsEachContainerOnce(t *testing.T) {
	r, known, _ := newReconciler(t)
	known.know(1, 1, noon)
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	_ = s.Replace([]any{pod("team", "notes", 0, 1), pod("team", "notes", 1, 1), pod("team", "mail", 0, 2)}, "")
	r.judge([]v1alpha1.MCPAuditPolicy{
		policyOf("team", "strict", 1, func(g *v1alpha1.Gate) { g.OnMissing = v1alpha1.ActionAllow }),
		policyOf("team", "lax", 1, func(g *v1alpha1.Gate) { g.FailOn, g.OnMissing = "Critical", v1alpha1.ActionAllow }),
	}, nil, noon)
	want := map[metrics.RunningContainer]int{{Reason: "Failed", Denied: true}: 2, {Reason: "NotAudited"}: 1}
	if got := r.Containers(); !maps.Equal(got, want) {
		t.Errorf("the metric has %v, want %v", got, want)
	}
}

// TestAD7WhatTakesTooLongToJudge is reported, and holds nothing up.
func TestAD7WhatTakesTooLongToJudge(t *testing.T) {
	r, known, recorded := newReconciler(t)
	known.onAsk = func() {
		if !r.podStore.mu.TryLock() {
			t.Fatal("Pods are judged while the store is locked")
		}
		r.podStore.mu.Unlock()
	}
	costly := func(name string, targets ...v1alpha1.GateTarget) v1alpha1.MCPAuditPolicy {
		p := policyOf("team", name, 1, func(g *v1alpha1.Gate) { g.Targets = targets })
		p.Spec.Match = &v1alpha1.Match{Images: slices.Repeat([]string{"**" + strings.Repeat("*e", 250) + "x"}, 64)}
		return p
	}
	var policies []v1alpha1.MCPAuditPolicy
	for i := range 15 {
		policies = append(policies, costly(fmt.Sprint("costly-", i)))
	}
	policies = append(policies, costly("servers", v1alpha1.TargetMCPServers))
	large := pod("team", "notes", 0, 1)
	for i := range 9 {
		name := fmt.Sprint("sidecar-", i)
		large.Spec.Containers = append(large.Spec.Containers, corev1.Container{Name: name, Image: large.Spec.Containers[0].Image})
		large.Status.ContainerStatuses = append(large.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, ImageID: large.Status.ContainerStatuses[0].ImageID})
	}
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	_ = s.Replace([]any{large}, "")
	sums, _ := r.judge(policies, nil, noon)
	if got := sumOf(sums, "costly-7"); got != "1/1; ReplicaSet/notes Unreadable x1" {
		t.Errorf("a policy reports %q", got)
	}
	if got := sumOf(sums, "servers"); got != "0/0" {
		t.Errorf("a policy about servers reports %q", got)
	}
	for p, sum := range sums {
		if p.object.GetName() == "costly-7" {
			p.announced.resume(nil, sum.places)
			r.emitEvents(p, sum, noon)
		}
	}
	want := "Warning RunningViolation: In team, ReplicaSet/notes cannot be judged: its images have 960 bytes to compare with 515072 bytes of patterns, " +
		"which are too many; make several objects of it, or have fewer policies (policy costly-7)."
	if !slices.Equal(recorded.notes, []string{want}) {
		t.Errorf("events are %q", recorded.notes)
	}
	sums, _ = r.judge([]v1alpha1.MCPAuditPolicy{policyOf("team", "default", 1)}, nil, noon)
	if got := sumOf(sums, "default"); !strings.HasPrefix(got, "10/10; ReplicaSet/notes NotAudited x1") {
		t.Errorf("without them, a policy reports %q", got)
	}
}

// TestAD14LargePods: little is kept of them, and they are reported.
func TestAD14LargePods(t *testing.T) {
	r, _, _ := newReconciler(t)
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	pad := strings.Repeat("x", 1<<20)
	for i, change := range []func(*corev1.Pod){
		func(*corev1.Pod) {},
		func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{pad} },
		func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: pad}} },
		func(p *corev1.Pod) { p.Spec.Containers[0].Image = pad },
		func(p *corev1.Pod) { p.Status.ContainerStatuses[0].ImageID = pad },
		func(p *corev1.Pod) { p.Labels["a"] = pad },
		func(p *corev1.Pod) { p.OwnerReferences[0].Kind = pad },
	} {
		p := pod("team", "notes", i, 1)
		change(p)
		_ = s.Add(p)
	}
	for _, g := range r.podStore.all() {
		if kept := len(fmt.Sprint(g.podSignature)); kept > 4<<10 {
			t.Errorf("%d bytes of a Pod of %.40s are kept", kept, g.Owner)
		}
	}
	sums, _ := r.judge([]v1alpha1.MCPAuditPolicy{policyOf("team", "default", 1)}, nil, noon)
	if got := sumOf(sums, "default"); !strings.HasPrefix(got, "7/7; ") || strings.Count(got, "Unreadable") != 4 ||
		!strings.Contains(got, "ReplicaSet/notes Unreadable x2") {
		t.Errorf("a policy reports %q", got)
	}
}

// TestTargets: a policy about workloads is about what their Pods run.
func TestTargets(t *testing.T) {
	alone := pod("team", "alone", 0, 1)
	alone.OwnerReferences = nil
	for targets, want := range map[string]string{
		"": "2/2; Pod/alone-0 NotAudited x1; ReplicaSet/notes NotAudited x1", "Pods": "2/2; Pod/alone-0 NotAudited x1; ReplicaSet/notes NotAudited x1",
		"Workloads": "1/1; ReplicaSet/notes NotAudited x1", "MCPServers": "0/0",
	} {
		r, _, _ := newReconciler(t)
		s := &namespaceStore{podStore: r.podStore, namespace: "team"}
		_ = s.Replace([]any{pod("team", "notes", 0, 1), alone}, "")
		sums, _ := r.judge([]v1alpha1.MCPAuditPolicy{policyOf("team", "default", 1, func(g *v1alpha1.Gate) {
			if targets != "" {
				g.Targets = []v1alpha1.GateTarget{v1alpha1.GateTarget(targets)}
			}
		})}, nil, noon)
		if got := sumOf(sums, "default"); got != want {
			t.Errorf("targets %q: %s, want %s", targets, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	full := func(change func(*corev1.Pod)) *corev1.Pod {
		p := pod("team", "notes", 0, 1)
		p.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup"}, {Name: "proxy", Image: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
		p.Spec.Volumes = []corev1.Volume{{Name: "models", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "models"}}}}
		status := func(name string) corev1.ContainerStatus {
			return corev1.ContainerStatus{Name: name, ImageID: "r/" + name + "@" + string(digest(7))}
		}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{status("setup"), status("proxy")}
		p.Status.InitContainerStatuses[0].State.Terminated = &corev1.ContainerStateTerminated{}
		change(p)
		return p
	}
	crashed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	for _, test := range []struct {
		name   string
		change func(*corev1.Pod)
		want   string
	}{
		{"a Pod that runs", func(*corev1.Pod) {}, "models proxy server"},
		{"still being set up", func(p *corev1.Pod) {
			p.Status.Phase, p.Status.ContainerStatuses = corev1.PodPending, nil
			p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}, "setup proxy"},
		{"its set-up fails, and is tried again", func(p *corev1.Pod) { p.Status.InitContainerStatuses[0].State = crashed }, "models setup proxy server"},
		{"it crashes, and is started again", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State = crashed }, "models proxy server"},
		{"it crashed for good", func(p *corev1.Pod) {
			p.Spec.RestartPolicy, p.Status.ContainerStatuses[0].State = corev1.RestartPolicyNever, crashed
		}, "models proxy"},
		{"the image is not pulled", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "server"}}}
		}, ""},
		{"it is being deleted", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }, ""},
		{"it failed", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, ""},
	} {
		l, runs := read(full(test.change))
		var names []string
		for _, c := range l.Subject.Containers {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != test.want || runs != (test.want != "") || len(l.ImageIDs) != len(names) {
			t.Errorf("%s: %q runs, want %q", test.name, got, test.want)
		}
	}
}

// TestEventLog: each change is announced once, by as few events as there is room for.
func TestEventLog(t *testing.T) {
	places := func(n int) map[place]*group {
		all := map[place]*group{}
		for i := range n {
			all[place{"team", fmt.Sprintf("ReplicaSet/r%04d", i), "server"}] = &group{}
		}
		return all
	}
	type words struct {
		began, ended int
		whole        bool
		again        time.Duration
	}
	var state eventLog
	step := func(what string, have map[place]*group, now time.Time, want words) {
		t.Helper()
		state.resume(nil, have)
		s := state.next(have, now)
		got := words{began: len(s.began), ended: len(s.ended), whole: s.whole}
		if !s.again.IsZero() {
			got.again = s.again.Sub(noon)
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	step("three begin", places(3), noon, words{began: 3, whole: true})
	step("nothing new", places(3), noon, words{})
	step("one ends", places(2), noon, words{ended: 1, whole: true})
	step("thousands begin", places(5000), noon.Add(time.Second), words{began: 4998})
	step("some end right after", places(4000), noon.Add(2*time.Second), words{again: window})
	step("and begin again", places(5000), noon.Add(3*time.Second), words{})
	step("all end", nil, noon.Add(4*time.Second), words{again: window})
	step("a window later", nil, noon.Add(window), words{ended: 5000})
	step("one begins", places(1), noon.Add(3*window), words{began: 1, whole: true})

	restarted := func(violating int32, listed int) []place {
		before := &v1alpha1.GateStatus{Violating: violating}
		for i := range listed {
			before.Running = append(before.Running, v1alpha1.RunningViolation{Namespace: "team", Owner: fmt.Sprintf("ReplicaSet/r%04d", i), Container: "server", Pods: 1})
		}
		var fresh eventLog
		fresh.resume(before, places(60))
		return fresh.next(places(60), noon).began
	}
	if began := restarted(50, 50); len(began) != 10 {
		t.Errorf("a restart repeats what the status had: %d begin, want 10", len(began))
	}
	if began := restarted(60, 50); len(began) != 0 {
		t.Errorf("a restart tells of %d that the status had no room for", len(began))
	}
}

// TestEventsSayWhatToDo.
func TestEventsSayWhatToDo(t *testing.T) {
	r, known, recorded := newReconciler(t)
	known.know(1, 2, noon)
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	_ = s.Replace([]any{pod("team", "notes", 0, 1), pod("team", "notes", 1, 1)}, "")
	pass := func() {
		sums, _ := r.judge([]v1alpha1.MCPAuditPolicy{policyOf("team", "default", 1)}, nil, noon)
		for p, sum := range sums {
			p.announced.resume(nil, sum.places)
			r.emitEvents(p, sum, noon)
		}
	}
	pass()
	pass()
	known.know(1, 0, noon)
	pass()
	if len(recorded.notes) != 2 {
		t.Fatalf("events are %q", recorded.notes)
	}
	for _, want := range []string{"Warning RunningViolation: In team, ReplicaSet notes: container server", "registry.example/notes:1", "2 High", "kubectl mcpaudit show"} {
		if !strings.Contains(recorded.notes[0], want) {
			t.Errorf("%q does not have %q", recorded.notes[0], want)
		}
	}
	if want := "Normal RunningViolationEnded: The container server of ReplicaSet/notes in team does not violate the policy any more."; recorded.notes[1] != want {
		t.Errorf("the end is announced as %q", recorded.notes[1])
	}
}

func TestStatusIsBounded(t *testing.T) {
	r, _, _ := newReconciler(t)
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	var listed []any
	for i := range 200 {
		listed = append(listed, pod("team", fmt.Sprintf("r%03d", 199-i), 0, i))
	}
	_ = s.Replace(listed, "")
	sums, _ := r.judge([]v1alpha1.MCPAuditPolicy{policyOf("team", "default", 1)}, nil, noon)
	for _, sum := range sums {
		status := sum.status()
		if status.Violating != 200 || len(status.Running) != v1alpha1.MaxRunning || status.Running[0].Owner != "ReplicaSet/r000" ||
			!slices.IsSortedFunc(status.Running, func(a, b v1alpha1.RunningViolation) int { return strings.Compare(a.Owner, b.Owner) }) {
			t.Errorf("%d violate, %d are announced, the first of %s", status.Violating, len(status.Running), status.Running[0].Owner)
		}
	}
}

// TestGated: what runs in spite of a policy leaves it ready; what of it is not in force
// does not.
func TestGated(t *testing.T) {
	violated, fine := &tally{containers: 3, violating: 2}, &tally{containers: 3}
	for _, test := range []struct {
		name  string
		sum   *tally
		state state
		want  string
	}{
		{"all is well", fine, state{}, "True Gating: Containers that run: 3; none of them would be denied."},
		{"S9: audits of all namespaces", fine, state{trustsAll: true}, "True Gating: Containers that run: 3; none of them would be denied. " +
			"Audits of every namespace count (trust.auditNamespaces: All): who may write an MCPServerAudit anywhere can have an image pass or fail."},
		{"something runs", violated, state{}, "True RunningViolations: Containers that run: 3; would be denied by now: 2, see status.gate.running. They are left alone."},
		{"an invalid spec, first of all", violated, state{invalid: "spec.match: no", offline: "x", unread: "team", off: true},
			"False InvalidSpec: The spec cannot be followed, so all that the policy could be about is denied. Correct it: spec.match: no"},
		{"the API server does not have it yet", violated, state{offline: "forbidden"}, "Unknown OfflineGatePending: What the API server enforces by itself could not " +
			"be written: forbidden. Containers that run: 3; would be denied by now: 2, see status.gate.running. They are left alone."},
		{"Pods that cannot be read", fine, state{unread: "team"}, "Unknown PodsPending: The policy is in force; what runs is not known, because the Pods of the " +
			"namespace team could not be listed yet. The log of the manager says why."},
		{"no label", fine, state{off: true}, "True NamespaceNotGated: The policy has no effect: the namespace does not have the label mcpaudit.dev/gate=enabled."},
	} {
		c := test.sum.gated(test.state)
		if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
