// Package gate decides whether a workload may run, by what is known of its images. It
// is pure: the webhook (controllers/admission) asks it about what is to be admitted,
// the drift controller (controllers/drift) about what runs. Neither a registry nor
// the API server is asked.
package gate

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Role says what an image is to a Pod.
type Role string

// The roles of an image.
const (
	RoleContainer          Role = "container"
	RoleInitContainer      Role = "init container"
	RoleEphemeralContainer Role = "ephemeral container"
	RoleImageVolume        Role = "image volume"
	// RoleServer is the server of an MCPServer object.
	RoleServer Role = "server"
)

// Subject is an object that runs images: all that a decision needs of it.
type Subject struct {
	// Kind as in "Deployment", Namespace and Name of the object.
	Kind, Namespace, Name string
	Target                v1alpha1.GateTarget
	// Labels are the object's own, TemplateLabels those of its Pod template.
	Labels, TemplateLabels map[string]string
	// Architecture and OS that its Pods are pinned to, such as "amd64" and "linux"; empty for any.
	Architecture, OS string
	Containers       []Container
}

// Container is an image that is run, or mounted.
type Container struct {
	Name string
	Role Role
	// Image as the object names it.
	Image string
	// Digests by which the kubelet reports the image that runs; empty before it runs.
	Digests []v1alpha1.Digest
	// ImageID is the digest of the config of the image that runs, where the kubelet knows
	// no other.
	ImageID       v1alpha1.Digest
	Command, Args []string
	Environment   Environment
	Additions     Additions
	// Unclear says in a sentence what of the container cannot be compared with an
	// audit; empty if all can.
	Unclear string
}

// Verdict holds what an MCPServerAudit says about an image: all that is kept of it.
type Verdict struct {
	Audit types.NamespacedName
	// Image is the reference that was audited, as the registry's full name.
	Image string
	// Digests of the manifests that it is about, as in AuditedServer: the last
	// one was run.
	Digests []v1alpha1.Digest
	// Ambiguous is a digest of what may be another image elsewhere: only what is held
	// against the image counts there. ImageID is the digest of the image's config.
	Ambiguous, ImageID v1alpha1.Digest
	// Architecture that was audited of an image for several; empty for an image for one.
	Architecture              string
	CommandDigest, ArgvDigest v1alpha1.Digest
	// Environment names what the audit set besides; nil if nothing. Then the verdict is about
	// the image with any environment.
	Environment *report.Environment
	// WorkingDir of the command, and CodePaths as in AuditedServer; empty if not known.
	WorkingDir string
	CodePaths  []string
	// Exercise is how the server was exercised; nil if that is not known.
	Exercise *v1alpha1.AuditedExercise
	// Assurance says what the verdict rests on, and PassedAssurance the level that it passed by;
	// empty if the audit records none.
	Assurance       report.Assurance
	PassedAssurance report.AssuranceLevel
	// Exposure says what the server enables whoever calls it to do; nil if the audit records none.
	Exposure *v1alpha1.ExposureSummary
	// Command and Args are those of CommandDigest; nil as well if the spec has others by now.
	Command, Args []string
	// Complete: everything was observed. Drifted: the manifest is not the baseline's.
	// Halted: the verdict is not renewed, because the audit is suspended or invalid.
	Complete, Drifted, Halted bool
	// Reason of Ready, or of Audited when the audit is not complete.
	Reason string
	// Findings as they were counted, and what is left of them after suppressions.
	Findings, Unsuppressed v1alpha1.FindingCounts
	// Time of the verdict; Passed is when the last conclusive audit of the same digest and
	// spec passed, as the history has it, and zero if it did not.
	Time, Passed time.Time
	// PassedFailOn is the threshold that it passed by, and PassedSuppressing says that findings may
	// have been suppressed.
	PassedFailOn      v1alpha1.FailOn
	PassedSuppressing bool
}

// Verdicts finds what is known of images. What it returns must not be changed.
type Verdicts interface {
	// ByDigest are the verdicts on the digest of a manifest, the ambiguous ones included,
	// ByImageID those on an image by its config, ByImage those on a reference in its full form.
	ByDigest(v1alpha1.Digest) []*Verdict
	ByImageID(v1alpha1.Digest) []*Verdict
	ByImage(string) []*Verdict
}

// Policy is an MCPAuditPolicy or a ClusterMCPAuditPolicy, read once (see
// ReadPolicy and ReadClusterPolicy) and asked often.
type Policy struct {
	Ref v1alpha1.PolicyReference
	// Namespace of an MCPAuditPolicy; empty for a ClusterMCPAuditPolicy.
	Namespace string
	Gate      v1alpha1.Gate
	Exposure  *v1alpha1.ExposureLimit // nil: any
	Trust     v1alpha1.Trust
	// Invalid says what of the policy cannot be read; then all that it could be about
	// is denied, as far as its mode goes.
	Invalid string

	match match
	// trusted selects the namespaces of trust.auditNamespaces Selected.
	trusted labels.Selector
	// counting is how many of the severities, the worst first, reach failOn.
	counting int
}

// Exception is an MCPAuditException.
type Exception struct {
	types.NamespacedName
	Policy  v1alpha1.PolicyReference
	Images  map[v1alpha1.Digest]bool // nil: any
	Expires time.Time
	Ticket  string

	objects labels.Selector // nil: any
}

// Facts hold what a decision rests on besides its subject.
type Facts struct {
	Policies   []*Policy
	Exceptions []*Exception
	Verdicts   Verdicts
	// NamespaceLabels are the labels of a namespace; ok is false for one that is not known.
	NamespaceLabels func(namespace string) (set labels.Set, ok bool)
	// Architectures of the cluster's nodes, each once: "amd64", and "windows/amd64" of nodes
	// that do not run Linux, as audits do; empty while they are not known.
	Architectures []string
	// EnvironmentKey is the key of the digests of environments; without it, no environment
	// is equal to an audit's.
	EnvironmentKey []byte
	Now            time.Time
}

// Decision is the answer.
type Decision struct {
	// Allowed by all policies in mode Enforce.
	Allowed bool
	// Message is the sentence of a denial.
	Message string
	// Warnings are for whoever applies, a sentence each, 256 characters at most.
	Warnings []string
	// Opinions say what each policy thinks of each container that it is about, by
	// policy, container and image.
	Opinions []Opinion
}

// Opinion says what one policy thinks of one container.
type Opinion struct {
	Policy    *Policy
	Container Container
	Reason    v1alpha1.GateReason
	// Action that the policy wants, before its mode.
	Action v1alpha1.GateAction
	// Verdict that it rests on; nil if there is none.
	Verdict *Verdict
	// Exception that admits it; nil if none was needed, or none does.
	Exception *Exception
	// Alteration names the change of a GateAltered; else nil.
	Alteration *Alteration
	// Sentence says what was found, and what to do about it. Finding is the part of it
	// after the image: whoever has another name for that puts it in front.
	Sentence, Finding string
}
