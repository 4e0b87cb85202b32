//go:build envtest

package offline_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// admins may do anything, as far as roles go, and are no keepers.
const admins = "test:cluster-admins"

var _ = Describe("mcpaudit-gate-label", func() {
	It("keeps a namespace in the gate, but for the keepers", func(ctx SpecContext) {
		name := gated(ctx)
		fetch := func() *corev1.Namespace {
			namespace := &corev1.Namespace{}
			Expect(api.Get(ctx, client.ObjectKey{Name: name}, namespace)).To(Succeed())
			return namespace
		}
		tenant := as("tenant", admins)
		for _, change := range []func(map[string]string){
			func(l map[string]string) { delete(l, "mcpaudit.dev/gate") },
			func(l map[string]string) { l["mcpaudit.dev/gate"] = "Enabled" },
			func(l map[string]string) { l["mcpaudit.dev/other"] = "" },
		} {
			namespace := fetch()
			change(namespace.Labels)
			testenv.Eventually(ctx, func(g Gomega) { // the policy may be new
				g.Expect(tenant.Update(ctx, namespace.DeepCopy(), client.DryRunAll)).To(forbidden("only the groups system:masters, mcpaudit:gate-keepers may change its label mcpaudit.dev/"))
			})
			for _, subresource := range []string{"status", "finalize"} {
				written := namespace.DeepCopy()
				if err := tenant.SubResource(subresource).Update(ctx, written, client.DryRunAll); err != nil {
					Expect(err).To(forbidden("has its labels changed by itself"), subresource)
					continue
				}
				Expect(written.Labels).To(Equal(fetch().Labels), "%s writes no labels", subresource)
			}
			Expect(as("keeper", admins, "mcpaudit:gate-keepers").Update(ctx, namespace, client.DryRunAll)).To(Succeed())
		}
		namespace := fetch()
		namespace.Labels["team"] = "a"
		Expect(tenant.Update(ctx, namespace)).To(Succeed())
		Expect(tenant.Delete(ctx, namespace)).To(Succeed())
		namespace = fetch()
		namespace.Spec.Finalizers = nil
		controller := as("system:serviceaccount:kube-system:namespace-controller", admins)
		Expect(controller.SubResource("finalize").Update(ctx, namespace)).To(Succeed())
	})

	It("keeps the labels that the ConfigMap names, and lets a namespace join", func(ctx SpecContext) {
		keepers := &corev1.ConfigMap{}
		Expect(api.Get(ctx, client.ObjectKey{Namespace: testenv.SystemNamespace, Name: "mcpaudit-gate-keepers"}, keepers)).To(Succeed())
		keepers.Data["labels"], keepers.Data["users"] = "team\ntier\n", "trusted\n"
		Expect(api.Update(ctx, keepers)).To(Succeed())
		name := gated(ctx)
		testenv.Eventually(ctx, func(g Gomega) {
			namespace := &corev1.Namespace{}
			g.Expect(api.Get(ctx, client.ObjectKey{Name: name}, namespace)).To(Succeed())
			namespace.Labels["team"] = "b"
			g.Expect(as("tenant", admins).Update(ctx, namespace.DeepCopy(), client.DryRunAll)).To(forbidden("label team"))
			g.Expect(as("trusted", admins).Update(ctx, namespace, client.DryRunAll)).To(Succeed())
		})
		outside := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
		Expect(api.Create(ctx, outside)).To(Succeed())
		outside.Labels["mcpaudit.dev/gate"] = "enabled"
		Expect(as("tenant", admins).Update(ctx, outside)).To(Succeed())
	})
})

var _ = Describe("A namespace that is deleted", func() {
	It("goes, whatever became of the ConfigMap of the keepers", func(ctx SpecContext) {
		namespace := &corev1.Namespace{}
		Expect(api.Get(ctx, client.ObjectKey{Name: gated(ctx)}, namespace)).To(Succeed())
		keepers := &corev1.ConfigMap{}
		Expect(api.Get(ctx, client.ObjectKey{Namespace: testenv.SystemNamespace, Name: "mcpaudit-gate-keepers"}, keepers)).To(Succeed())
		Expect(api.Delete(ctx, keepers)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			keepers.ResourceVersion = ""
			Expect(api.Create(ctx, keepers)).To(Succeed())
			testenv.Eventually(ctx, func(g Gomega) { // it is known again
				other := &corev1.Namespace{}
				g.Expect(api.Get(ctx, client.ObjectKey{Name: gated(ctx)}, other)).To(Succeed())
				g.Expect(api.Update(ctx, other)).To(Succeed())
			})
		})
		open := namespace.DeepCopy()
		delete(open.Labels, "mcpaudit.dev/gate")
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(as("keeper", admins, "mcpaudit:gate-keepers").Update(ctx, open.DeepCopy(), client.DryRunAll)).To(MatchError(ContainSubstring("no params found")))
		})
		Expect(as("tenant", admins).Status().Update(ctx, open, client.DryRunAll)).To(forbidden("has its labels changed by itself"))
		Expect(api.Delete(ctx, namespace)).To(Succeed())
		Expect(api.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)).To(Succeed())
		controller := as("system:serviceaccount:kube-system:namespace-controller", admins)
		namespace.Status.Phase = corev1.NamespaceTerminating
		Expect(controller.Status().Update(ctx, namespace)).To(Succeed())
		namespace.Spec.Finalizers = nil
		Expect(controller.SubResource("finalize").Update(ctx, namespace)).To(Succeed())
	})
})

