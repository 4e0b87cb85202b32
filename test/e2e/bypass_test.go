//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// disguises are the places and forms in which a server can be put into an object. None
// of them gets it past the webhook, nor past what the API server enforces by itself.
func disguises(image, honest string) map[string]client.Object {
	container := func(change func(*corev1.Container)) client.Object {
		return pod(image, func(p *corev1.Pod) { change(&p.Spec.Containers[0]) })
	}
	owned := []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "trusted", UID: "00000000-0000-0000-0000-000000000000"}}
	always := corev1.ContainerRestartPolicyAlways
	job := batchv1.JobSpec{Template: template(image)}
	job.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return map[string]client.Object{
		"a container": pod(image),
		"the second container": pod(honest, func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "logger", Image: image})
		}),
		"an init container": pod(honest, func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: image}}
		}),
		"a sidecar": pod(honest, func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "sidecar", Image: image, RestartPolicy: &always}}
		}),
		"an image volume": pod(honest, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: image}}}}
		}),
		"an image that is there already": container(func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullNever }),
		"a registry in capitals":         pod(strings.Replace(image, "mcpaudit/", "MCPAUDIT/", 1)),
		"a Pod of a forged owner":        pod(image, func(p *corev1.Pod) { p.OwnerReferences = owned }),
		"a Pod bound to a node":          pod(image, func(p *corev1.Pod) { p.Spec.NodeName = "mcpaudit" }),
		"a Pod without a name":           pod(image, func(p *corev1.Pod) { p.Name, p.GenerateName = "", "notes-" }),
		"a Pod that says it is a mirror": pod(image, func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x", "kubernetes.io/config.source": "file"}
		}),
		"a Pod of a system's labels": pod(image, func(p *corev1.Pod) {
			p.Labels = map[string]string{"app.kubernetes.io/part-of": "mcpaudit", "mcpaudit.dev/audit-uid": "x", "tier": "control-plane"}
		}),
		"a Pod that is being deleted": pod(image, func(p *corev1.Pod) {
			now := metav1.Now()
			p.DeletionTimestamp, p.Finalizers = &now, []string{"example.com/keep"}
		}),
		"the last of as many containers as may be": crowd(honest, image, 499),
		"a Deployment":             deployment(image),
		"a Deployment of no Pods":  func() client.Object { d := deployment(image); d.Spec.Replicas = new(int32); return d }(),
		"a Deployment of an owner": func() client.Object { d := deployment(image); d.OwnerReferences = owned; return d }(),
		"a ReplicaSet":             &appsv1.ReplicaSet{ObjectMeta: meta("notes"), Spec: appsv1.ReplicaSetSpec{Selector: selector(), Template: template(image)}},
		"a StatefulSet":            &appsv1.StatefulSet{ObjectMeta: meta("notes"), Spec: appsv1.StatefulSetSpec{Selector: selector(), Template: template(image)}},
		"a DaemonSet":              &appsv1.DaemonSet{ObjectMeta: meta("notes"), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: template(image)}},
		"a Job":                    &batchv1.Job{ObjectMeta: meta("notes"), Spec: job},
		"a CronJob":                &batchv1.CronJob{ObjectMeta: meta("notes"), Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: job}}},
		"a ReplicationController":  &corev1.ReplicationController{ObjectMeta: meta("notes"), Spec: corev1.ReplicationControllerSpec{Selector: selector().MatchLabels, Template: func() *corev1.PodTemplateSpec { t := template(image); return &t }()}},
	}
}

// crowd is a Pod of an image, behind so many containers of another.
func crowd(honest, image string, others int) client.Object {
	return pod(honest, func(p *corev1.Pod) {
		for i := range others - 1 {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: honest})
		}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "last", Image: image})
	})
}

// expectNone expects every one of the objects to be denied, by whoever denies.
func expectNone(ctx context.Context, objects map[string]client.Object, by string) {
	GinkgoHelper()
	a := asking()
	for what, object := range objects {
		a.expectDenied(ctx, what, object, by)
	}
}

func (a *asker) expectDenied(ctx context.Context, what string, object client.Object, by string) {
	GinkgoHelper()
	got := a.create(ctx, object)
	Expect(got.err).To(HaveOccurred(), what+" got through")
	Expect(got.err.Error()).To(Or(ContainSubstring(by), ContainSubstring("Invalid value")), what)
}

