package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// AuditedServer describes what the last audit ran. Admission compares it with workloads: the
// spec may be another by now.
type AuditedServer struct {
	// image as the spec named it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// digests are the manifest digests that the verdict is about. The last one is the
	// image manifest that was run. An index that the image names comes before it, if
	// every container runtime runs that manifest of it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Digests []Digest `json:"digests,omitempty"`

	// ambiguousDigest is the digest that the image names, if that may be another image elsewhere:
	// an index of which container runtimes could run different manifests, or what only
	// the kubelet could resolve. Findings count against it, and it never passes.
	// +optional
	AmbiguousDigest Digest `json:"ambiguousDigest,omitempty"`

	// imageID is the digest of the image's config, by which nodes know an image that
	// has no repository. It names no manifest: "name@sha256:..." is never compared with it.
	// +optional
	ImageID Digest `json:"imageID,omitempty"`

	// platform that was run, such as "linux/amd64", if the image is for several, or if
	// only the kubelet could have it, so that this is not known; empty if it is for one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Platform string `json:"platform,omitempty"`

	// commandDigest is over command and args of the spec, see CommandDigest.
	// +optional
	CommandDigest Digest `json:"commandDigest,omitempty"`

	// argvDigest is over the whole command line that was run, the image's part
	// included, as if all of it were in command; empty if it is not known.
	// +optional
	ArgvDigest Digest `json:"argvDigest,omitempty"`

	// environment names what the spec set besides the command: the gate holds the verdict
	// for containers that have the same. Absent if it set nothing.
	// +optional
	Environment *report.Environment `json:"environment,omitempty"`

	// workingDir is the working directory of the command, whether the spec or the image
	// says so; empty if it is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WorkingDir string `json:"workingDir,omitempty"`

	// codePaths are the directories and files from which programs were started and code was
	// loaded, or looked for, besides the directories that every image has for that. Absent if not all of them
	// are known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	CodePaths []string `json:"codePaths,omitempty"`

	// exercise is how the server was exercised.
	// +optional
	Exercise *AuditedExercise `json:"exercise,omitempty"`

	// unsuppressed counts the findings that no suppression was about.
	// +optional
	Unsuppressed *FindingCounts `json:"unsuppressed,omitempty"`
}

// AuditedExercise is how a server was exercised, as far as that bounds what a pass means.
type AuditedExercise struct {
	// digest is a SHA-256 over all of spec.probe.
	Digest Digest `json:"digest"`
	// network says what the server could reach.
	Network NetworkMode `json:"network"`
	// calls says which tools could be called; empty for the default.
	// +optional
	Calls ProbeCalls `json:"calls,omitempty"`
	// rounds is how often everything was exercised.
	Rounds int32 `json:"rounds"`
	// maxCallsPerTool is how often one tool could be called, over all rounds.
	MaxCallsPerTool int32 `json:"maxCallsPerTool"`
	// inputs is for how many tools the spec gave arguments.
	// +optional
	Inputs int32 `json:"inputs,omitempty"`
	// skippedTools is how many tools were not to be called.
	// +optional
	SkippedTools int32 `json:"skippedTools,omitempty"`
	// timeout is how long the server could be exercised: launches that there was no time for
	// were not made. Missing in what was audited before it was recorded.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// depth is Quick where only the launches were made that every audit needs.
	// +optional
	Depth ProbeDepth `json:"depth,omitempty"`
	// attack is Off where the server's guards were not to be tried.
	// +optional
	Attack ProbeAttack `json:"attack,omitempty"`
}

// Pin returns the audited image as a workload names what the verdict is about, such as
// "registry.example/notes:1@sha256:..."; empty if no digest passes.
func (a *AuditedServer) Pin() string {
	if a == nil || a.Image == "" || len(a.Digests) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(a.Image, "@")
	return name + "@" + string(a.Digests[0])
}

// Counts returns the counts as a report has them.
func (c FindingCounts) Counts() report.Counts {
	return report.Counts{
		Critical: int(c.Critical), High: int(c.High), Medium: int(c.Medium), Low: int(c.Low), Info: int(c.Info), Suppressed: int(c.Suppressed),
	}
}
