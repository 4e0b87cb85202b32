package discovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// found is a Deployment that was created that many minutes after the epoch.
func found(namespace, name string, minute int, changes ...func(*candidate)) *candidate {
	c := &candidate{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name),
			CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(minute) * time.Minute)),
		},
		GVK: resources[0].kind.WithVersion("v1"), Source: v1alpha1.SourceWorkload,
		Reading: source.Reading{Server: v1alpha1.Server{Image: "r/" + name, Transport: report.TransportStdio}},
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

func byToolHive(c *candidate) {
	c.GVK, c.Source, c.UID = resources[3].kind.WithVersion("v1beta1"), v1alpha1.SourceToolHive, "toolhive/"+c.UID
}

func policy(name string, minute int, changes ...func(*v1alpha1.Discovery)) v1alpha1.ClusterMCPAuditPolicy {
	discovery := &v1alpha1.Discovery{Max: 100}
	for _, change := range changes {
		change(discovery)
	}
	return v1alpha1.ClusterMCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(minute) * time.Minute))},
		Spec:       v1alpha1.ClusterMCPAuditPolicySpec{Discovery: discovery},
	}
}

func atMost(n int32) func(*v1alpha1.Discovery) { return func(d *v1alpha1.Discovery) { d.Max = n } }

// made is the audit that discovery has made for a candidate.
func made(policy string, c *candidate) v1alpha1.MCPServerAudit {
	key := c.auditKey()
	return v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name,
		Labels:      map[string]string{LabelDiscoveredBy: policy, LabelSourceKind: c.kindName()},
		Annotations: map[string]string{annotationSourceName: c.Name},
	}}
}

