package subject

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// metadata has the fields of an object's metadata that matter here.
type metadata struct {
	Name         string            `json:"name"`
	GenerateName string            `json:"generateName"`
	Namespace    string            `json:"namespace"`
	Labels       map[string]string `json:"labels"`
}

// pod has the fields of a Pod, and of the template of one, that matter here.
type pod struct {
	Metadata metadata `json:"metadata"`
	Spec     podSpec  `json:"spec"`
}

// podSpec has all that names an image. A test holds it against the API of Kubernetes.
type podSpec struct {
	InitContainers      []container       `json:"initContainers"`
	Containers          []container       `json:"containers"`
	EphemeralContainers []container       `json:"ephemeralContainers"`
	Volumes             []volume          `json:"volumes"`
	NodeSelector        map[string]string `json:"nodeSelector"`
	Affinity            affinity          `json:"affinity"`
	OS                  podOS             `json:"os"`
}

type podOS struct {
	Name string `json:"name"`
}

type container struct {
	source.Additions
	Name    string          `json:"name"`
	Image   string          `json:"image"`
	Command []string        `json:"command"`
	Args    []string        `json:"args"`
	Env     []source.EnvVar `json:"env"`
	// WorkingDir replaces that of the image.
	WorkingDir string `json:"workingDir"`
}

type volume struct {
	Name  string       `json:"name"`
	Image *imageVolume `json:"image"`
}

type imageVolume struct {
	Reference string `json:"reference"`
}

type affinity struct {
	NodeAffinity struct {
		Required struct {
			Terms []nodeSelectorTerm `json:"nodeSelectorTerms"`
		} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
	} `json:"nodeAffinity"`
}

type nodeSelectorTerm struct {
	MatchExpressions []expression `json:"matchExpressions"`
}

type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// noImage says that a container names no image, which some workloads get later.
const noImage = "It names no image."

// images are all that a Pod runs or mounts, in the order in which it is started.
func (s *podSpec) images() []gate.Container {
	all := make([]gate.Container, 0, len(s.Volumes)/4+len(s.InitContainers)+len(s.Containers)+len(s.EphemeralContainers))
	for _, v := range s.Volumes {
		if v.Image != nil {
			all = append(all, clear(gate.Container{Name: v.Name, Role: gate.RoleImageVolume, Image: v.Image.Reference}))
		}
	}
	for _, of := range []struct {
		role gate.Role
		list []container
	}{
		{gate.RoleInitContainer, s.InitContainers}, {gate.RoleContainer, s.Containers}, {gate.RoleEphemeralContainer, s.EphemeralContainers},
	} {
		for _, c := range of.list {
			read := gate.Container{Name: c.Name, Role: of.role, Image: c.Image}
			read.Command, read.Args = source.Expand(c.Env, c.Command, c.Args)
			read.Environment, read.Additions = environmentOf(c.Env, c.WorkingDir, c.Additions), additionsOf(c.Additions)
			all = append(all, clear(read))
		}
	}
	return all
}

func environmentOf(env []source.EnvVar, workingDir string, additions source.Additions) gate.Environment {
	variables, ok := source.Literals(env)
	return gate.Environment{
		Variables: variables, Unclear: !ok, WorkingDir: workingDir,
		Unread: source.Unread(env, variables), From: len(additions.EnvFrom) > 0,
	}
}

func additionsOf(of source.Additions) gate.Additions {
	return gate.Additions{Mounts: of.Mounts(), Commands: of.Commands()}
}

func clear(c gate.Container) gate.Container {
	if c.Image == "" {
		c.Unclear = noImage
	}
	return c
}

// pin has a subject know where the Pod may come to.
func (s *podSpec) pin(subject *gate.Subject) {
	subject.Architecture = s.pinned(corev1.LabelArchStable)
	// A kubelet of another system refuses a Pod that names its own.
	subject.OS = cmp.Or(s.OS.Name, s.pinned(corev1.LabelOSStable))
}

// pinned is the value of a label that all nodes have which the Pod may come to; empty
// unless there is one.
func (s *podSpec) pinned(label string) string {
	if selected := s.NodeSelector[label]; selected != "" {
		return selected
	}
	pinned := ""
	for i, term := range s.Affinity.NodeAffinity.Required.Terms { // any of them may hold
		value := term.pinned(label)
		if value == "" || i > 0 && value != pinned {
			return ""
		}
		pinned = value
	}
	return pinned
}

// pinned is the value that a term asks for. All of its expressions have to hold.
func (t nodeSelectorTerm) pinned(label string) string {
	for _, e := range t.MatchExpressions {
		if e.Key == label && e.Operator == string(corev1.NodeSelectorOpIn) && len(e.Values) == 1 {
			return e.Values[0]
		}
	}
	return ""
}