// tenant has all rights in the namespace of the running spec, on all kinds of mcpaudit
// and on namespaces: more than any tenant should have.
func tenant(ctx context.Context) *asker {
	GinkgoHelper()
	name := "tenant-" + namespace
	applied(ctx, strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules:
- {apiGroups: [mcpaudit.dev], resources: ["*"], verbs: ["*"]}
- {apiGroups: [""], resources: [namespaces, namespaces/status, namespaces/finalize], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NAME}]
`, "NAME", name))
	DeferCleanup(func(ctx context.Context) { mustKubectl(ctx, "", "delete", "clusterrole,clusterrolebinding", name) })
	return asking(as(name))
}

var _ = Describe("Ways around the gate", func() {
	It("lead nowhere, wherever the image is put", func(ctx context.Context) {
		gate(ctx)
		r := reviewed(ctx)
		for _, image := range []string{byDigest(r.leaky), r.leaky.Spec.Server.Image, r.leaky.Spec.Server.Image + "@" + string(r.leaky.Status.ImageDigest), "elsewhere.invalid/harmless@" + string(r.leaky.Status.ImageDigest)} {
			expectNone(ctx, disguises(image, byDigest(r.honest)), "denied the request")
		}
		asking().expectDenied(ctx, "a crowd", crowd(byDigest(r.honest), byDigest(r.leaky), 4000), "mcpaudit-crowd")
		Expect(asking().create(ctx, pod(byDigest(r.honest))).err).NotTo(HaveOccurred(), "the honest image by itself")
	})

	It("are not another command, nor one that the kubelet makes", func(ctx context.Context) {
		gate(ctx)
		honest := byDigest(reviewed(ctx).honest)
		changed := map[string]client.Object{}
		for what, change := range map[string]func(*corev1.Container){
			"another command": func(c *corev1.Container) { c.Command = []string{"/bin/sh", "-c", "steal"} },
			"other args":      func(c *corev1.Container) { c.Args = []string{"--steal"} },
			"a variable": func(c *corev1.Container) {
				c.Args, c.Env = []string{"$(EVIL)"}, []corev1.EnvVar{{Name: "EVIL", Value: "--steal"}}
			},
			"a variable that is none":   func(c *corev1.Container) { c.Command = []string{"$(NOTHING)"} },
			"an argument that is empty": func(c *corev1.Container) { c.Args = []string{""} },
		} {
			changed[what] = pod(honest, func(p *corev1.Pod) { change(&p.Spec.Containers[0]) })
		}
		expectNone(ctx, changed, "denied the request")
		same := pod(honest, func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"/server"} })
		Expect(asking().create(ctx, same).err).NotTo(HaveOccurred(), "the image's own command, written out")
	})

	It("are not a container that comes later, nor an image that is changed", func(ctx context.Context) {
		gate(ctx)
		r := reviewed(ctx)
		running := pod(byDigest(r.honest))
		Expect(k8s.Create(ctx, running)).To(Succeed())
		Expect(k8s.Create(ctx, deployment(byDigest(r.honest)))).To(Succeed())
		leaky := byDigest(r.leaky)
		for what, args := range map[string][]string{
			"kubectl debug":                 {"debug", "notes", "--image=" + leaky, "--target=server"},
			"a debug copy":                  {"debug", "notes", "--image=" + leaky, "--copy-to=copy"},
			"the image of a Pod":            {"set", "image", "pod/notes", "server=" + leaky},
			"the image of a Deployment":     {"set", "image", "deployment/notes", "server=" + leaky},
			"another container":             {"patch", "deployment/notes", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"more","image":"` + leaky + `"}]}}}}`},
			"the command of a Deployment":   {"patch", "deployment/notes", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"server","command":["/bin/sh"]}]}}}}`},
			"an owner and an image at once": {"patch", "deployment/notes", "-p", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"y"}]},"spec":{"template":{"spec":{"containers":[{"name":"server","image":"` + leaky + `"}]}}}}`},
			"kubectl run":                   {"run", "other", "--image=" + leaky},
		} {
			out, err := kubectl(ctx, "", append([]string{"-n", namespace}, args...)...)
			Expect(err).To(HaveOccurred(), what+" got through: "+out)
			Expect(out).To(ContainSubstring("denied the request"), what)
		}

		By("changing what is being deleted, and is kept by a finalizer: nothing runs it any more")
		mustKubectl(ctx, "", "-n", namespace, "patch", "pod/notes", "-p", `{"metadata":{"finalizers":["example.com/keep"]}}`)
		mustKubectl(ctx, "", "-n", namespace, "delete", "pod/notes", "--wait=false")
		_, err := kubectl(ctx, "", "-n", namespace, "set", "image", "pod/notes", "server="+leaky)
		Expect(err).NotTo(HaveOccurred(), "what is being deleted is never in the way")
		await(ctx, running, func(g Gomega) {
			g.Expect(running.Status.ContainerStatuses).To(HaveLen(1))
			g.Expect(running.Status.ContainerStatuses[0].State.Running).To(BeNil())
		})
		Expect(running.Status.ContainerStatuses[0].ImageID).NotTo(ContainSubstring(string(r.leaky.Status.ImageDigest)))
		mustKubectl(ctx, "", "-n", namespace, "patch", "pod/notes", "-p", `{"metadata":{"finalizers":null}}`)
	})

	It("are no audit of the tenant's own, none that is changed later, and no suppression", func(ctx context.Context) {
		policy := gate(ctx)
		leaky := newAudit("leaky-go:dev", func(a *v1alpha1.MCPServerAudit) { a.Spec.FailOn = v1alpha1.FailOnNever })
		suppressed := newAudit("leaky-go:dev", func(a *v1alpha1.MCPServerAudit) {
			for _, rule := range []string{"MCPA-SECRET-001", "MCPA-SECRET-002", "MCPA-EGRESS-001"} {
				a.Spec.Suppressions = append(a.Spec.Suppressions, report.Suppression{Rule: rule, Match: "format_note", Reason: "We know of it.", Until: report.At(inAYear())})
			}
		})
		honest := newAudit("honest-go:dev")
		for _, audit := range []*v1alpha1.MCPServerAudit{leaky, suppressed, honest} {
			Expect(k8s.Create(ctx, audit)).To(Succeed())
		}
		for _, audit := range []*v1alpha1.MCPServerAudit{leaky, suppressed, honest} {
			awaitVerdict(ctx, audit)
			expectPass(audit)
		}
		awaitDenied(ctx, pod(byDigest(leaky)))

		By("trusting those audits: the findings are counted again")
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		awaitAdmitted(ctx, pod(byDigest(honest)))
		awaitDenied(ctx, pod(byDigest(leaky)))

		By("changing the spec of an audit that passed")
		before := honest.DeepCopy()
		honest.Spec.Suspend, honest.Spec.Server.Image = true, leaky.Spec.Server.Image
		Expect(k8s.Patch(ctx, honest, client.MergeFrom(before))).To(Succeed())
		awaitDenied(ctx, pod(byDigest(before))) // the verdict on it is not renewed any more
		awaitDenied(ctx, pod(byDigest(leaky)))
		awaitDenied(ctx, pod(leaky.Spec.Server.Image))

		By("letting suppressions count, which only who writes policies can")
		Expect(k8s.Delete(ctx, leaky)).To(Succeed())
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust.AllowSuppressions = true })
		awaitAdmitted(ctx, pod(byDigest(suppressed)))
	})

	It("are no status and no report that a tenant writes", func(ctx context.Context) {
		policy := gate(ctx)
		t := tenant(ctx)
		audit := newAudit("leaky-go:dev", func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = true })
		Expect(t.Create(ctx, audit)).To(Succeed())
		forged := []byte(`{"status":{"verdict":"Pass","imageDigest":"` + string(reviewed(ctx).leaky.Status.ImageDigest) + `"}}`)
		merge := func(raw []byte) client.Patch { return client.RawPatch("application/merge-patch+json", raw) }
		Expect(t.Status().Patch(ctx, audit.DeepCopy(), merge(forged))).To(MatchError(ContainSubstring("only the operator")))
		Expect(t.Status().Patch(ctx, policy.DeepCopy(), merge([]byte(`{"status":{"gate":{"containers":0,"violating":0}}}`)))).To(MatchError(ContainSubstring("only the operator")))
		report := &v1alpha1.MCPAuditReport{}
		Expect(k8s.Get(ctx, client.ObjectKey{Namespace: reviewed(ctx).namespace, Name: reviewed(ctx).honest.Status.ReportRef.Name}, report)).To(Succeed())
		report.ObjectMeta = metav1.ObjectMeta{Name: "forged", Namespace: namespace}
		Expect(t.Create(ctx, report)).To(MatchError(ContainSubstring("only the operator")))
		awaitDenied(ctx, pod(byDigest(reviewed(ctx).leaky)))
	})

	It("are no exception by the roles that a namespace has", func(ctx context.Context) {
		policy := gate(ctx)
		for _, role := range []string{"view", "edit", "admin"} {
			mustKubectl(ctx, "", "-n", namespace, "create", "rolebinding", role, "--clusterrole="+role, "--user="+role+"-"+namespace)
		}
		may := func(user, verb, resource string, more ...string) bool {
			out, _ := kubectl(ctx, "", append([]string{"auth", "can-i", "-n", namespace, verb, resource + ".mcpaudit.dev", "--as=" + user + "-" + namespace}, more...)...)
			return strings.HasSuffix(strings.TrimSpace(out), "yes")
		}
		for _, user := range []string{"view", "edit", "admin"} {
			Eventually(may).WithArguments(user, "get", "mcpauditexceptions").Should(BeTrue(), "who may view sees exceptions")
			Expect(may(user, "create", "mcpauditexceptions")).To(BeFalse(), user)
			Expect(may(user, "patch", "clustermcpauditpolicies")).To(BeFalse(), user)
			Expect(may(user, "patch", "mcpserveraudits", "--subresource=status")).To(BeFalse(), user)
			Expect(may(user, "create", "mcpauditpolicies")).To(Equal(user == "admin"), user)
			Expect(may(user, "create", "mcpserveraudits")).To(BeFalse(), "S8: %s: bind mcpaudit-editor to who may", user)
		}

		By("ignoring exceptions altogether")
		exception := &v1alpha1.MCPAuditException{ObjectMeta: meta("all"), Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "ClusterMCPAuditPolicy", Name: policy.Name}, ObjectSelector: &metav1.LabelSelector{},
			Reason: "Everything may run here.", Ticket: "TEST-2", ExpiresAt: metav1.NewTime(inAYear()),
		}}
		Expect(k8s.Create(ctx, exception)).To(Succeed())
		awaitAdmitted(ctx, pod(unaudited))
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust.IgnoreExceptions = true })
		awaitDenied(ctx, pod(unaudited))
		Eventually(reasonOf).WithContext(ctx).WithArguments(exception).Should(Equal(v1alpha1.ReasonIgnored))
	})

	It("are no change of the namespace's labels", func(ctx context.Context) {
		gate(ctx)
		t := tenant(ctx)
		ns := func() *corev1.Namespace {
			ns := &corev1.Namespace{}
			Expect(k8s.Get(ctx, client.ObjectKey{Name: namespace}, ns)).To(Succeed())
			return ns
		}
		off := ns()
		delete(off.Labels, v1alpha1.GateLabel)
		other := labelled(ns(), v1alpha1.GateLabel, "disabled")
		for what, err := range map[string]error{
			"taken away":            t.Update(ctx, off.DeepCopy()),
			"changed":               t.Update(ctx, other.DeepCopy()),
			"by status":             t.Status().Update(ctx, off.DeepCopy()),
			"by finalize":           t.SubResource("finalize").Update(ctx, off.DeepCopy()),
			"by a patch":            t.Patch(ctx, ns(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":null}}`))),
			"replaced by finalizer": t.SubResource("finalize").Update(ctx, other.DeepCopy()),
		} {
			Expect(err).To(HaveOccurred(), what)
		}
		Expect(ns().Labels).To(HaveKeyWithValue(v1alpha1.GateLabel, v1alpha1.GateEnabled))
		Expect(t.Update(ctx, labelled(ns(), "example.com/team", "notes"))).To(Succeed(), "a label of the tenant's own")
	})

	It("are no other platform of an image", func(ctx context.Context) {
		policy := gate(ctx)
		tag := "both:" + namespace
		arm := pushIndex(ctx, "honest-go:dev", "leaky-go:dev", tag)
		audit := settled(ctx, newAudit(tag))
		expectPass(audit)
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		awaitAdmitted(ctx, pod(byDigest(audit)))
		for label, value := range map[string]string{corev1.LabelArchStable: "arm64", "example.com/pool": "of-nodes-to-come"} {
			awaitDenied(ctx, pod(byDigest(audit), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{label: value} }))
		}
		awaitDenied(ctx, pod(registry+"/mcpaudit/both@"+arm))
	})

	It("are no spelling of an image that policies select by its name", func(ctx context.Context) {
		gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) {
			s.Match.Images = []string{"docker.io/library/notes:*", "none.invalid/**"}
		})
		for _, image := range []string{"notes", "notes:1", "library/notes:1", "docker.io/notes:1", "index.docker.io/library/notes:1", "DOCKER.IO/library/notes:1", "docker.io/library/notes@sha256:" + strings.Repeat("1", 64), "notes:1@sha256:" + strings.Repeat("1", 64)} {
			awaitDenied(ctx, pod(image))
		}
		Expect(asking().create(ctx, pod("docker.io/library/other:1")).err).NotTo(HaveOccurred())
	})
})

// setPolicy changes a policy of the cluster.
func setPolicy(ctx context.Context, policy *v1alpha1.ClusterMCPAuditPolicy, change func(*v1alpha1.ClusterMCPAuditPolicySpec)) {
	GinkgoHelper()
	Expect(k8s.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
	before := policy.DeepCopy()
	change(&policy.Spec)
	Expect(k8s.Patch(ctx, policy, client.MergeFrom(before))).To(Succeed())
}