func theirs(namespace, name string) v1alpha1.MCPServerAudit {
	return v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// summary is a plan in lines: wanted audits, unwanted ones, and who is skipped why.
func summary(p plan) []string {
	var lines []string
	for _, w := range p.Wanted {
		lines = append(lines, "audit "+w.Key.String()+" for "+w.Outcome.Policy.Name)
	}
	for _, audit := range p.Unwanted {
		lines = append(lines, "delete "+keyOf(audit).String())
	}
	for _, o := range p.Outcomes {
		if o.Invalid != nil {
			lines = append(lines, o.Policy.Name+" is invalid")
		}
		for _, s := range o.Skipped {
			lines = append(lines, fmt.Sprintf("%s skips %s/%s: %s", o.Policy.Name, s.Namespace, s.Name, s.Reason))
		}
	}
	slices.Sort(lines)
	return lines
}

func TestPlan(t *testing.T) {
	a, b, c := found("one", "a", 1), found("one", "b", 2), found("two", "c", 3)
	watched := map[v1alpha1.DiscoverySource]sourceState{
		v1alpha1.SourceWorkload: {State: v1alpha1.SourceWatched}, v1alpha1.SourceToolHive: {State: v1alpha1.SourceWatched},
	}
	pending := map[v1alpha1.DiscoverySource]sourceState{
		v1alpha1.SourceWorkload: {State: v1alpha1.SourceWatched}, v1alpha1.SourceToolHive: {State: v1alpha1.SourcePending},
	}
	gone := map[v1alpha1.DiscoverySource]sourceState{v1alpha1.SourceToolHive: {State: v1alpha1.SourceNotServed}}
	copied := made("p", a)
	copied.Name = "copied"
	released := made("p", a)
	delete(released.Labels, LabelDiscoveredBy)
	leaving := policy("p", 0)
	leaving.DeletionTimestamp = &metav1.Time{Time: epoch}
	for _, test := range []struct {
		name string
		in   input
		want []string
	}{
		{"nothing to do", input{}, nil},
		{"an audit for each", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)}, Candidates: []*candidate{a, c},
		}, []string{"audit one/deployment-a for p", "audit two/deployment-c for p"}},
		{"no policy, no audits", input{
			Candidates: []*candidate{a}, Audits: []v1alpha1.MCPServerAudit{made("p", a), theirs("one", "mine")},
		}, []string{"delete one/deployment-a"}},
		{"a policy on its way out", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{leaving}, Candidates: []*candidate{a}, Audits: []v1alpha1.MCPServerAudit{made("p", a)},
		}, []string{"delete one/deployment-a"}},
		{"a source that is gone", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)}, Candidates: []*candidate{a}, Audits: []v1alpha1.MCPServerAudit{made("p", a), made("p", b)},
		}, []string{"audit one/deployment-a for p", "delete one/deployment-b"}},
		{"a source on its way out", input{
			Policies:   []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)},
			Candidates: []*candidate{found("one", "a", 1, func(c *candidate) { c.DeletionTimestamp = &metav1.Time{Time: epoch} })},
			Audits:     []v1alpha1.MCPServerAudit{made("p", a)},
		}, []string{"delete one/deployment-a"}},
		{"the namespaces that are selected", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0, func(d *v1alpha1.Discovery) {
				d.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"n": "two"}}
			})},
			Candidates: []*candidate{a, c, found("gone", "d", 1)}, Audits: []v1alpha1.MCPServerAudit{made("p", a)},
		}, []string{"audit two/deployment-c for p", "delete one/deployment-a"}},
		{"never the operator's own namespaces", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)}, Candidates: []*candidate{found("own", "a", 1)},
		}, nil},
		{"only the sources that are listed", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0, func(d *v1alpha1.Discovery) {
				d.Sources = []v1alpha1.DiscoverySource{v1alpha1.SourceToolHive}
			})},
			Candidates: []*candidate{a, found("one", "a", 1, byToolHive)},
		}, []string{"audit one/toolhive-a for p"}},
		{"a selector that is none keeps what there is", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0, func(d *v1alpha1.Discovery) {
				d.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "n", Operator: "Near"}}}
			})},
			Candidates: []*candidate{a}, Audits: []v1alpha1.MCPServerAudit{made("p", a), made("other", b)},
		}, []string{"delete one/deployment-b", "p is invalid"}},
		{"the oldest, up to max", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0, atMost(2))}, Candidates: []*candidate{c, b, a},
			Audits: []v1alpha1.MCPServerAudit{made("p", c)},
		}, []string{"audit one/deployment-a for p", "audit one/deployment-b for p", "delete two/deployment-c", "p skips two/c: BeyondMax"}},
		{"what cannot be audited takes no room", input{
			Policies:   []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0, atMost(1))},
			Candidates: []*candidate{found("one", "z", 0, func(c *candidate) { c.Reading = source.NotAuditable("No.") }), a},
		}, []string{"audit one/deployment-a for p", "p skips one/z: NotAuditable"}},
		{"the older of two policies", input{
			Policies:   []v1alpha1.ClusterMCPAuditPolicy{policy("a", 2), policy("z", 1, atMost(1)), policy("y", 1, atMost(1))},
			Candidates: []*candidate{a, b}, Audits: []v1alpha1.MCPServerAudit{made("z", a)},
		}, []string{"a skips one/a: OtherPolicy", "a skips one/b: OtherPolicy", "audit one/deployment-a for y", "y skips one/b: BeyondMax",
			"z skips one/a: OtherPolicy", "z skips one/b: OtherPolicy"}},
		{"what another server consists of", input{
			Policies:   []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)},
			Candidates: []*candidate{found("one", "a", 1, byToolHive), found("one", "a-proxy", 2, func(c *candidate) { c.Controller = "toolhive/one/a" })},
		}, []string{"audit one/toolhive-a for p", "p skips one/a-proxy: Duplicate"}},
		{"an audit that somebody else has made", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)}, Candidates: []*candidate{a, b},
			Audits: []v1alpha1.MCPServerAudit{theirs("one", "deployment-a"), theirs("two", "deployment-b")},
		}, []string{"audit one/deployment-b for p", "p skips one/a: NameTaken"}},
		{"an audit that somebody has taken over, and a copy of one", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)}, Candidates: []*candidate{a}, Audits: []v1alpha1.MCPServerAudit{released, copied},
		}, []string{"p skips one/a: NameTaken"}},
		{"a source that cannot be read keeps its audits and their places", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0, atMost(2))}, Candidates: []*candidate{a, b}, Sources: pending,
			Audits: []v1alpha1.MCPServerAudit{made("p", found("one", "t", 5, byToolHive)), made("p", a)},
		}, []string{"audit one/deployment-a for p", "p skips one/b: BeyondMax"}},
		{"a source whose CRD is gone does not", input{
			Policies: []v1alpha1.ClusterMCPAuditPolicy{policy("p", 0)}, Sources: gone,
			Audits: []v1alpha1.MCPServerAudit{made("p", found("one", "t", 5, byToolHive))},
		}, []string{"delete one/toolhive-t"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := test.in
			in.Own = []string{"own"}
			in.Namespaces = map[string]labels.Set{"one": {"n": "one"}, "two": {"n": "two"}, "own": {}}
			if in.Sources == nil {
				in.Sources = watched
			}
			if diff := cmp.Diff(test.want, summary(newPlan(in))); diff != "" {
				t.Error(diff)
			}
			rand.Shuffle(len(in.Candidates), func(i, j int) { in.Candidates[i], in.Candidates[j] = in.Candidates[j], in.Candidates[i] })
			rand.Shuffle(len(in.Policies), func(i, j int) { in.Policies[i], in.Policies[j] = in.Policies[j], in.Policies[i] })
			if diff := cmp.Diff(test.want, summary(newPlan(in))); diff != "" {
				t.Errorf("it depends on the order: %s", diff)
			}
		})
	}
}

