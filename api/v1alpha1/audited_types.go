package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// AuditedServer describes what the last audit ran. Admission compares workloads with it, and
// not with the spec, which may have changed since.
type AuditedServer struct {
	// image as given in spec.server.image of the audit.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// digests of the manifests that the verdict is about. The last one is the image manifest
	// that ran. The index that the image names comes first, if every container runtime picks
	// that manifest from it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Digests []Digest `json:"digests,omitempty"`

	// ambiguousDigest is the digest that the image names, if it may be another image elsewhere:
	// an index from which container runtimes could pick different manifests, or a reference
	// that only the kubelet could resolve. It never passes, and findings count against it.
	// +optional
	AmbiguousDigest Digest `json:"ambiguousDigest,omitempty"`

	// imageID is the digest of the image's config, by which nodes know an image without a
	// repository. It is not a manifest digest and is never compared with "name@sha256:...".
	// +optional
	ImageID Digest `json:"imageID,omitempty"`

	// platform that ran, such as "linux/amd64", if the image is for several platforms or the
	// registry could not be asked; empty if the image is for one platform.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Platform string `json:"platform,omitempty"`

	// commandDigest is a SHA-256 over command and args of the spec.
	// +optional
	CommandDigest Digest `json:"commandDigest,omitempty"`

	// argvDigest is a SHA-256 over the whole command line that ran, including what the image
	// sets, as if all of it were in command; empty if unknown.
	// +optional
	ArgvDigest Digest `json:"argvDigest,omitempty"`

	// environment names the variables and the directory that the spec set. The gate applies the
	// verdict only to containers that set the same. Absent if the spec set none.
	// +optional
	Environment *report.Environment `json:"environment,omitempty"`

	// workingDir is the working directory of the command, from the spec or the image; empty if
	// unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WorkingDir string `json:"workingDir,omitempty"`

	// codePaths are the directories and files that programs and code were loaded from or looked
	// for in, except the standard directories of every image. Absent if not all are known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	CodePaths []string `json:"codePaths,omitempty"`

	// exercise records the settings of the probe.
	// +optional
	Exercise *AuditedExercise `json:"exercise,omitempty"`

	// unsuppressed counts the findings that match no suppression, by severity.
	// +optional
	Unsuppressed *FindingCounts `json:"unsuppressed,omitempty"`
}

// AuditedExercise describes how a server was exercised, which bounds what its Pass means.
type AuditedExercise struct {
	// digest is a SHA-256 over all of spec.probe.
	Digest Digest `json:"digest"`
	// network says what the server could reach.
	// +kubebuilder:validation:Enum=Sinkhole;Deny;Allow
	Network report.Network `json:"network"`
	// calls says which tools could be called; empty stands for the default, All.
	// +optional
	// +kubebuilder:validation:Enum=All;ReadOnlyHinted;Never
	Calls report.Calls `json:"calls,omitempty"`
	// rounds is the number of times that everything was exercised.
	Rounds int32 `json:"rounds"`
	// maxCallsPerTool is the most calls of one tool over all rounds.
	MaxCallsPerTool int32 `json:"maxCallsPerTool"`
	// inputs is the number of tools that spec.probe.inputs has arguments for.
	// +optional
	Inputs int32 `json:"inputs,omitempty"`
	// skippedTools is the number of entries of spec.probe.skipTools.
	// +optional
	SkippedTools int32 `json:"skippedTools,omitempty"`
	// timeout is the time that the server could be exercised. Launches that did not fit were not
	// made. Absent for audits by earlier versions, which did not record it.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// callTimeout is the time in which a call had to be answered. Absent for audits by earlier versions, which did not
	// record it.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	CallTimeout metav1.Duration `json:"callTimeout,omitzero"`
	// depth is Quick, Standard or Deep, see spec.probe.depth.
	// +optional
	// +kubebuilder:validation:Enum=Quick;Standard;Deep
	Depth report.Depth `json:"depth,omitempty"`
	// attack is Off if the server's guards were not to be tried.
	// +optional
	// +kubebuilder:validation:Enum=On;Off
	Attack plan.Attack `json:"attack,omitempty"`
}

// Pin returns the reference with which a workload gets the audited image, such as
// "registry.example/notes:1@sha256:..."; empty if no digest is known.
func (a *AuditedServer) Pin() string {
	if a == nil || a.Image == "" || len(a.Digests) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(a.Image, "@")
	return name + "@" + string(a.Digests[0])
}

// Counts converts c to the counts of a report.
func (c FindingCounts) Counts() report.Counts {
	return report.Counts{
		Critical: int(c.Critical), High: int(c.High), Medium: int(c.Medium), Low: int(c.Low), Info: int(c.Info), Suppressed: int(c.Suppressed),
	}
}
