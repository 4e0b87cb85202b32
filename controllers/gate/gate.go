// Package gate decides whether a workload may run, by the verdicts on its images. It is pure
// and asks neither registries nor the API server. The webhook (controllers/admission) uses it
// for what is to be admitted, the drift controller (controllers/drift) for what runs.
package gate

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Role is the use of an image.
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

// Subject is an object that runs images, reduced to what a decision needs.
type Subject struct {
	// Kind as in "Deployment", Namespace and Name of the object.
	Kind, Namespace, Name string
	Target                v1alpha1.GateTarget
	// Labels are the object's own, TemplateLabels those of its Pod template.
	Labels, TemplateLabels map[string]string
	// Architecture and OS that its Pods are pinned to, such as "amd64" and "linux"; empty for any.
	Architecture, OS string
	// NodesByLabel says that its Pods choose nodes, by labels, taints or a RuntimeClass, but no one
	// architecture: an autoscaler may add a node of another one for them.
	NodesByLabel bool
	Containers   []Container
}

// Container is an image that is run or mounted.
type Container struct {
	Name string
	Role Role
	// Image as the object names it.
	Image string
	// Digests by which the kubelet reports the image that runs; empty before it runs.
	Digests []v1alpha1.Digest
	// ImageID is the digest of the running image's config, where the kubelet reports no other.
	ImageID       v1alpha1.Digest
	Command, Args []string
	Environment   Environment
	Additions     Additions
	// Unclear is a sentence that says why the container cannot be compared with an audit; empty
	// if it can.
	Unclear string
}

// Verdict is the part of an MCPServerAudit that the gate keeps.
type Verdict struct {
	Audit types.NamespacedName
	// Image is the reference that was audited, as the registry's full name.
	Image string
	// Digests of the manifests that the verdict covers, as in AuditedServer; the last one was
	// run.
	Digests []v1alpha1.Digest
	// Ambiguous is a digest that may name another image elsewhere: there, only what is held
	// against the image counts. ImageID is the digest of the image's config.
	Ambiguous, ImageID v1alpha1.Digest
	// Architecture that was audited of a multi-platform image; empty for others.
	Architecture              string
	CommandDigest, ArgvDigest v1alpha1.Digest
	// Environment holds the variables that the audit set besides; nil if nothing, which covers any environment.
	Environment *report.Environment
	// WorkingDir of the command, and CodePaths as in AuditedServer; empty if not known.
	WorkingDir string
	CodePaths  []string
	// Exercise describes how the server was exercised; nil if unknown.
	Exercise *v1alpha1.AuditedExercise
	// Assurance describes the basis of the verdict, PassedAssurance the level of the last pass;
	// empty if the audit records none.
	Assurance       report.Assurance
	PassedAssurance report.AssuranceLevel
	// Exposure lists what the server lets its callers do; nil if the audit records none.
	Exposure *v1alpha1.ExposureSummary
	// Command and Args are the words behind CommandDigest; nil as well if the spec has changed.
	Command, Args []string
	// Complete means that everything was observed, Drifted that the manifest differs from the
	// baseline, Halted that the verdict is not renewed because the audit is suspended or
	// invalid.
	Complete, Drifted, Halted bool
	// Reason of Ready, or of Audited when the audit is not complete.
	Reason string
	// Findings counts all, Unsuppressed those that are not suppressed.
	Findings, Unsuppressed v1alpha1.FindingCounts
	// Time of the verdict. Passed is when the last conclusive audit of the same digest and spec
	// passed, by the history; zero if it did not.
	Time, Passed time.Time
	// PassedFailOn is the threshold of that pass, and PassedSuppressing says that suppressions
	// may have applied.
	PassedFailOn      v1alpha1.FailOn
	PassedSuppressing bool
}

// Verdicts looks up verdicts. Results must not be changed.
type Verdicts interface {
	// ByDigest looks up by manifest digest, including ambiguous ones, ByImageID by config
	// digest, ByImage by full reference.
	ByDigest(v1alpha1.Digest) []*Verdict
	ByImageID(v1alpha1.Digest) []*Verdict
	ByImage(string) []*Verdict
}

// Policy is a parsed MCPAuditPolicy or ClusterMCPAuditPolicy (see ReadPolicy and
// ReadClusterPolicy).
type Policy struct {
	Ref v1alpha1.PolicyReference
	// Namespace of an MCPAuditPolicy; empty for a ClusterMCPAuditPolicy.
	Namespace string
	Gate      v1alpha1.Gate
	Exposure  *v1alpha1.ExposureLimit // nil: no limit
	Trust     v1alpha1.Trust
	// Invalid describes the error in the policy; everything in its scope is then denied, subject
	// to its mode.
	Invalid string

	match match
	// trusted is the selector of trust.auditNamespaces Selected.
	trusted labels.Selector
	// counting is the number of severities, worst first, that reach failOn.
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

// Facts are the inputs of a decision besides its subject.
type Facts struct {
	Policies   []*Policy
	Exceptions []*Exception
	Verdicts   Verdicts
	// NamespaceLabels returns a namespace's labels; ok is false if it is unknown.
	NamespaceLabels func(namespace string) (set labels.Set, ok bool)
	// Architectures of the nodes, each once: "amd64", and "windows/amd64" for nodes that do not
	// run Linux, as audits do; empty while unknown.
	Architectures []string
	// EnvironmentKey is the key for environment digests; without it no environment equals an
	// audit's.
	EnvironmentKey []byte
	Now            time.Time
}

// Decision is the result of Decide.
type Decision struct {
	// Allowed is set unless a policy in mode Enforce denies.
	Allowed bool
	// Message is the denial's sentence.
	Message string
	// Warnings are for the user, one sentence each, at most 256 characters.
	Warnings []string
	// Opinions has each policy's opinion of each container in its scope, by policy, container
	// and image.
	Opinions []Opinion
}

// Opinion is one policy's result for one container.
type Opinion struct {
	Policy    *Policy
	Container Container
	Reason    v1alpha1.GateReason
	// Action is the policy's action, regardless of its mode.
	Action v1alpha1.GateAction
	// Verdict is the deciding one; nil if there is none.
	Verdict *Verdict
	// Exception admits the image; nil if none was needed or applies.
	Exception *Exception
	// Alteration names the change of a GateAltered; else nil.
	Alteration *Alteration
	// Sentence is the finding with its remedy. Finding is the part after the image, for callers
	// that name it differently.
	Sentence, Finding string

	// Place is the position of the container among all of the object's, in the order of names.
	Place int
}
