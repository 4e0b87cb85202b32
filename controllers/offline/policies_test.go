//go:build envtest

package offline_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/offline"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// Images, and the keys that lists have for them.
var (
	leaky     = "registry.example/mcp/leaky@sha256:" + strings.Repeat("1", 64)
	leakyKey  = "sha256:" + strings.Repeat("1", 64)
	honest    = "registry.example/mcp/honest@sha256:" + strings.Repeat("2", 64)
	honestKey = "sha256:" + strings.Repeat("2", 64)
	canary    = "registry.example/canary@sha256:" + strings.Repeat("f", 64)
	canaryKey = "sha256:" + strings.Repeat("f", 64)
)

// listed are the ConfigMaps of what is said by key, and what a list says besides, which
// has no colon in its key.
func listed(said map[string]string) []map[string]string {
	header, lines := map[string]string{}, map[string]string{}
	for key, value := range said {
		if strings.Contains(key, ":") {
			lines[key] = value
		} else {
			header[key] = value
		}
	}
	return offline.Lists(header, lines)
}

// bind binds a policy to one namespace, with a list, for the length of a spec.
func bind(ctx context.Context, policy, namespace string, said map[string]string) {
	GinkgoHelper()
	if said = maps.Clone(said); policy == "mcpaudit-denied" {
		said[canaryKey] = line("*", "*", "deny")
	}
	labels := map[string]string{"list": policy + "-" + namespace}
	for i, data := range listed(said) {
		list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testenv.SystemNamespace, Name: fmt.Sprintf("%s-%s-%d", policy, namespace, i), Labels: labels}, Data: data}
		Expect(api.Create(ctx, list)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, list)).To(Succeed()) })
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy + "." + namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			ParamRef: &admissionv1.ParamRef{
				Namespace: testenv.SystemNamespace, Selector: &metav1.LabelSelector{MatchLabels: labels}, ParameterNotFoundAction: new(admissionv1.AllowAction),
			},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}},
		},
	}
	Expect(api.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, binding)).To(Succeed()) })
	testenv.Eventually(ctx, func(g Gomega) { // it is in force once the last list is known
		g.Expect(try(ctx, pod(namespace, corev1.Container{Name: "canary", Image: canary}))).To(MatchError(ContainSubstring("denied request")))
	})
}

// try asks whether an object would be created; a few times where the API server, which gives a request
// 34 seconds, had no time to decide: beside a busy machine a large object takes as long.
func try(ctx context.Context, object client.Object) (err error) {
	for range 5 {
		if err = api.Create(ctx, object.DeepCopyObject().(client.Object), client.DryRunAll); !apierrors.IsTimeout(err) {
			break
		}
	}
	return err
}

// pod makes one, which is not created yet.
func pod(namespace string, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "pod-"}, Spec: corev1.PodSpec{Containers: containers}}
}

// runs makes a Pod of one container.
func runs(namespace, image string) *corev1.Pod {
	return pod(namespace, corev1.Container{Name: "server", Image: image})
}

// line is a line of a list.
func line(command, args, verdict string) string {
	return strings.Join([]string{command, args, verdict, "",
		`which failed its audit team-a/leaky (2 High findings): see "kubectl mcpaudit show leaky -n team-a", and run an image that passes (cluster policy default).`}, "\t")
}

// workloads are an object of each kind that makes Pods.
func workloads(namespace string, spec corev1.PodSpec) []client.Object {
	labels := map[string]string{"app": "server"}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "server", Labels: labels}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	once := *template.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	job := batchv1.JobSpec{Template: once}
	return []client.Object{
		&corev1.Pod{ObjectMeta: meta, Spec: spec},
		&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
		&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}},
		&appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
		&corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &template}},
		&batchv1.Job{ObjectMeta: meta, Spec: job},
		&batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{Spec: job}}},
	}
}

// forbidden matches the error of a denial with such a sentence.
func forbidden(sentence string) OmegaMatcher {
	return MatchError(And(ContainSubstring("is forbidden: ValidatingAdmissionPolicy 'mcpaudit-"), ContainSubstring(sentence)))
}

