package offline

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// known are verdicts as an index finds them.
type known []*gate.Verdict

func (k known) ByDigest(digest v1alpha1.Digest) (found []*gate.Verdict) {
	for _, v := range k {
		if slices.Contains(v.Manifests(), digest) {
			found = append(found, v)
		}
	}
	return found
}

func (k known) ByImageID(id v1alpha1.Digest) (found []*gate.Verdict) {
	for _, v := range k {
		if v.ImageID == id {
			found = append(found, v)
		}
	}
	return found
}

func (k known) ByImage(image string) (found []*gate.Verdict) {
	for _, v := range k {
		if v.Image == image {
			found = append(found, v)
		}
	}
	return found
}

func digest(c string) v1alpha1.Digest { return v1alpha1.Digest("sha256:" + strings.Repeat(c, 64)) }

// verdict makes one of an audit team/c of an image whose digest is c 64 times.
func verdict(c string, high int32, command ...string) *gate.Verdict {
	return &gate.Verdict{
		Audit: types.NamespacedName{Namespace: "team", Name: "audit-" + c + strings.Join(command, "")}, Image: "registry.example/mcp/" + c + ":1",
		Digests: []v1alpha1.Digest{digest(c)}, Command: command, CommandDigest: v1alpha1.CommandDigest(command, nil), Complete: true,
		Findings: v1alpha1.FindingCounts{High: high}, Unsuppressed: v1alpha1.FindingCounts{High: high}, Time: now.Add(-time.Hour),
	}
}

func world(verdicts ...*gate.Verdict) World {
	return World{Verdicts: verdicts, Facts: gate.Facts{
		Verdicts: known(verdicts), Now: now, Architectures: []string{"amd64"},
		NamespaceLabels: func(string) (labels.Set, bool) { return labels.Set{v1alpha1.GateLabel: v1alpha1.GateEnabled}, true },
	}}
}

func clusterPolicy(offline v1alpha1.OfflineGate, trust v1alpha1.AuditNamespaces) *v1alpha1.ClusterMCPAuditPolicy {
	return &v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: v1alpha1.ClusterMCPAuditPolicySpec{
		Gate: &v1alpha1.Gate{Offline: offline}, Trust: &v1alpha1.Trust{AuditNamespaces: trust},
	}}
}

// compiled is all that the lists of a static policy say.
func compiled(t *testing.T, policy string, p *v1alpha1.ClusterMCPAuditPolicy, w World) map[string]string {
	t.Helper()
	objects := Compile(nil, []*v1alpha1.ClusterMCPAuditPolicy{p}, w)
	if len(objects.Problems) > 0 {
		t.Fatalf("problems: %v", objects.Problems)
	}
	all := map[string]string{}
	for _, list := range objects.Lists {
		if list.Labels[labelList] == policy {
			for key, text := range list.Data {
				if !strings.HasPrefix(text, "\n") {
					all[key] = text
					continue
				}
				for line := range strings.SplitSeq(text[1:], "\n") {
					name, lines, _ := strings.Cut(line, "\t")
					if bucketOf(name) != key {
						t.Errorf("%s is in %s", name, key)
					}
					all[name] = strings.ReplaceAll(lines, "\r", "\n")
				}
			}
		}
	}
	return all
}