var _ = Describe("mcpaudit-status", func() {
	It("lets the operator alone write verdicts", func(ctx SpecContext) {
		audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "server"},
			Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: honest, Transport: report.TransportStdio}}}
		Expect(api.Create(ctx, audit)).To(Succeed())
		audit.Status.ObservedGeneration = 1
		testenv.Eventually(ctx, func(g Gomega) { // the policy may be new
			g.Expect(as("admin", "system:masters").Status().Update(ctx, audit.DeepCopy(), client.DryRunAll)).To(forbidden("only the operator"))
		})
		Expect(as(managerUser, "system:masters").Status().Update(ctx, audit.DeepCopy(), client.DryRunAll)).To(Succeed())
		Expect(as("admin", "system:masters").Update(ctx, audit.DeepCopy(), client.DryRunAll)).To(Succeed())
		Expect(as("admin", "system:masters").Delete(ctx, audit)).To(Succeed())
	})

	It("S15: lets the gate write when an exception was last used, and no verdict", func(ctx SpecContext) {
		gate := as("system:serviceaccount:mcpaudit-system:mcpaudit-gate", "system:masters")
		exception := &v1alpha1.MCPAuditException{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "known"}, Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "default"}, ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "known"}},
			Reason: "known and harmless", Ticket: "SEC-1", ExpiresAt: metav1.NewTime(time.Now().Add(time.Hour).Truncate(time.Second)),
		}}
		audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"},
			Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: honest, Transport: report.TransportStdio}}}
		for _, object := range []client.Object{exception, audit} {
			Expect(api.Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, object)).To(Succeed()) })
		}
		exception.Status.LastUsedTime = new(metav1.Now())
		audit.Status.ObservedGeneration = 1
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(gate.Status().Update(ctx, audit.DeepCopy(), client.DryRunAll)).To(forbidden("only the operator"))
		})
		Expect(gate.Status().Update(ctx, exception, client.DryRunAll)).To(Succeed())
	})

	It("lets the operator alone write reports, and the garbage collector take its marks off", func(ctx SpecContext) {
		typed := &v1alpha1.MCPAuditReport{Spec: v1alpha1.MCPAuditReportSpec{
			Audit: v1alpha1.AuditInputs{Name: "server", Trigger: v1alpha1.TriggerNeverAudited, ReportSHA256: strings.Repeat("0", 64)},
		}}
		typed.Spec.Verdict = v1alpha1.VerdictPass
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		Expect(err).NotTo(HaveOccurred())
		report := &unstructured.Unstructured{Object: content}
		report.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MCPAuditReport"))
		report.SetNamespace("default")
		report.SetName("report")
		for _, list := range []string{"manifest prompts", "manifest resourceTemplates", "manifest resources", "manifest tools", "profile capabilities", "server command", "errors", "findings"} {
			Expect(unstructured.SetNestedSlice(report.Object, []any{}, append([]string{"spec"}, strings.Fields(list)...)...)).To(Succeed())
		}
		report.SetFinalizers([]string{"foregroundDeletion"})
		Expect(as(managerUser, "system:masters").Create(ctx, report.DeepCopy(), client.DryRunAll)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { // the policy may be new
			g.Expect(as("admin", "system:masters").Create(ctx, report.DeepCopy(), client.DryRunAll)).To(forbidden("only the operator"))
		})
		Expect(as(managerUser, "system:masters").Create(ctx, report)).To(Succeed())
		collector := as("system:serviceaccount:kube-system:generic-garbage-collector", "system:masters")
		marked := report.DeepCopy()
		marked.SetLabels(map[string]string{"mcpaudit.dev/audit": "other"})
		Expect(collector.Update(ctx, marked, client.DryRunAll)).To(forbidden("only the operator"))
		Expect(collector.Delete(ctx, report)).To(Succeed())
		Expect(collector.Get(ctx, client.ObjectKeyFromObject(report), report)).To(Succeed())
		report.SetFinalizers(nil)
		Expect(collector.Update(ctx, report)).To(Succeed())
	})
})

