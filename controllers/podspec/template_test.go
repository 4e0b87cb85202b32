package podspec_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/randfill"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

func build(t *testing.T, in podspec.Input) *corev1.Pod {
	t.Helper()
	pod, err := podspec.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func labelled(labels map[string]string) *v1alpha1.PodTemplate {
	return &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Labels: labels}}
}

// nodeLoss has the taints that every audit Pod tolerates for a minute.
var nodeLoss = []corev1.Toleration{
	{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(60))},
	{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(60))},
}

// TestTemplateSaysHowLongANodeMayBeSilent: then nothing is added.
func TestTemplateSaysHowLongANodeMayBeSilent(t *testing.T) {
	in := newInput(newAudit())
	in.Template = &v1alpha1.PodTemplate{Spec: v1alpha1.PodTemplateSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}}
	if got := build(t, in).Spec.Tolerations; len(got) != 1 {
		t.Errorf("the template tolerates everything, the Pod %v", got)
	}
	in.Template.Spec.Tolerations = nodeLoss[1:]
	if got := build(t, in).Spec.Tolerations; len(got) != 2 {
		t.Errorf("the template speaks of one taint, the Pod tolerates %v", got)
	}
}

// TestTemplateIsLaidOver: the operator's, then that of the spec.
func TestTemplateIsLaidOver(t *testing.T) {
	zone := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway}
	host := corev1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule}
	in := newInput(newAudit())
	in.Platform, in.AllowedMetadata, in.RuntimeClass = "linux/arm64/v8", []string{"kueue.x-k8s.io/*"}, "gvisor"
	in.Template = &v1alpha1.PodTemplate{
		Metadata: v1alpha1.PodTemplateMetadata{Annotations: map[string]string{"vendor.example/cost": "audits"}, Labels: map[string]string{"team": "security"}},
		Spec: v1alpha1.PodTemplateSpec{
			NodeSelector: map[string]string{"pool": "audits", "disk": "ssd"}, PriorityClassName: "low", SchedulerName: "batch",
			Tolerations:               []corev1.Toleration{{Key: "audits", Operator: corev1.TolerationOpExists}},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{zone},
		},
	}
	in.Audit.Spec.Sandbox.PodTemplate = &v1alpha1.PodTemplate{
		Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{"kueue.x-k8s.io/queue-name": "audits", "team": "a"}},
		Spec: v1alpha1.PodTemplateSpec{
			NodeSelector: map[string]string{"pool": "arm"}, PriorityClassName: "high",
			Tolerations:               []corev1.Toleration{{Key: "arm", Operator: corev1.TolerationOpExists}},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{host},
		},
	}
	pod := build(t, in)
	want := corev1.PodSpec{
		NodeSelector:      map[string]string{"pool": "arm", "disk": "ssd", corev1.LabelOSStable: "linux", corev1.LabelArchStable: "arm64"},
		PriorityClassName: "high", SchedulerName: "batch",
		Tolerations:               append(in.Audit.Spec.Sandbox.PodTemplate.Spec.Tolerations, nodeLoss...),
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{host, zone},
	}
	got := corev1.PodSpec{
		NodeSelector: pod.Spec.NodeSelector, PriorityClassName: pod.Spec.PriorityClassName, SchedulerName: pod.Spec.SchedulerName,
		Tolerations: pod.Spec.Tolerations, TopologySpreadConstraints: pod.Spec.TopologySpreadConstraints,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if pod.Labels["kueue.x-k8s.io/queue-name"] != "audits" || pod.Labels["team"] != "a" || pod.Annotations["vendor.example/cost"] != "audits" {
		t.Errorf("labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
	if got := *pod.Spec.RuntimeClassName; got != "gvisor" {
		t.Errorf("the runtime class is %q", got)
	}
	in.Audit.Spec.Sandbox.RuntimeClassName = "kata"
	if got := *build(t, in).Spec.RuntimeClassName; got != "kata" {
		t.Errorf("the runtime class of the spec is kata, of the Pod %q", got)
	}
}

func TestTemplateIsRefused(t *testing.T) {
	annotated := func(key string) *v1alpha1.PodTemplate {
		return &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Annotations: map[string]string{key: "x"}}}
	}
	selecting := func(key, value string) *v1alpha1.PodTemplate {
		return &v1alpha1.PodTemplate{Spec: v1alpha1.PodTemplateSpec{NodeSelector: map[string]string{key: value}}}
	}
	for name, test := range map[string]struct {
		template *v1alpha1.PodTemplate
		want     string
	}{
		"whose Pod it is":      {labelled(map[string]string{podspec.LabelUID: "other"}), "metadata.labels: mcpaudit.dev/audit-uid is the operator's own"},
		"its network":          {labelled(map[string]string{podspec.LabelNetwork: podspec.NetworkAllow}), "mcpaudit.dev/network is the operator's own"},
		"who manages it":       {labelled(map[string]string{podspec.LabelManagedBy: "me"}), "app.kubernetes.io/managed-by is the operator's own"},
		"below the group":      {labelled(map[string]string{"x.mcpaudit.dev/a": "b"}), "the operator's own"},
		"its record":           {annotated("mcpaudit.dev/run-record"), "the operator's own"},
		"a mesh, by label":     {labelled(map[string]string{"sidecar.istio.io/inject": "true"}), "the operator's own"},
		"a mesh":               {annotated("linkerd.io/inject"), "the operator's own"},
		"a profile":            {annotated("container.apparmor.security.beta.kubernetes.io/server"), "allowedMetadata"},
		"a device":             {annotated("cdi.k8s.io/gpu"), "allowedMetadata"},
		"a network":            {annotated("k8s.v1.cni.cncf.io/networks"), "allowedMetadata"},
		"an identity":          {labelled(map[string]string{"azure.workload.identity/use": "true"}), "allowedMetadata"},
		"a directive":          {labelled(map[string]string{"$patch": "replace"}), `"$patch" is no name of a label`},
		"a directive, nodes":   {selecting("$patch", "delete"), `spec.nodeSelector: "$patch" is no name of a label`},
		"no value":             {labelled(map[string]string{"team": "a b"}), `"a b" is no value for team`},
		"a node that cannot":   {selecting(corev1.LabelArchStable, "s390x"), "the image is run as \"amd64\": leave it out"},
		"a system that cannot": {selecting(corev1.LabelOSStable, "windows"), "the image is run as \"linux\""},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(newAudit())
			in.Platform, in.AllowedMetadata = "linux/amd64", []string{"kueue.x-k8s.io/*", "vendor.example/cost"}
			in.Audit.Spec.Sandbox.PodTemplate = test.template
			if _, err := podspec.Build(in); !errors.Is(err, podspec.ErrTemplate) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Build = %v, want %q", err, test.want)
			}
		})
	}
}

