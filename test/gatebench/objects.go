package main

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The namespaces, by how they are gated.
const (
	plain   = "plain"
	webhook = "webhook"
	lists   = "lists"
	both    = "both"
	strict  = "strict"
)

// teams has all namespaces in the order of the table.
var teams = []string{plain, webhook, lists, both, strict}

// A huge Pod has as many containers as the gate allows, each of hugeContainer bytes: about as
// much as an API server accepts.
const hugeContainers, hugeContainer = 500, 4 << 10

// object is created by the load.
type object struct {
	name        string
	group, kind string
	path        string // below the namespace's
	body        []byte
	denied      bool // in the gate
	stored      bool // really created
	large       bool // as many containers as an object in the gate may have
}

// deniedIn reports whether the object is denied in a namespace.
func (o object) deniedIn(team string) bool {
	return team != plain && o.denied
}

// fewer reduces a number of repetitions for a large object.
func (o object) fewer(times int) int {
	if o.large {
		return max(times/50, 1)
	}
	return times
}

func pod(name, image string, args ...string) object {
	return podOf(name, corev1.Container{Name: "server", Image: image, Args: args})
}

func podOf(name string, containers ...corev1.Container) object {
	return encode(object{name: name, kind: "Pod", path: "api/v1/namespaces/%s/pods"}, &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{GenerateName: "notes-"},
		Spec: corev1.PodSpec{Containers: containers},
	})
}

func deployment(name, image string) object {
	labels := map[string]string{"app": "notes"}
	return encode(object{name: name, group: "apps", kind: "Deployment", path: "apis/apps/v1/namespaces/%s/deployments"}, &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{GenerateName: "notes-"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: image}}},
			},
		},
	})
}

// hugePod returns a Pod with hundreds of containers, which all pass.
func hugePod(name string) object {
	image := byDigest(honest)
	var containers []corev1.Container
	for i := range hugeContainers {
		containers = append(containers, corev1.Container{
			Name: fmt.Sprintf("server-%d", i), Image: image,
			Env: []corev1.EnvVar{{Name: "FILL", Value: strings.Repeat("x", hugeContainer)}},
		})
	}
	o := podOf(name, containers...)
	o.large = true
	return o
}

func encode(o object, from any) object {
	body, err := json.Marshal(from)
	if err != nil {
		panic(err) // strings can be encoded
	}
	o.body = body
	return o
}

func (o object) isDenied() object { o.denied = true; return o }
func (o object) isStored() object { o.stored = true; return o }

// runnerArgs are the arguments of the audit of crowd that always exists.
var runnerArgs = describe(-3).Spec.Server.Args

// Names of objects whose cost grows with the verdicts on their image, or with their containers.
const (
	nameCrowd = "Pod, runner's image"
	nameHuge  = "Pod of 3 MB"
)

// decisionsAsked returns the objects that the handler decides about.
func decisionsAsked() []object {
	return []object{
		pod("Pod, by digest", byDigest(honest)),
		pod("Pod, by tag", honest).isDenied(),
		pod("Pod, failed", byDigest(leaky)).isDenied(),
		pod("Pod, not audited", unknown).isDenied(),
		deployment("Deployment, by digest", byDigest(honest)),
		pod(nameCrowd, byDigest(crowd), runnerArgs...),
		hugePod(nameHuge),
	}
}

// created returns the objects to create in each namespace.
func created() []object {
	return []object{
		pod("Pod, dry run", byDigest(honest)),
		pod("Pod, failed, dry run", byDigest(leaky)).isDenied(),
		pod("Pod", byDigest(honest)).isStored(),
		deployment("Deployment", byDigest(honest)).isStored(),
		pod(nameCrowd+", dry run", byDigest(crowd), runnerArgs...),
		hugePod(nameHuge + ", dry run"),
	}
}