var _ = Describe("mcpaudit-denied", func() {
	It("denies every kind that runs an image on the list, in every place, with a sentence", func(ctx SpecContext) {
		namespace := gated(ctx)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{"policy": "default", leakyKey: line("*", "*", "deny")})
		bad, good := corev1.Container{Name: "server", Image: leaky}, corev1.Container{Name: "main", Image: honest}
		for _, spec := range []corev1.PodSpec{
			{Containers: []corev1.Container{good, bad}},
			{Containers: []corev1.Container{good}, InitContainers: []corev1.Container{bad}},
			{Containers: []corev1.Container{good}, Volumes: []corev1.Volume{{Name: "server", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: leaky}}}}},
		} {
			for _, object := range workloads(namespace, spec) {
				Expect(try(ctx, object)).To(forbidden(" server: "), "%T", object)
			}
		}
		for _, object := range workloads(namespace, corev1.PodSpec{Containers: []corev1.Container{good}}) {
			Expect(try(ctx, object)).To(Succeed(), "%T", object)
		}
		Expect(try(ctx, workloads(namespace, corev1.PodSpec{Containers: []corev1.Container{bad}})[1])).To(forbidden(
			`Deployment server: container server runs ` + leaky + `, which failed its audit team-a/leaky (2 High findings): ` +
				`see "kubectl mcpaudit show leaky -n team-a", and run an image that passes (cluster policy default).`))
	})

	It("denies an ephemeral container, and lets be what ran before", func(ctx SpecContext) {
		namespace := gated(ctx)
		object := workloads(namespace, corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: leaky}}})
		running, deployment := object[0].(*corev1.Pod), object[1].(*appsv1.Deployment)
		Expect(api.Create(ctx, running)).To(Succeed())
		Expect(api.Create(ctx, deployment)).To(Succeed())
		mounted := "registry.example/mcp/mounted@sha256:" + strings.Repeat("4", 64)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{
			"containers": "server,renamed,debug,main,canary", leakyKey: line("*", "*", "deny"), "sha256:" + strings.Repeat("4", 64): line("*", "*", "deny"),
		})

		running.Labels["touched"] = "yes"
		Expect(api.Update(ctx, running)).To(Succeed(), "labels")
		deployment.Spec.Template.Labels["touched"] = "yes"
		deployment.Spec.Template.Spec.Containers[0].Name = "renamed"
		Expect(api.Update(ctx, deployment)).To(Succeed(), "a container of another name, and nothing else")
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
		Expect(api.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale))).To(Succeed(), "scale")
		Expect(api.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
		deployment.Spec.Template.Spec.Containers[0].Args = []string{"--other"}
		Expect(api.Update(ctx, deployment)).To(forbidden("runs"), "other args")

		By("running what was only mounted")
		mounting := pod(namespace, corev1.Container{Name: "main", Image: honest})
		mounting.Name, mounting.GenerateName = "mounting", ""
		mounting.Spec.Volumes = []corev1.Volume{{Name: "other", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: mounted}}}}
		Expect(api.Create(ctx, mounting)).To(Succeed())
		mounting.Spec.Containers[0].Image = mounted
		Expect(api.Update(ctx, mounting)).To(forbidden("container main"))

		debugged := running.DeepCopy()
		debugged.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: honest, Command: []string{"sh"}}}}
		Expect(api.SubResource("ephemeralcontainers").Update(ctx, debugged.DeepCopy(), client.DryRunAll)).To(Succeed())
		debugged.Spec.EphemeralContainers[0].Image = leaky
		Expect(api.SubResource("ephemeralcontainers").Update(ctx, debugged, client.DryRunAll)).To(forbidden("ephemeral container debug"))

		running.Finalizers = []string{"example.com/held"}
		Expect(api.Update(ctx, running)).To(Succeed())
		Expect(api.Delete(ctx, running)).To(Succeed())
		Expect(api.Get(ctx, client.ObjectKeyFromObject(running), running)).To(Succeed())
		running.Finalizers, running.Spec.Containers[0].Image = nil, leaky+"0" // refused as an image only after admission
		Expect(api.Update(ctx, running)).To(Succeed(), "what is being deleted")
	})

	It("reads references as a kubelet does", func(ctx SpecContext) {
		namespace := gated(ctx)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{
			"docker.io/library/notes:latest": line("*", "*", "deny"), "docker.io/mcp/leaky:1": line("*", "*", "deny"),
			"localhost/x_y:1": line("*", "*", "deny"), "registry.example:5000/a/b:latest": line("*", "*", "deny"),
			"id:sha256:" + strings.Repeat("d", 64): line("*", "*", "deny"),
		})
		By("S3: telling the ID of an image from the digest of a manifest")
		for _, image := range []string{"sha256:" + strings.Repeat("f", 64), "x@sha256:" + strings.Repeat("d", 64)} {
			Expect(try(ctx, runs(namespace, image))).To(Succeed(), image)
		}
		for _, image := range []string{
			"notes", "notes:latest", "library/notes", "docker.io/notes", "index.docker.io/notes", "docker.io/library/notes:latest",
			"mcp/leaky:1", "docker.io/mcp/leaky:1", "index.docker.io/mcp/leaky:1", "localhost/x_y:1", "registry.example:5000/a/b", "Registry.EXAMPLE:5000/a/b",
			"sha256:" + strings.Repeat("d", 64),
		} {
			Expect(try(ctx, runs(namespace, image))).To(forbidden(image), image)
		}
		for _, image := range []string{ // what only looks like an id, like Docker Hub, or like another host
			"sha256:5000/x@sha256:" + strings.Repeat("f", 64), "LOCALHOST/x_y:1",
		} {
			Expect(try(ctx, runs(namespace, image))).To(forbidden(image), image)
		}
		for _, image := range []string{"DOCKER.IO/notes", "Mcp/leaky:1"} {
			Expect(try(ctx, runs(namespace, image))).To(Succeed(), image)
		}
		for _, image := range []string{"notes:1", "mcp/leaky", "other/notes", "localhost/x/uy:1", "registry.example/a/b", "notes@sha256:" + strings.Repeat("3", 64)} {
			Expect(try(ctx, runs(namespace, image))).To(Succeed(), image)
		}
	})

	It("compares command lines word by word", func(ctx SpecContext) {
		namespace := gated(ctx)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{
			leakyKey:                            line("/server ", "--all a%20b ", "deny") + "\n" + line("", "", "deny"),
			honestKey:                           line("/good ", "", "pass") + "\n" + line("/good ", "a$$b ", "pass") + "\n" + line("*", "*", "deny"),
			"sha256:" + strings.Repeat("3", 64): line("", "x ", "pass") + "\n" + line("", "*", "deny"),
		})
		command := func(image string, command, args []string) error {
			return try(ctx, pod(namespace, corev1.Container{Name: "server", Image: image, Command: command, Args: args}))
		}
		Expect(command(leaky, nil, nil)).To(forbidden("leaky"))
		Expect(command(leaky, []string{}, []string{})).To(forbidden("leaky"))
		Expect(command(leaky, []string{"/server"}, []string{"--all", "a b"})).To(forbidden("leaky"))
		Expect(command(leaky, []string{"/server"}, []string{"--all", "a", "b"})).To(Succeed())
		Expect(command(leaky, []string{"/server"}, []string{"--all a b"})).To(Succeed())
		Expect(command(leaky, []string{"/server", "--all"}, []string{"a b"})).To(Succeed())
		Expect(command(leaky, []string{""}, nil)).To(Succeed())
		Expect(command(honest, nil, nil)).To(forbidden("honest"))
		Expect(command(honest, []string{"/bad"}, nil)).To(forbidden("honest"))
		Expect(command(honest, []string{"/good"}, nil)).To(Succeed())
		Expect(command(honest, []string{"/good", "$(X)"}, nil)).To(forbidden("honest"))
		Expect(command(honest, []string{"/good"}, []string{"a$$b"})).To(forbidden("honest"), "which a kubelet makes a$b")
		third := "x@sha256:" + strings.Repeat("3", 64)
		Expect(command(third, nil, []string{"x"})).To(Succeed())
		Expect(command(third, nil, []string{"y"})).To(forbidden("runs"))
		Expect(command(third, []string{"sh"}, []string{"y"})).To(Succeed())
	})

	It("heeds what the policy selects, and its exceptions", func(ctx SpecContext) {
		namespace := gated(ctx)
		excepted := func(ids string) string { return strings.Replace(line("*", "*", "deny"), "deny\t", "deny\t"+ids, 1) }
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{
			"images": `^(?:registry\.example/[^/]*|registry\.example/mcp/.*)$`, "containers": "server,other,canary",
			"selector": "NotIn tier ,free,\nDoesNotExist skip\n", "except": ",3,", "x1": namespace + "\nIn app ,a,b,\n", "x2": "elsewhere\n", "x3": namespace + "\nExists broken-glass\n",
			leakyKey: excepted(",1,2,"), honestKey: excepted(",2,"),
		})
		with := func(image string, labels map[string]string) error {
			object := runs(namespace, image)
			object.Labels = labels
			return try(ctx, object)
		}
		Expect(with(leaky, nil)).To(forbidden("leaky"))
		Expect(with(leaky, map[string]string{"tier": "paid"})).To(forbidden("leaky"))
		Expect(with(leaky, map[string]string{"tier": "free"})).To(Succeed(), "not selected")
		Expect(with(leaky, map[string]string{"skip": ""})).To(Succeed(), "not selected")
		Expect(with(leaky, map[string]string{"app": "a"})).To(Succeed(), "excepted by label and image")
		Expect(with(leaky, map[string]string{"app": "c"})).To(forbidden("leaky"))
		Expect(with(honest, map[string]string{"app": "a"})).To(forbidden("honest"), "another image, another namespace")
		Expect(with(honest, map[string]string{"broken-glass": ""})).To(Succeed(), "excepted whatever the image")
		Expect(with(strings.Replace(leaky, "/mcp", "", 1), nil)).To(forbidden("leaky"))
		Expect(with(strings.Replace(leaky, "registry", "mirror", 1), nil)).To(Succeed(), "no such image")
		Expect(try(ctx, pod(namespace, corev1.Container{Name: "sidecar", Image: leaky}))).To(Succeed(), "no such container")
	})

	It("asks about the namespace where audits count in their own only, and about nothing that is not in the gate", func(ctx SpecContext) {
		namespace := gated(ctx)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{
			"same": "", namespace + "." + leakyKey: line("*", "*", "deny"), "elsewhere." + honestKey: line("*", "*", "deny"), namespace + "." + canaryKey: line("*", "*", "deny"),
		})
		Expect(try(ctx, runs(namespace, leaky))).To(forbidden("leaky"))
		Expect(try(ctx, runs(namespace, honest))).To(Succeed())
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(api.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		object.Labels["mcpaudit.dev/gate"] = "disabled"
		Expect(api.Update(ctx, object)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(try(ctx, runs(namespace, leaky))).To(Succeed()) })
	})

	// The API server watches ConfigMaps as long as a binding asks for some, and never
	// again after that: mcpaudit-gate-label is the one that always does.
	It("is asked by lists that come after there were none", func(ctx SpecContext) {
		namespace := gated(ctx)
		Consistently(ctx, func(g Gomega) { // it looks for bindings every second
			_, bound := kept(ctx)
			g.Expect(bound).To(BeEmpty())
			g.Expect(try(ctx, runs(namespace, leaky))).To(Succeed())
		}).WithTimeout(3 * time.Second).Should(Succeed())
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{leakyKey: line("*", "*", "deny")})
		Expect(try(ctx, runs(namespace, leaky))).To(forbidden("leaky"))
	})

	It("leaves alone what a node makes", func(ctx SpecContext) {
		namespace := gated(ctx)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{leakyKey: line("*", "*", "deny")})
		Expect(as("system:node:n", "system:nodes", "system:masters").Create(ctx, runs(namespace, leaky), client.DryRunAll)).To(Succeed())
		Expect(as("someone", "system:masters").Create(ctx, runs(namespace, leaky), client.DryRunAll)).To(forbidden("leaky"))
	})
})