func TestCheckTemplateTellsAll(t *testing.T) {
	err := podspec.CheckTemplate(labelled(map[string]string{"$patch": "replace", "cdi.k8s.io/gpu": "a", podspec.LabelRun: "b"}), nil)
	for _, want := range []string{"$patch", "cdi.k8s.io/gpu", podspec.LabelRun} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestKeyAllowed(t *testing.T) {
	for _, test := range []struct {
		key     string
		allowed []string
		want    bool
	}{
		{"team", nil, true},
		{"kueue.x-k8s.io/queue-name", nil, false},
		{"kueue.x-k8s.io/queue-name", []string{"kueue.x-k8s.io/*"}, true},
		{"evil.kueue.x-k8s.io/queue-name", []string{"kueue.x-k8s.io/*"}, false},
		{"vendor.example/a", []string{"vendor.example/a"}, true},
		{"vendor.example/ab", []string{"vendor.example/a"}, false},
		{"vendor.example/a", []string{podspec.AllKeys}, true},
	} {
		if got := podspec.KeyAllowed(test.key, test.allowed); got != test.want {
			t.Errorf("KeyAllowed(%q, %q) = %t", test.key, test.allowed, got)
		}
	}
}

// TestTemplateChangesNothingElse: whatever templates say, and whatever fields they
// come to have, the Pod is the one without them but for where and when it runs.
func TestTemplateChangesNothingElse(t *testing.T) {
	words := []string{
		"", "a", "$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "replace", "delete", "merge",
		"team", "pool", "spec", "containers", "mcpaudit.dev/run-record", podspec.LabelUID, podspec.LabelNetwork, "kueue.x-k8s.io/queue-name",
		corev1.LabelHostname, corev1.LabelArchStable, "amd64", "linkerd.io/inject", "null", "\x00", "é",
	}
	base := newInput(newAudit())
	base.Platform = "linux/amd64"
	without := build(t, base)
	built := 0
	for seed := range int64(4000) {
		fill := randfill.NewWithSeed(seed).NilChance(.4).NumElements(0, 3).MaxDepth(12).Funcs(
			func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
			func(m *map[string]string, c randfill.Continue) { // mostly what can be accepted, or nothing is ever built
				*m = map[string]string{"team": words[c.Intn(2)]}
				if c.Intn(6) == 0 {
					(*m)[words[c.Intn(len(words))]] = words[c.Intn(len(words))]
				}
			},
		)
		templates := [2]v1alpha1.PodTemplate{}
		fill.Fill(&templates)
		in := base
		in.Audit = newAudit()
		in.Audit.Spec.Sandbox.PodTemplate, in.AllowedMetadata = &templates[0], []string{podspec.AllKeys}
		if podspec.CheckTemplate(&templates[1], in.AllowedMetadata) == nil { // the manager does not start with another
			in.Template = &templates[1]
		}
		pod, err := podspec.Build(in)
		if err != nil {
			if !errors.Is(err, podspec.ErrTemplate) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue
		}
		built++
		if diff := cmp.Diff(without, fixed(pod, without)); diff != "" {
			t.Fatalf("seed %d: the template changed (-without +with):\n%s", seed, diff)
		}
	}
	if built < 500 {
		t.Errorf("only %d Pods were built: the test tests nothing", built)
	}
}

// fixed is a Pod with what a template may choose set back: labels and annotations
// only where the other Pod has none.
func fixed(pod, without *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	own := func(theirs, ours map[string]string) {
		maps.DeleteFunc(theirs, func(key, _ string) bool { _, ok := ours[key]; return !ok })
	}
	own(pod.Labels, without.Labels)
	own(pod.Annotations, without.Annotations)
	own(pod.Spec.NodeSelector, without.Spec.NodeSelector)
	pod.Spec.Tolerations, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = without.Spec.Tolerations, nil, nil
	pod.Spec.PriorityClassName, pod.Spec.SchedulerName = "", ""
	return pod
}

func TestUserNamespace(t *testing.T) {
	in := newInput(newAudit())
	if build(t, in).Spec.HostUsers != nil {
		t.Error("hostUsers is set, and not every cluster knows it")
	}
	in.UserNamespace = true
	if hostUsers := build(t, in).Spec.HostUsers; hostUsers == nil || *hostUsers {
		t.Errorf("hostUsers is %v", hostUsers)
	}
}