func key(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// says returns what is said about a key, a line each without its sentence.
func says(list map[string]string, key string) string {
	text, ok := list[key]
	if !ok {
		return "nothing"
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Split(line, "\t")
		lines = append(lines, strings.Join(fields[:4], "|"))
	}
	return strings.Join(lines, "\n")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

func TestDenyList(t *testing.T) {
	p := clusterPolicy(v1alpha1.OfflineDenyFailed, v1alpha1.AuditsAll)
	passing := verdict("c", 0, "/good")
	argv := verdict("d", 0, "/good")
	argv.ArgvDigest = digest("e")
	drifted := verdict("f", 0)
	drifted.Drifted = true
	list := compiled(t, policyDenied, p, world(verdict("a", 2), verdict("b", 1, "/x", "y z"), verdict("c", 1), passing, verdict("d", 1), argv, drifted, verdict("0", 0)))
	expect(t, "any command", says(list, key("a")), "*|*|deny|")
	expect(t, "by name", says(list, "registry.example/mcp/a:1"), "*|*|deny|")
	expect(t, "one command", says(list, key("b")), "/x y%20z ||deny|")
	if got := says(list, key("c")); !strings.Contains(got, "/good ||pass|") || !strings.HasSuffix(got, "*|*|deny|") {
		t.Errorf("a command that passed: got\n%s", got)
	}
	if got := says(list, key("d")); !strings.Contains(got, "|*|deny|") || strings.Contains(got, "*|*|") {
		t.Errorf("a command line that passed, of which only the digest is known: got\n%s", got)
	}
	expect(t, "drifted", says(list, key("f")), "*|*|deny|")
	expect(t, "passed", says(list, key("0")), "nothing")
	if want := `which failed its audit team/audit-a (2 High findings): see "kubectl mcpaudit show audit-a -n team", and run an image that passes (cluster policy default).`; !strings.Contains(list[key("a")], want) {
		t.Errorf("the sentence ends otherwise: %s", list[key("a")])
	}
	p.Spec.Gate.OnDrift = v1alpha1.ActionAllow
	expect(t, "drift is allowed", says(compiled(t, policyDenied, p, world(drifted)), key("f")), "nothing")
	p.Spec.Gate.FailOn = "Critical"
	expect(t, "failOn is Critical", says(compiled(t, policyDenied, p, world(verdict("a", 2))), key("a")), "nothing")
}

// TestExposureLists: too much exposure is denied while the gate is away, and what records none
// has not passed.
func TestExposureLists(t *testing.T) {
	exposed, modest := verdict("a", 0), verdict("b", 0)
	exposed.Exposure = &v1alpha1.ExposureSummary{Score: 75, Level: report.RiskCritical}
	modest.Exposure = &v1alpha1.ExposureSummary{Level: report.RiskNone}
	modest.Exercise = &v1alpha1.AuditedExercise{Network: report.NetworkSinkhole, Rounds: plan.DefaultRounds, MaxCallsPerTool: plan.DefaultMaxCallsPerTool}
	w := world(exposed, modest, verdict("c", 0))
	p := clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsAll)
	p.Spec.Exposure = &v1alpha1.ExposureLimit{MaxLevel: report.RiskHigh}
	denied, passed := compiled(t, policyDenied, p, w), compiled(t, policyPassed, p, w)
	for c, want := range map[string][2]string{"a": {"*|*|deny|", "||none|"}, "b": {"nothing", "||pass|"}, "c": {"nothing", "||none|"}} {
		expect(t, c+", denied", says(denied, key(c)), want[0])
		expect(t, c+", passed", says(passed, key(c)), want[1])
	}
}

func TestAllowList(t *testing.T) {
	p := clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsAll)
	blind, stale := verdict("b", 0), verdict("c", 0)
	blind.Complete = false
	stale.Time = now.Add(-48 * time.Hour)
	elsewhere := verdict("d", 0)
	elsewhere.Architecture = "arm64"
	w := world(verdict("a", 0), verdict("a", 0, "/x"), blind, stale, elsewhere, verdict("e", 1))
	p.Spec.Gate.MaxAge = &metav1.Duration{Duration: 24 * time.Hour}
	list := compiled(t, policyPassed, p, w)
	if got := says(list, key("a")); !strings.Contains(got, "||pass|") || !strings.Contains(got, "/x ||pass|") || strings.Contains(got, "*") {
		t.Errorf("passed: got\n%s", got)
	}
	for c, want := range map[string]string{"b": "||none|", "c": "||none|", "d": "||pass|", "e": "||none|", "f": "nothing"} {
		expect(t, c, says(list, key(c)), want)
	}
	mixed := w
	mixed.Facts.Architectures = []string{"arm64", "windows/arm64"}
	expect(t, "where there are nodes of another system", says(compiled(t, policyPassed, p, mixed), key("d")), "||pass|")
	next := Compile(nil, []*v1alpha1.ClusterMCPAuditPolicy{p}, w).Next
	if want := now.Add(23*time.Hour + time.Second); !next.Equal(want) {
		t.Errorf("it is looked at again at %s, want %s", next, want)
	}
	p.Spec.Gate.OnOtherCommand, p.Spec.Gate.OnInconclusive, p.Spec.Gate.OnStale = v1alpha1.ActionWarn, "Allow", v1alpha1.ActionAllow
	list = compiled(t, policyPassed, p, w)
	expect(t, "another command is admitted", says(list, key("a")), "*|*|pass|")
	expect(t, "inconclusive is admitted", says(list, key("b")), "*|*|pass|")
	expect(t, "stale is admitted", says(list, key("c")), "*|*|pass|")
	expect(t, "S10: a tag", says(list, "registry.example/mcp/a:1"), "||none|\n/x ||none|")
	p.Spec.Gate.OnMissing = v1alpha1.ActionWarn
	if objects := Compile(nil, []*v1alpha1.ClusterMCPAuditPolicy{p}, w); len(objects.Bindings) != 1 {
		t.Errorf("what is not audited is admitted: got %d bindings, want the one of the deny list", len(objects.Bindings))
	}
}

