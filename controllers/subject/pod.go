package subject

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// metadata has the relevant fields of an object's metadata.
type metadata struct {
	Name         string            `json:"name"`
	GenerateName string            `json:"generateName"`
	Namespace    string            `json:"namespace"`
	Labels       map[string]string `json:"labels"`
}

// pod has the relevant fields of a Pod or Pod template.
type pod struct {
	Metadata metadata `json:"metadata"`
	Spec     podSpec  `json:"spec"`
}

// podSpec has every field that names an image. A test compares it with the Kubernetes API.
type podSpec struct {
	InitContainers      []container       `json:"initContainers"`
	Containers          []container       `json:"containers"`
	EphemeralContainers []container       `json:"ephemeralContainers"`
	Volumes             []volume          `json:"volumes"`
	NodeSelector        map[string]string `json:"nodeSelector"`
	Affinity            affinity          `json:"affinity"`
	Tolerations         []toleration      `json:"tolerations"`
	RuntimeClassName    string            `json:"runtimeClassName"`
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
	// WorkingDir overrides that of the image.
	WorkingDir string `json:"workingDir"`
}

type volume struct {
	Name  string       `json:"name"`
	Image *imageVolume `json:"image"`
}

type imageVolume struct {
	Reference string `json:"reference"`
}

type toleration struct {
	Key string `json:"key"`
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

// noImage is for containers without an image, which some workloads get later. noText is for those
// with bytes that are not UTF-8, which an API server stores and JSON cannot hold: other bytes are
// written in the same way.
const (
	noImage = "It names no image."
	noText  = "It has text that is not UTF-8, or a character that stands for such text."
)

// images returns everything that a Pod runs or mounts, in start order.
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
			isKnown := false
			if read.Command, read.Args, isKnown = source.Expand(c.Env, c.Command, c.Args); !isKnown {
				read.Unclear = source.NotExpanded
			}
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
	switch {
	case c.Image == "":
		c.Unclear = noImage
	case slices.ContainsFunc(slices.Concat(c.Command, c.Args, []string{c.Environment.WorkingDir}), isReplaced),
		slices.ContainsFunc(slices.Collect(maps.Values(c.Environment.Variables)), isReplaced):
		c.Unclear = noText
	}
	return c
}

// isReplaced reports whether a text is not UTF-8, or was not before it was encoded as JSON.
func isReplaced(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

// pin sets the subject's node constraints.
func (s *podSpec) pin(subject *gate.Subject) {
	subject.Architecture = s.pinned(corev1.LabelArchStable)
	// Kubelets of another OS reject a Pod that names its own.
	subject.OS = cmp.Or(s.OS.Name, s.pinned(corev1.LabelOSStable))
	subject.NodesByLabel = subject.Architecture == "" && s.selects()
}

// selects reports whether the Pod requires a label of its node other than its OS, tolerates a taint
// that Kubernetes does not set itself, or names a RuntimeClass, which may do either.
func (s *podSpec) selects() bool {
	if s.RuntimeClassName != "" || slices.ContainsFunc(s.Tolerations, func(t toleration) bool { return !strings.HasPrefix(t.Key, ownTaints) }) {
		return true
	}
	for key := range s.NodeSelector {
		if key != corev1.LabelOSStable {
			return true
		}
	}
	return slices.ContainsFunc(s.Affinity.NodeAffinity.Required.Terms, func(t nodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(e expression) bool { return e.Key != corev1.LabelOSStable })
	})
}

// ownTaints begins the taints for the state of a node, which every Pod of a DaemonSet tolerates.
const ownTaints = "node.kubernetes.io/"

// pinned returns the value that a node label must have for the Pod; empty unless there is
// exactly one.
func (s *podSpec) pinned(label string) string {
	if selected := s.NodeSelector[label]; selected != "" {
		return selected
	}
	pinned := ""
	for i, term := range s.Affinity.NodeAffinity.Required.Terms { // any of them may match
		value := term.pinned(label)
		if value == "" || i > 0 && value != pinned {
			return ""
		}
		pinned = value
	}
	return pinned
}

// pinned returns the value required by a term, all of whose expressions must match.
func (t nodeSelectorTerm) pinned(label string) string {
	for _, e := range t.MatchExpressions {
		if e.Key == label && e.Operator == string(corev1.NodeSelectorOpIn) && len(e.Values) == 1 {
			return e.Values[0]
		}
	}
	return ""
}
