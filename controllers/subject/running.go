package subject

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/result"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// FromPod reads an existing Pod: images, command lines, literal variables, additions,
// OS and what chooses its node from its spec, image IDs from its status.
func FromPod(from *corev1.Pod) gate.Subject {
	p := pod{
		Metadata: metadata{Name: from.Name, GenerateName: from.GenerateName, Namespace: from.Namespace, Labels: from.Labels},
		Spec: podSpec{
			NodeSelector: from.Spec.NodeSelector, Affinity: affinityOf(from.Spec.Affinity), RuntimeClassName: ptr.Deref(from.Spec.RuntimeClassName, ""),
		},
	}
	for _, t := range from.Spec.Tolerations {
		p.Spec.Tolerations = append(p.Spec.Tolerations, toleration{Key: t.Key})
	}
	if from.Spec.OS != nil {
		p.Spec.OS.Name = string(from.Spec.OS.Name)
	}
	for _, v := range from.Spec.Volumes {
		if v.Image != nil {
			p.Spec.Volumes = append(p.Spec.Volumes, volume{Name: v.Name, Image: &imageVolume{Reference: v.Image.Reference}})
		}
	}
	for _, c := range from.Spec.InitContainers {
		p.Spec.InitContainers = append(p.Spec.InitContainers, containerOf(c))
	}
	for _, c := range from.Spec.Containers {
		p.Spec.Containers = append(p.Spec.Containers, containerOf(c))
	}
	for _, c := range from.Spec.EphemeralContainers {
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, containerOf(corev1.Container(c.EphemeralContainerCommon)))
	}
	subject := p.subject()
	subject.Kind = "Pod"
	subject.NodesByLabel = subject.NodesByLabel && from.Spec.NodeName == "" // else it has a node
	reported := imageIDs(from.Status)
	for i := range subject.Containers {
		c := &subject.Containers[i]
		if id := result.ParseImageID(reported[place{c.Role == gate.RoleImageVolume, c.Name}]); id.InRepository {
			c.Digests = []v1alpha1.Digest{id.Digest}
		} else {
			c.ImageID = id.Digest
		}
	}
	return subject
}

func containerOf(c corev1.Container) container {
	narrow := container{Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, WorkingDir: c.WorkingDir, Additions: source.AdditionsOf(c)}
	for _, e := range c.Env {
		variable := source.EnvVar{Name: e.Name, Value: e.Value}
		if e.ValueFrom != nil {
			variable.ValueFrom = &source.ValueFrom{}
		}
		narrow.Env = append(narrow.Env, variable)
	}
	return narrow
}

func affinityOf(from *corev1.Affinity) affinity {
	var a affinity
	if from == nil || from.NodeAffinity == nil || from.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return a
	}
	for _, term := range from.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var narrow nodeSelectorTerm
		for _, e := range term.MatchExpressions {
			narrow.MatchExpressions = append(narrow.MatchExpressions, expression{Key: e.Key, Operator: string(e.Operator), Values: e.Values})
		}
		a.NodeAffinity.Required.Terms = append(a.NodeAffinity.Required.Terms, narrow)
	}
	return a
}

// place identifies an image in a Pod. Containers of all roles share one set of names, volumes
// have another.
type place struct {
	volume bool
	name   string
}

func imageIDs(status corev1.PodStatus) map[place]string {
	reported := map[place]string{}
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for _, c := range list {
			reported[place{false, c.Name}] = c.ImageID
			for _, mount := range c.VolumeMounts {
				if mount.VolumeStatus != nil && mount.VolumeStatus.Image != nil {
					reported[place{true, mount.Name}] = mount.VolumeStatus.Image.ImageRef
				}
			}
		}
	}
	return reported
}
