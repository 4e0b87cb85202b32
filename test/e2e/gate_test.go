//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// tryLabel tells by which of several policies an object is judged.
const tryLabel = "example.com/try"

// variant is an image of a digest of its own, so that no other audit is about it.
func variant(ctx context.Context, image, name string) string {
	GinkgoHelper()
	target := strings.Split(image, ":")[0] + ":" + name + "-" + namespace
	relabelTag(ctx, image, target, name+"-"+namespace)
	return target
}

// situations makes an audit for each case of the gate, side by side, and returns an
// object in each: by its reason, or by what is to be tried.
func situations(ctx context.Context) map[string]*corev1.Pod {
	GinkgoHelper()
	r := reviewed(ctx)
	drifting := "drift:case-" + namespace
	moveTag(ctx, "drift:v1", drifting)
	audits := map[string]*v1alpha1.MCPServerAudit{
		"Inconclusive": newAudit(variant(ctx, "honest-go:dev", "inconclusive"), probed(v1alpha1.Probe{Calls: report.CallsNever})),
		"LastVerdict":  newAudit(variant(ctx, "honest-go:dev", "last"), func(a *v1alpha1.MCPServerAudit) { a.Spec.RetryLimit = new(int32(0)) }),
		"Stale":        newAudit(variant(ctx, "honest-go:dev", "stale")),
		"Drifted":      newAudit(drifting),
	}
	for _, audit := range audits {
		Expect(k8s.Create(ctx, audit)).To(Succeed())
	}
	for _, audit := range audits {
		awaitVerdict(ctx, audit)
	}
	moveTag(ctx, "drift:v2", drifting)
	rerun(ctx, audits["Drifted"])
	Expect(condition(audits["Drifted"], v1alpha1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonManifestDrifted))
	interrupt(ctx, audits["LastVerdict"])
	suspendChanged(ctx, audits["Stale"])

	found := map[string]*corev1.Pod{
		"Passed":     pod(byDigest(r.honest)),
		"Failed":     pod(byDigest(r.leaky)),
		"NotAudited": pod(unaudited),
		"OtherCommand": pod(byDigest(r.honest), func(p *corev1.Pod) {
			p.Spec.Containers[0].Command = []string{"/server", "--verbose"}
		}),
	}
	for name, audit := range audits {
		found[name] = pod(byDigest(audit))
	}
	return found
}

// interrupt audits again, and takes the Pod away meanwhile: the same spec passed before.
func interrupt(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
	before := audit.DeepCopy()
	metav1.SetMetaDataAnnotation(&audit.ObjectMeta, v1alpha1.RequestedAtAnnotation, time.Now().Format(time.RFC3339Nano))
	Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
	Eventually(func(g Gomega) {
		pods := podsOf(ctx, audit)
		g.Expect(pods).To(HaveLen(1))
		g.Expect(k8s.Delete(ctx, &pods[0], client.GracePeriodSeconds(0))).To(Succeed())
	}).WithContext(ctx).WithPolling(50 * time.Millisecond).Should(Succeed())
	await(ctx, audit, func(g Gomega) {
		g.Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictInconclusive), conditions(audit))
	})
}

// suspendChanged changes the spec of an audit that was decided, and holds back the
// audit that this asks for.
func suspendChanged(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	before := audit.DeepCopy()
	audit.Spec.Suspend, audit.Spec.Probe.Rounds = true, 2
	Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
	await(ctx, audit, func(g Gomega) {
		g.Expect(condition(audit, v1alpha1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonSuspended), conditions(audit))
	})
}

// wanted returns what becomes of a case: by the action that the policy has for it, and
// what only a wording of the policy changes.
func wanted(reason string, action v1alpha1.InconclusiveAction) v1alpha1.InconclusiveAction {
	const deny, warn, allow = v1alpha1.InconclusiveAction(v1alpha1.ActionDeny), v1alpha1.InconclusiveAction(v1alpha1.ActionWarn), v1alpha1.InconclusiveAction(v1alpha1.ActionAllow)
	switch {
	case reason == "Passed":
		return allow
	case reason == "Failed":
		return deny
	case action != v1alpha1.ActionLastVerdict:
		return action
	case reason == "LastVerdict":
		return warn
	}
	return deny
}

// policyFor has one action for all cases, and is about the objects with its label.
func policyFor(mode v1alpha1.GateMode, action v1alpha1.InconclusiveAction, trusted ...string) *v1alpha1.MCPAuditPolicy {
	name := strings.ToLower(string(mode) + "-" + string(action))
	plain := v1alpha1.GateAction(action)
	if action == v1alpha1.ActionLastVerdict {
		plain = v1alpha1.ActionDeny
	}
	return &v1alpha1.MCPAuditPolicy{ObjectMeta: meta(name), Spec: v1alpha1.MCPAuditPolicySpec{
		Match: &v1alpha1.Match{ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{tryLabel: name}}},
		Gate: v1alpha1.Gate{
			Mode: mode, OnMissing: plain, OnOtherCommand: plain, OnDrift: plain, OnStale: plain, OnInconclusive: action,
			Offline: v1alpha1.OfflineNone,
		},
		Trust: trusting(trusted...),
	}}
}