func TestExceptions(t *testing.T) {
	p := clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsSame)
	exception := func(name string, spec v1alpha1.MCPAuditExceptionSpec) *v1alpha1.MCPAuditException {
		spec.PolicyRef, spec.ExpiresAt = v1alpha1.PolicyReference{Kind: "ClusterMCPAuditPolicy", Name: "default"}, metav1.NewTime(now.Add(time.Hour))
		return &v1alpha1.MCPAuditException{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, CreationTimestamp: metav1.NewTime(now)}, Spec: spec}
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	w := world(verdict("a", 2))
	w.Exceptions = []*v1alpha1.MCPAuditException{
		exception("image", v1alpha1.MCPAuditExceptionSpec{Images: []v1alpha1.Digest{digest("a"), digest("b")}, ObjectSelector: selector}),
		exception("any", v1alpha1.MCPAuditExceptionSpec{ObjectSelector: selector}),
	}
	id, all := hash("team/image"), hash("team/any")
	denied, passed := compiled(t, policyDenied, p, w), compiled(t, policyPassed, p, w)
	expect(t, "denied", strings.Split(says(denied, "team."+key("a")), "\n")[0], "*|*|deny|,"+id+",")
	expect(t, "passed", says(passed, "team."+key("a")), "||none|,"+id+",\n*|*|none|,"+id+",")
	expect(t, "not audited", says(passed, "team."+key("b")), "*|*|none|,"+id+",")
	expect(t, "any image", passed["except"], ","+all+",")
	expect(t, "selector", passed["x"+id], "team\nIn app ,a,\n")
	w.Facts.Now = now.Add(time.Hour)
	expect(t, "expired", says(compiled(t, policyPassed, p, w), "team."+key("b")), "nothing")
	w.Facts.Now = now
	p.Spec.Trust.IgnoreExceptions = true
	expect(t, "ignored", says(compiled(t, policyPassed, p, w), "team."+key("b")), "nothing")
}

// Who administers a namespace must not fill etcd by the lists of policies.
func TestFewPoliciesOfANamespaceHaveLists(t *testing.T) {
	var policies []*v1alpha1.MCPAuditPolicy
	for i := range 2 * maxPolicies {
		of := func(namespace string) *v1alpha1.MCPAuditPolicy {
			return &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("p%02d", 2*maxPolicies-i)}}
		}
		if policies = append(policies, of("team")); i < 3 {
			policies = append(policies, of("other"))
		}
	}
	objects := Compile(policies, []*v1alpha1.ClusterMCPAuditPolicy{clusterPolicy(v1alpha1.OfflineDenyFailed, v1alpha1.AuditsAll)}, world())
	if got, want := len(objects.Bindings), maxPolicies+3+1; got != want || len(objects.Problems) != maxPolicies {
		t.Errorf("got %d bindings and %d problems, want %d and %d", got, len(objects.Problems), want, maxPolicies)
	}
	last := Policy{v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: fmt.Sprintf("p%02d", maxPolicies+1)}, "team"}
	if objects.Problems[last] == "" {
		t.Errorf("%v has no problem: %v", last, objects.Problems)
	}
	r := &Reconciler{}
	if err := r.remember(t.Context(), map[Policy]error{last: lasting(objects.Problems[last])}); err != nil || r.Problem(last.PolicyReference, last.Namespace) == "" {
		t.Errorf("what lasts is tried again: %v", err)
	}
}

func TestNoTwoExceptionsHaveOneID(t *testing.T) {
	if id := hash("team/image"); len(id) < 32 {
		t.Errorf("the id %s can be that of another name, which somebody finds", id)
	}
}