var _ = Describe("mcpaudit-passed", func() {
	It("admits only what is on the list, by the shard whose part it is", func(ctx SpecContext) {
		namespace := gated(ctx)
		said := map[string]string{"policy": "default", leakyKey: line("", "", "pass"), "docker.io/library/notes:1": line("*", "*", "pass"), honestKey: line("", "a ", "pass") + "\n" + line("*", "*", "none")}
		for i := range 8000 { // which take more than a ConfigMap
			said[fmt.Sprintf("sha256:%064d", i+1)] = line("", "", "none")
		}
		Expect(len(listed(said))).To(BeNumerically(">", 1))
		bind(ctx, "mcpaudit-passed", namespace, said)
		Expect(try(ctx, runs(namespace, leaky))).To(Succeed())
		Expect(try(ctx, runs(namespace, "notes:1"))).To(Succeed())
		Expect(try(ctx, runs(namespace, honest))).To(forbidden("honest@"))
		Expect(try(ctx, pod(namespace, corev1.Container{Name: "server", Image: honest, Args: []string{"a"}}))).To(Succeed())
		Expect(try(ctx, pod(namespace, corev1.Container{Name: "server", Image: leaky, Args: []string{"a"}}))).To(forbidden("leaky"))
		for _, image := range []string{"notes:2", "zz/notes:1", "a@sha256:" + strings.Repeat("4", 64), "a@sha256:" + strings.Repeat("0", 64)} {
			Expect(try(ctx, runs(namespace, image))).To(forbidden(image + ", which no audit that counts has passed with this command line"))
		}
	})
})