var _ = Describe("The gate", func() {
	It("allows, warns or denies in each mode and each case", func(ctx context.Context) {
		cases := situations(ctx)
		actions := []v1alpha1.InconclusiveAction{"Deny", "Warn", "Allow", v1alpha1.ActionLastVerdict}
		modes := []v1alpha1.GateMode{v1alpha1.GateEnforce, v1alpha1.GateWarn, v1alpha1.GateAudit}
		for _, mode := range modes {
			for _, action := range actions {
				Expect(k8s.Create(ctx, policyFor(mode, action, namespace, reviewed(ctx).namespace))).To(Succeed())
			}
		}
		last := policyFor(v1alpha1.GateEnforce, "Deny", namespace, reviewed(ctx).namespace)
		last.Name, last.Spec.Match.ObjectSelector.MatchLabels = "last", map[string]string{tryLabel: "last"}
		Expect(k8s.Create(ctx, last)).To(Succeed())
		gated(ctx)
		for _, of := range []string{"Stale", "LastVerdict", "Drifted"} { // the gate knows of it
			awaitDenied(ctx, labelled(cases[of].DeepCopy(), tryLabel, "last"))
		}

		a := asking()
		for _, mode := range modes {
			for _, action := range actions {
				for reason, object := range cases {
					name := strings.ToLower(string(mode) + "-" + string(action))
					got := a.create(ctx, labelled(object.DeepCopy(), tryLabel, name))
					told := fmt.Sprintf("mode %s, action %s, %s: %v, warnings %q", mode, action, reason, got.err, got.warnings)
					want := wanted(reason, action)
					denied := mode == v1alpha1.GateEnforce && want == "Deny"
					warned := mode == v1alpha1.GateEnforce && want == "Warn" || mode == v1alpha1.GateWarn && want != "Allow"
					Expect(got.err != nil).To(Equal(denied), told)
					Expect(len(got.warnings) > 0).To(Equal(warned), told)
					for _, warning := range got.warnings {
						Expect(len(warning)).To(BeNumerically("<=", 256), told)
						Expect(warning).To(ContainSubstring("container server"), told)
					}
					if denied {
						Expect(got.err.Error()).To(And(ContainSubstring("Pod notes"), ContainSubstring("container server"), ContainSubstring(object.Spec.Containers[0].Image[:20]), ContainSubstring(name)), told)
						Expect(got.err.Error()).NotTo(ContainSubstring("\n"), told)
					}
				}
			}
		}
	})

	It("denies a Deployment of the leaky image with a sentence, and runs the honest one", func(ctx context.Context) {
		policy := gate(ctx)
		r := reviewed(ctx)
		d := deployment(byDigest(r.leaky))
		out, err := kubectl(ctx, asYAML(d), "apply", "-f", "-")
		Expect(err).To(HaveOccurred())
		GinkgoWriter.Println(out)
		Expect(strings.TrimSpace(out)).To(MatchRegexp(`Deployment notes: container server runs .*leaky-go@sha256:[0-9a-f]+.*, which failed its audit %s/%s \(.*High.*\).*kubectl mcpaudit show %s -n %s.*policy %s`,
			r.namespace, r.leaky.Name, r.leaky.Name, r.namespace, policy.Name))

		By("naming the honest image by its tag")
		Expect(asking().create(ctx, deployment(r.honest.Spec.Server.Image)).err).To(MatchError(ContainSubstring("pin it: image: " + r.honest.Status.Audited.Pin())))

		By("running the honest image")
		mustKubectl(ctx, asYAML(deployment(byDigest(r.honest))), "apply", "-f", "-")
		awaitAvailable(ctx, d)

		By("changing it to the leaky image")
		_, err = kubectl(ctx, "", "-n", namespace, "set", "image", "deployment/notes", "server="+byDigest(r.leaky))
		Expect(err).To(HaveOccurred())

		By("scaling, labelling and deleting it, whatever the verdict is by now")
		for _, args := range [][]string{{"scale", "deployment/notes", "--replicas=0"}, {"label", "deployment/notes", "a=b"}, {"delete", "deployment/notes"}} {
			mustKubectl(ctx, "", append([]string{"-n", namespace}, args...)...)
		}
	})

	It("reports a tag that moves after admission, and kills nothing", func(ctx context.Context) {
		tag := "drift:gate-" + namespace
		moveTag(ctx, "drift:v1", tag)
		audit := settled(ctx, newAudit(tag))
		policy := gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		before := policy.DeepCopy()
		policy.Spec.Gate.Mode = v1alpha1.GateWarn // Enforce denies a tag
		Expect(k8s.Patch(ctx, policy, client.MergeFrom(before))).To(Succeed())
		d := deployment(audit.Spec.Server.Image)
		d.Spec.Replicas = new(int32(0))
		awaitAdmitted(ctx, d)
		Expect(k8s.Create(ctx, d)).To(Succeed())
		moveTag(ctx, "drift:v2", tag) // before any kubelet has pulled it
		mustKubectl(ctx, "", "-n", namespace, "scale", "deployment/notes", "--replicas=1")
		awaitAvailable(ctx, d)

		await(ctx, policy, func(g Gomega) {
			g.Expect(policy.Status.Gate).NotTo(BeNil())
			g.Expect(policy.Status.Gate.Violating).To(BeEquivalentTo(1))
			g.Expect(policy.Status.Gate.Running).To(ConsistOf(And(
				HaveField("Namespace", namespace), HaveField("Container", "server"), HaveField("Image", audit.Spec.Server.Image),
				HaveField("Reason", v1alpha1.GateNotAudited), HaveField("Owner", HavePrefix("ReplicaSet/notes-")), HaveField("Pods", BeEquivalentTo(1)))))
			ready := readyOf(policy.Status.Conditions)
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), "what runs is no failure of the policy")
			g.Expect(ready.Reason).To(Equal(v1alpha1.ReasonRunningViolations))
		})
		awaitEvent(ctx, "ClusterMCPAuditPolicy", policy.Name, "which no audit that counts has a verdict on")
		awaitAvailable(ctx, d)
	})

	It("lets an exception admit until it ends, and tells of it", func(ctx context.Context) {
		policy := gate(ctx)
		denied := pod(byDigest(reviewed(ctx).leaky))
		Expect(asking().create(ctx, denied).err).To(HaveOccurred())
		except := func(name string, until time.Time) *v1alpha1.MCPAuditException {
			exception := &v1alpha1.MCPAuditException{ObjectMeta: meta(name), Spec: v1alpha1.MCPAuditExceptionSpec{
				PolicyRef: v1alpha1.PolicyReference{Kind: "ClusterMCPAuditPolicy", Name: policy.Name},
				Images:    []v1alpha1.Digest{reviewed(ctx).leaky.Status.ImageDigest},
				Reason:    "The end-to-end tests need it for a moment.", Ticket: "TEST-1", ExpiresAt: metav1.NewTime(until),
			}}
			Expect(k8s.Create(ctx, exception)).To(Succeed())
			return exception
		}
		expired := except("over", time.Now().Add(-time.Minute))
		Eventually(reasonOf).WithContext(ctx).WithArguments(expired).Should(Equal(v1alpha1.ReasonExpired))
		Expect(asking().create(ctx, denied).err).To(HaveOccurred())

		exception := except("now", time.Now().Add(20*time.Second))
		awaitAdmitted(ctx, denied)
		Expect(k8s.Create(ctx, denied.DeepCopy())).To(Succeed()) // a dry run is no use of it
		awaitEvent(ctx, "MCPAuditException", exception.Name, "")
		await(ctx, exception, func(g Gomega) {
			g.Expect(exception.Status.LastUsedTime).NotTo(BeNil())
		})
		other := pod(byDigest(reviewed(ctx).leaky), func(p *corev1.Pod) { p.Name = "other" })
		awaitDenied(ctx, other)
		Eventually(reasonOf).WithContext(ctx).WithArguments(exception).Should(Equal(v1alpha1.ReasonExpired))
	})

	It("runs a server that discovery finds once its audit passed", func(ctx context.Context) {
		gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) {
			s.Discovery = &v1alpha1.Discovery{NamespaceSelector: s.Match.NamespaceSelector}
			s.Gate.Targets = []v1alpha1.GateTarget{v1alpha1.TargetPods}
			s.Trust = &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsSame}
		})
		image := registry + "/mcpaudit/" + variant(ctx, "honest-go:dev", "found")
		d := labelled(deployment(image+"@"+digestOf(ctx, image)), "mcpaudit.dev/server", "server")
		Expect(k8s.Create(ctx, d)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(d), d)).To(Succeed())
			g.Expect(d.Status.Conditions).To(ContainElement(And(HaveField("Type", appsv1.DeploymentReplicaFailure), HaveField("Message", ContainSubstring("denied the request")))))
		}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(50 * time.Millisecond).Should(Succeed())
		expectPass(discovered(ctx, "deployment-notes"))
		awaitAvailable(ctx, d)
	})
})

func readyOf(all []metav1.Condition) metav1.Condition {
	for _, c := range all {
		if c.Type == v1alpha1.ConditionReady {
			return c
		}
	}
	return metav1.Condition{}
}

// reasonOf is the reason of an exception's Ready.
func reasonOf(ctx context.Context, exception *v1alpha1.MCPAuditException) (string, error) {
	err := k8s.Get(ctx, client.ObjectKeyFromObject(exception), exception)
	return readyOf(exception.Status.Conditions).Reason, err
}

// awaitEvent waits for an event about an object; its note is as whoever reads it sees it.
func awaitEvent(ctx context.Context, kind, name, note string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var events eventsv1.EventList
		g.Expect(k8s.List(ctx, &events)).To(Succeed())
		g.Expect(events.Items).To(ContainElement(And(
			HaveField("Regarding.Kind", kind), HaveField("Regarding.Name", name), HaveField("Note", ContainSubstring(note)))))
	}).WithContext(ctx).Should(Succeed())
}