var _ = Describe("mcpaudit-crowd", func() {
	It("keeps crowds out of the gate, whatever they run, but lets be one that is there", func(ctx SpecContext) {
		namespace := gated(ctx)
		tooMany := forbidden("it has 501 containers and image volumes, and an object in the gate has no more than 500")
		testenv.Eventually(ctx, func(g Gomega) { // the policy may be new
			g.Expect(try(ctx, huge(namespace, 501))).To(tooMany)
		})
		crowd := huge(namespace, 500)
		crowd.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		Expect(try(ctx, crowd)).To(Succeed())
		crowd.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: honest}}
		Expect(try(ctx, crowd)).To(tooMany)
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "notes"}}, Spec: huge(namespace, 501).Spec}
		selector := &metav1.LabelSelector{MatchLabels: template.Labels}
		template.Spec.RestartPolicy = ""
		for _, object := range []client.Object{
			&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
			&batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: *template.DeepCopy()}}}},
			&corev1.PodTemplate{Template: template},
		} {
			object.SetNamespace(namespace)
			object.SetName("crowd")
			if job, ok := object.(*batchv1.CronJob); ok {
				job.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			}
			Expect(try(ctx, object)).To(tooMany, "%T", object)
		}

		outside := testenv.Namespace(ctx, nil)
		there := huge(outside, 501)
		there.GenerateName, there.Name = "", "crowd"
		Expect(api.Create(ctx, there)).To(Succeed())
		joined := &corev1.Namespace{}
		Expect(api.Get(ctx, client.ObjectKey{Name: outside}, joined)).To(Succeed())
		joined.Labels[v1alpha1.GateLabel] = v1alpha1.GateEnabled
		Expect(api.Update(ctx, joined)).To(Succeed())
		there.Labels = map[string]string{"a": "b"}
		Expect(api.Update(ctx, there)).To(Succeed())
	})
})

var _ = Describe("mcpaudit-size", func() {
	tooLarge := func(what string) OmegaMatcher {
		return And(WithTransform(apierrors.IsInvalid, BeTrue()), MatchError(ContainSubstring(what)))
	}
	newAudit := func() *v1alpha1.MCPServerAudit {
		return &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "size-"},
			Spec: v1alpha1.MCPServerAuditSpec{Suspend: true, Server: v1alpha1.Server{Image: honest, Transport: report.TransportStdio}}}
	}
	arguments := func(bytes int) v1alpha1.Probe {
		return v1alpha1.Probe{Inputs: []v1alpha1.ToolInput{{Tool: "a", Arguments: runtime.RawExtension{Raw: []byte(`{"text":"` + strings.Repeat("x", bytes) + `"}`)}}}}
	}

	It("S5: bounds arguments, the whole spec and the metadata of an audit", func(ctx SpecContext) {
		audit := newAudit()
		audit.Spec.Probe = arguments(1300 << 10)
		testenv.Eventually(ctx, func(g Gomega) { // the policy may be new
			g.Expect(api.Create(ctx, audit.DeepCopy(), client.DryRunAll)).To(tooLarge("32 KiB of arguments"))
		})
		audit.Spec.Probe = arguments(33 << 10)
		Expect(api.Create(ctx, audit.DeepCopy(), client.DryRunAll)).To(tooLarge("32 KiB of arguments"))
		audit.Spec.Probe = arguments(31 << 10)
		Expect(api.Create(ctx, audit.DeepCopy(), client.DryRunAll)).To(Succeed())

		for i := range 32 {
			audit.Spec.Server.Env = append(audit.Spec.Server.Env, v1alpha1.EnvVar{Name: fmt.Sprint("V", i), Value: strings.Repeat("é", 512)})
		}
		Expect(api.Create(ctx, audit.DeepCopy(), client.DryRunAll)).To(tooLarge("spec has more than 64 KiB"))
		audit.Spec.Server.Env = audit.Spec.Server.Env[:28]
		Expect(api.Create(ctx, audit.DeepCopy(), client.DryRunAll)).To(Succeed())

		crowded := newAudit()
		crowded.Labels = map[string]string{}
		for i := range 500 {
			crowded.Labels[fmt.Sprint("label-", i)] = strings.Repeat("x", 60)
		}
		Expect(api.Create(ctx, crowded.DeepCopy(), client.DryRunAll)).To(tooLarge("metadata has more than 16 KiB"))
		audit.Spec.Probe = v1alpha1.Probe{}
		Expect(api.Create(ctx, audit)).To(Succeed())
		Expect(api.Delete(ctx, audit)).To(Succeed())
	})

	It("S5: bounds policies and exceptions", func(ctx SpecContext) {
		selector := &metav1.LabelSelector{}
		for i := range 32 {
			values := make([]string, 32)
			for j := range values {
				values[j] = fmt.Sprint(strings.Repeat("x", 80), i, j)
			}
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: fmt.Sprint("k", i), Operator: metav1.LabelSelectorOpIn, Values: values})
		}
		policy := &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "large"}, Spec: v1alpha1.MCPAuditPolicySpec{Match: &v1alpha1.Match{ObjectSelector: selector}}}
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Create(ctx, policy.DeepCopy(), client.DryRunAll)).To(tooLarge("spec has more than 64 KiB"))
		})
	})
})