func TestNamesOfAudits(t *testing.T) {
	seen := map[string]string{}
	for _, r := range resources {
		for _, name := range []string{"a", "a-b", "a.b", strings.Repeat("a", 52), strings.Repeat("a", 62) + "b", strings.Repeat("a", 62) + "c", strings.Repeat("a.", 126) + "a"} {
			got := auditName(r, name)
			what := r.kind.String() + " " + name
			if other, taken := seen[got]; taken {
				t.Errorf("%s and %s are both %s", what, other, got)
			}
			seen[got] = what
			if len(got) > 63 || strings.HasSuffix(got, "-") || !strings.HasPrefix(got, r.prefix+"-") {
				t.Errorf("%s: %s is no name", what, got)
			}
		}
	}
	if got := auditName(resources[0], "weather"); got != "deployment-weather" {
		t.Errorf("the name is %s", got)
	}
}

func TestStatus(t *testing.T) {
	p := policy("p", 0, atMost(1000))
	p.Generation = 3
	outcome := func(change func(*policyOutcome)) *policyOutcome {
		o := &policyOutcome{Policy: &p, Discovered: map[v1alpha1.DiscoverySource]int32{v1alpha1.SourceWorkload: 2}, Audited: 2}
		change(o)
		return o
	}
	read := map[v1alpha1.DiscoverySource]sourceState{
		v1alpha1.SourceWorkload: {State: v1alpha1.SourceWatched}, v1alpha1.SourceToolHive: {State: v1alpha1.SourceNotServed, Message: "The CRD is not installed."},
	}
	blocked := map[v1alpha1.DiscoverySource]sourceState{v1alpha1.SourceKmcp: {State: v1alpha1.SourcePending, Message: "forbidden"}}
	for _, test := range []struct {
		name    string
		outcome *policyOutcome
		sources map[v1alpha1.DiscoverySource]sourceState
		want    string // Ready
		kstatus string // Reconciling, Stalled
	}{
		{"all is well", outcome(func(*policyOutcome) {}), read, "True Discovered: Servers found: 2; each has an audit.", ""},
		{"some are skipped", outcome(func(o *policyOutcome) { o.Audited, o.Skipped = 1, make([]v1alpha1.SkippedServer, 1) }), read,
			"True Discovered: Servers found: 2; audited: 1; skipped: 1, for the reasons in status.discovery.skippedServers.", ""},
		{"some wait", outcome(func(o *policyOutcome) { o.Waiting, o.Problem = 1, fmt.Errorf("apply audit x: timeout") }), read,
			"Unknown AuditsPending: Audits that cannot be written yet, and are tried again: 1. The first of them: apply audit x: timeout", "Reconciling"},
		{"a source cannot be read", outcome(func(*policyOutcome) {}), blocked,
			"Unknown SourcesPending: The source Kmcp is not read yet; its audits stay as they are. forbidden", "Reconciling"},
		{"the spec makes no sense", outcome(func(o *policyOutcome) { o.Invalid = fmt.Errorf("spec.discovery.namespaceSelector: no") }), read,
			"False InvalidSpec: The spec cannot be followed; the audits stay as they are. Correct spec.discovery.namespaceSelector: no.", "Stalled"},
		{"nothing is asked for", &policyOutcome{Policy: &v1alpha1.ClusterMCPAuditPolicy{}}, nil,
			"True NothingToDo: There is neither spec.discovery nor spec.gate: nothing is looked for, and nothing denied.", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			written := test.outcome.Policy.DeepCopy()
			written.Generation = 3
			written.Status.Conditions = []metav1.Condition{{Type: "Reconciling", Status: "True"}, {Type: "Stalled", Status: "True"}}
			test.outcome.write(written, test.sources, epoch)
			ready, others := "", ""
			for _, c := range written.Status.Conditions {
				if c.ObservedGeneration != 3 && c.Type == "Ready" {
					t.Errorf("%s is about generation %d", c.Type, c.ObservedGeneration)
				}
				if c.Type == "Ready" {
					ready = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
				} else if c.Type != "Discovered" {
					others += c.Type
				}
			}
			if ready != test.want || others != test.kstatus || written.Status.ObservedGeneration != 3 {
				t.Errorf("Ready is %q with %q of generation %d", ready, others, written.Status.ObservedGeneration)
			}
		})
	}
	many := outcome(func(o *policyOutcome) {
		for i := range 1000 {
			o.skip(found(strings.Repeat("n", 63), fmt.Sprintf("%0253d", 1000-i), i), v1alpha1.SkipNotAuditable, source.NotAuditable("%s", strings.Repeat("<", 1000)).NotAuditable)
		}
	}).discovery(read)
	if len(many.SkippedServers) != v1alpha1.MaxSkipped || many.Skipped != 1000 || !strings.HasSuffix(many.SkippedServers[0].Name, "0001") {
		t.Errorf("%d of %d skipped servers are told, the first is %s", len(many.SkippedServers), many.Skipped, many.SkippedServers[0].Name)
	}
	if len(many.Sources) != 4 || many.Sources[0].Discovered != 2 {
		t.Errorf("sources are %v", many.Sources)
	}
}