func TestShardsTakeEveryBucketOnceAndChangeLittle(t *testing.T) {
	list, changed := map[string][]string{}, 0
	for i := range 50_000 {
		list[keyOf("", string(v1alpha1.CommandDigest([]string{fmt.Sprint(i)}, nil)))] = []string{strings.Repeat("x", 60)}
	}
	for i := range 20_000 {
		list[keyOf("", fmt.Sprintf("registry.example/team-%02d/server-%05d:1.4.2", i%50, i))] = []string{strings.Repeat("x", 60)}
	}
	texts := fill(list)
	parts, keys := split(map[string]string{}, texts, maxShard), 0
	for i, part := range parts {
		size := 0
		for name, text := range part {
			if name == "from" || name == "to" {
				continue
			}
			size += len(name) + len(text)
			keys += strings.Count(text, "\n")
			if name < part["from"] || i+1 < len(parts) && name >= part["to"] {
				t.Fatalf("bucket %s is not in its shard from %q", name, part["from"])
			}
			if mean := 70_000 / buckets; strings.Count(text, "\n") > 2*mean {
				t.Errorf("bucket %s has %d keys, and there are %d in one at the mean", name, strings.Count(text, "\n"), mean)
			}
		}
		if size > maxShard || part["to"] != "" && part["to"] != parts[i+1]["from"] {
			t.Errorf("shard from %q to %q has %d bytes", part["from"], part["to"], size)
		}
	}
	if keys != len(list) || parts[0]["from"] != "" || len(parts) > 20 || len(texts) > buckets {
		t.Errorf("got %d keys in %d buckets and %d shards from %q, want %d keys in a few from the first", keys, len(texts), len(parts), parts[0]["from"], len(list))
	}
	list[key("7")] = []string{"one more"}
	for i, part := range split(map[string]string{}, fill(list), maxShard) {
		if i >= len(parts) || !maps.Equal(part, parts[i]) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("one key more changed %d shards, want 1", changed)
	}
	if empty := shards(nil, maxShard); len(empty) != 1 {
		t.Errorf("an empty list has %d shards, want 1, for something has to say that it is empty", len(empty))
	}
}

func TestGlobsMeanWhatTheGateMeans(t *testing.T) {
	names := []string{"registry.example/mcp/a:1", "registry.example/mcp/a@" + string(digest("a")), "registry.example/mcp/a:2@" + string(digest("a")),
		"registry.example/mcp/b/c", "notes", "docker.io/library/notes:1", string(digest("a")), "localhost:5000/x:y"}
	for _, glob := range []string{"registry.example/mcp/*", "registry.example/**", "**", "**/a:1", "docker.io/library/notes:*", "registry.example/mcp/a@" + string(digest("a")),
		"registry.example/mcp/a@" + string(digest("b")), "localhost:5000/*:y", "REGISTRY.example/mcp/a:*2", "*/*/*"} {
		p := clusterPolicy(v1alpha1.OfflineDenyFailed, v1alpha1.AuditsAll)
		p.Spec.Match = &v1alpha1.ClusterMatch{Match: v1alpha1.Match{Images: []string{glob}}}
		read := gate.ReadClusterPolicy(p)
		facts := world().Facts
		facts.Policies = []*gate.Policy{read}
		for _, name := range names {
			about := len(gate.Decide(gate.Subject{Kind: "Pod", Namespace: "team", Containers: []gate.Container{{Image: name}}}, facts).Opinions) > 0
			full, _, err := gate.Reference(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := regexp.MustCompile(images([]string{glob})).MatchString(full); got != about {
				t.Errorf("%s matches %s: %t, the gate says %t", glob, full, got, about)
			}
		}
	}
}

func TestNoNameForgesALine(t *testing.T) {
	list, names := map[string][]string{}, []string{
		"a.b/c:d", "a.b/c%3Ad", "a.b/c d", "a.b/c%20d", "a.b/c:d\n", "a.b/c:d\t", "a.b/c:d\r", "x\n" + key("1") + "\tpass", "x\t*\t*\tpass\n" + key("1"), "\x00", "\u00e9/\u2028:1",
	}
	for _, name := range names {
		list[keyOf("", name)] = []string{name}
		if text := keyOf("", name); strings.ContainsAny(text, "\n\t\r ") {
			t.Errorf("the key of %q is %q", name, text)
		}
	}
	if len(list) != len(names) {
		t.Errorf("%d names have %d keys", len(names), len(list))
	}
	if end := end(gate.Opinion{Finding: "which failed\nsha256:1\t\t\tpass\r*"}); strings.ContainsAny(end, "\n\t\r") {
		t.Errorf("the sentence is %q", end)
	}
}

func TestPoliciesPlaceKeysAlike(t *testing.T) {
	policy, err := os.ReadFile(filepath.Join("..", "..", "config", "policy", "lookup", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if rule := fmt.Sprintf("'b' + string(\n        k.key.substring(k.key.size() > %[1]d ? k.key.size() - %[1]d : 0).split('').map(l, '%[2]s'.indexOf(l)).sum() %% %[3]d)", placed, alphabet, buckets); !strings.Contains(string(policy), rule) {
		t.Errorf("the policy does not place a key by %s", rule)
	}
}
