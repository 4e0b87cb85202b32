// Package drift checks running Pods against the policies: a tag may name another image by the
// time that the kubelet pulls it, a later audit may find something in an admitted server, and a
// policy may be newer than the workloads. Violations are shown in the policy's status, events
// and a metric. Nothing is ever stopped.
//
// Only the leader does this. Of each Pod in the gate's namespaces it keeps at most maxSignature
// bytes (see podStore); other Pods are not watched. Pods that are alike are judged once, and again only
// when something changed that the judgement rests on: the Pod, a verdict on one of its images,
// a policy, an exception, namespace labels that a policy selects by, or the time.
package drift

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/subject"
)

// podSignature groups equal Pods: it has everything that affects their judgement, and what events
// and statuses report about them.
type podSignature struct {
	Subject gate.Subject
	// Owner is the controller of the Pods, "ReplicaSet/notes-5d9c", or the Pod itself.
	Owner string
	// Owned is set if a workload made the Pods.
	Owned bool
	// ImageIDs as reported by the kubelet, by container index.
	ImageIDs []string
	// Reduced is set if only the names of the first container are kept.
	Reduced bool
}

type sum [sha256.Size]byte

// maxSignature is the most bytes of a signature that are kept.
const maxSignature = 32 << 10

// bounded returns the signature as it is kept, and its sum.
func (l podSignature) bounded() (podSignature, sum) {
	encoded, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("drift: encode a signature, which has strings only: %v", err))
	}
	if len(encoded) > maxSignature {
		return l.reduced().bounded()
	}
	return l, sha256.Sum256(encoded)
}

// reduced returns what a violation says of the Pods.
func (l podSignature) reduced() podSignature {
	s, c := l.Subject, l.Subject.Containers[0]
	return podSignature{
		Subject: gate.Subject{Namespace: s.Namespace, Target: s.Target, Containers: []gate.Container{{Name: c.Name, Role: c.Role, Image: excerpt.Line(c.Image, maxImage)}}},
		Owner:   excerpt.Line(l.Owner, maxOwner), Owned: l.Owned, ImageIDs: []string{excerpt.Line(l.ImageIDs[0], maxImage)}, Reduced: true,
	}
}

// read reduces a Pod to its signature; ok is false if nothing of it runs. Containers count if
// their image was pulled and they have not ended for good, so a crash loop causes no flapping.
func read(pod *corev1.Pod) (l podSignature, ok bool) {
	if !pod.DeletionTimestamp.IsZero() || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return podSignature{}, false
	}
	l = podSignature{Subject: subject.FromPod(pod), Owner: "Pod/" + pod.Name}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		l.Owned, l.Owner = true, owner.Kind+"/"+owner.Name
		l.Subject.Kind, l.Subject.Name = owner.Kind, owner.Name
	}
	images := running(pod)
	all := l.Subject.Containers
	l.Subject.Containers = nil
	for _, c := range all {
		imageID, runs := images[c.Name]
		if c.Role == gate.RoleImageVolume {
			imageID, runs = "", pod.Status.Phase == corev1.PodRunning // its volume is not mounted before
		}
		if runs {
			l.Subject.Containers = append(l.Subject.Containers, c)
			l.ImageIDs = append(l.ImageIDs, imageID)
		}
	}
	return l, len(l.Subject.Containers) > 0
}

// running returns the image IDs of the containers that count, by name.
func running(pod *corev1.Pod) map[string]string {
	found := map[string]string{}
	add := func(statuses []corev1.ContainerStatus, restarts func(name string) corev1.RestartPolicy) {
		for _, s := range statuses {
			if s.ImageID != "" && !ended(s, restarts(s.Name)) {
				found[s.Name] = s.ImageID
			}
		}
	}
	add(pod.Status.ContainerStatuses, func(string) corev1.RestartPolicy { return pod.Spec.RestartPolicy })
	add(pod.Status.EphemeralContainerStatuses, func(string) corev1.RestartPolicy { return corev1.RestartPolicyNever })
	add(pod.Status.InitContainerStatuses, func(name string) corev1.RestartPolicy {
		for _, c := range pod.Spec.InitContainers {
			if c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				return corev1.RestartPolicyAlways // a sidecar
			}
		}
		if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
			return corev1.RestartPolicyNever
		}
		return corev1.RestartPolicyOnFailure
	})
	return found
}

func ended(s corev1.ContainerStatus, restarts corev1.RestartPolicy) bool {
	if s.State.Terminated == nil || restarts == corev1.RestartPolicyAlways {
		return false
	}
	return restarts == corev1.RestartPolicyNever || s.State.Terminated.ExitCode == 0
}

// strip drops large, unused parts of a Pod while a namespace is being listed.
func strip(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields, pod.Annotations, pod.Status.Conditions = nil, nil, nil
	}
	return object, nil
}

// opinion is a policy's result for one container of a group.
type opinion struct {
	policy    *gate.Policy
	container int
	reason    v1alpha1.GateReason
	// violates is set if the policy would deny it in mode Enforce.
	violates bool
}
