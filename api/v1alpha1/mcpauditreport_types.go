package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPAuditReportSpec is the full result of one audit, and what it was made from.
type MCPAuditReportSpec struct {
	// audit says what was audited, and why.
	// +required
	Audit AuditInputs `json:"audit"`

	AuditResult `json:",inline"`
}

// AuditInputs are the inputs of an audit that the runner does not know.
type AuditInputs struct {
	// name of the MCPServerAudit.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// image as the spec gives it; empty for a server that was not run, see server.url.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// imageDigest is the digest by which the image was run.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`
	// generation of the spec that was audited.
	Generation int64 `json:"generation"`
	// trigger is why the audit was made.
	Trigger TriggerReason `json:"trigger"`
	// reportSHA256 is the hex digest of the JSON that the runner wrote, before
	// the manager judged it against the baseline.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	ReportSHA256 string `json:"reportSHA256"`
}

// AuditResult is the JSON of report.Report, field by field. The sizes are the
// caps of package report. Words are not restricted to the known ones: a newer
// runner's report can be stored by an older manager, which counts severities
// that it does not know as Critical.
type AuditResult struct {
	// schemaVersion names the format.
	// +kubebuilder:validation:MaxLength=64
	SchemaVersion string `json:"schemaVersion"`
	// server describes what was audited.
	Server ReportedServer `json:"server"`
	// verdict as the manager decided it.
	Verdict Verdict `json:"verdict"`
	// reason for the verdict in a word.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// message says the reason in a sentence.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
	// incomplete is why the audit could not observe everything.
	// +optional
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	// failOn is the lowest severity that fails; empty: none does.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	FailOn string `json:"failOn,omitempty"`
	// startTime of the audit.
	StartTime Timestamp `json:"startTime"`
	// endTime of the audit.
	EndTime Timestamp `json:"endTime"`
	// manifestDigest is empty if the manifest could not be listed completely.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// behavior describes what the server did, in a form that can be compared.
	// +optional
	Behavior Behavior `json:"behavior,omitzero"`
	// rulesetDigest over the rules that judged.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
	// risk is made of the findings.
	// +optional
	Risk Risk `json:"risk,omitzero"`
	// runner is the program that made the audit.
	Runner Component `json:"runner"`
	// tracer is the program that watched the system calls.
	Tracer Component `json:"tracer"`
	// network says what the sandbox did with connections to the outside.
	// +kubebuilder:validation:MaxLength=64
	Network string `json:"network"`
	// probe is how the server was exercised.
	// +optional
	Probe ReportedProbe `json:"probe"`
	// findings, worst first.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Findings []Finding `json:"findings"`
	// declaredScope lists what the operator allowed.
	// +optional
	DeclaredScope *DeclaredScope `json:"declaredScope,omitempty"`
	// scope is how the declaration was understood.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Scope []ScopeClause `json:"scope,omitempty"`
	// baseline is how this audit differs from the one of its baseline.
	// +optional
	Baseline *BaselineDrift `json:"baseline,omitempty"`
	// profile records what the server was seen to do.
	Profile Profile `json:"profile"`
	// privileges lists what it needed of the machine.
	// +optional
	Privileges *Privileges `json:"privileges,omitempty"`
	// codePaths are where the server's code came from, as in status.audited of an MCPServerAudit.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	CodePaths []string `json:"codePaths,omitempty"`
	// manifest lists what the server advertises.
	Manifest Manifest `json:"manifest"`
	// coverage is how much of it was exercised.
	Coverage Coverage `json:"coverage"`
	// exercise has a row for each capability.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Exercise []CapabilityCoverage `json:"exercise,omitempty"`
	// drifts are how the manifest differed within the audit.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Drifts []ManifestDrift `json:"drifts,omitempty"`
	// outputs quote what the server said in answer, the first of each kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Outputs []Output `json:"outputs,omitempty"`
	// captures quote what the sinkhole received, the first of each kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Captures []Capture `json:"captures,omitempty"`
	// unobserved says what the audit could not see into.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Unobserved []Gap `json:"unobserved,omitempty"`
	// noise counts what was left out of the profile, by the reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Noise []Noise `json:"noise,omitempty"`
	// truncated names what the caps cut off.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Truncated []Truncation `json:"truncated,omitempty"`
	// errors are problems of the audit itself.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	Errors []string `json:"errors"`
}

// ReportedServer holds what the server says of itself, and how it was run.
type ReportedServer struct {
	// name as the server gives it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// version as the server gives it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`
	// protocolVersion is the MCP revision that was spoken.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	// transport is Stdio, StreamableHTTP or SSE.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Transport string `json:"transport,omitempty"`
	// url of a server that was not started by the audit, and not traced.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`
	// command is the program and its arguments.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Command []string `json:"command"`
	// environment names what the audit set besides command; absent if nothing.
	// +optional
	Environment *AuditedEnvironment `json:"environment,omitempty"`
	// exit is how the server ended.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Exit string `json:"exit,omitempty"`
	// stderr is the end of what the server wrote there.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Stderr string `json:"stderr,omitempty"`
}

// Component is a program with its version.
type Component struct {
	// name of the program.
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// version of the program.
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version"`
}

// Finding is one observation that the declaration of the server does not cover.
type Finding struct {
	// rule is the id of the rule, such as MCPA-EGRESS-001.
	// +kubebuilder:validation:MaxLength=256
	Rule string `json:"rule"`
	// severity is Critical, High, Medium, Low or Info.
	// +kubebuilder:validation:MaxLength=64
	Severity string `json:"severity"`
	// title is the observation in a few words.
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title"`
	// message is the observation in one sentence.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
	// phase of the session in which it was first seen.
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
	// exceedsScope: the declared scope has a list of this kind, and it is not in it.
	// +optional
	ExceedsScope bool `json:"exceedsScope,omitempty"`
	// mitigation names the control that takes the risk away.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Mitigation string `json:"mitigation,omitempty"`
	// suppressed says that the finding is known and accepted, or was.
	// +optional
	Suppressed *Suppressed `json:"suppressed,omitempty"`
	// evidence has at least one entry.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Evidence []Evidence `json:"evidence"`
}

// Capability names one advertised thing, or the server as a whole.
type Capability struct {
	// kind is Server, Tool, Resource, ResourceTemplate or Prompt.
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind"`
	// name of the capability; empty for the server.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
}

// Evidence is one observed system call, or one answer of the server.
type Evidence struct {
	// time of the entry of the call.
	Time Timestamp `json:"time"`
	// pid as the tracer sees it.
	// +optional
	PID int32 `json:"pid,omitempty"`
	// syscall is its name in section 2 of the manual.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Syscall string `json:"syscall,omitempty"`
	// detail is the call with its arguments and result.
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail"`
	// attribution says how the call was matched with the capability.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Attribution string `json:"attribution,omitempty"`
}

// Manifest lists what the server advertises.
type Manifest struct {
	// digest over the canonical manifest.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest,omitempty"`
	// instructions of the server to the model.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Instructions string `json:"instructions,omitempty"`
	// tools by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Tools []ManifestItem `json:"tools"`
	// resources by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Resources []ManifestItem `json:"resources"`
	// resourceTemplates by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	ResourceTemplates []ManifestItem `json:"resourceTemplates"`
	// prompts by name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Prompts []ManifestItem `json:"prompts"`
	// envelope is the digest of what belongs to no item.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Envelope string `json:"envelope,omitempty"`
	// definition is the canonical JSON of the server's name and capabilities.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Definition string `json:"definition,omitempty"`
	// words is the digest of the envelope without times, numbers and ids.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Words string `json:"words,omitempty"`
}

// ManifestItem is one advertised tool, resource, resource template or prompt.
type ManifestItem struct {
	// name of the item.
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// title of the item.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title,omitempty"`
	// description of the item.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description string `json:"description,omitempty"`
	// definition is the canonical JSON of what else belongs to the digest; empty
	// where it does not fit.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Definition string `json:"definition,omitempty"`
	// digest over the item's canonical JSON.
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest"`
	// words is the digest without times, numbers, ids and the order of lists; empty
	// where that is the same.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Words string `json:"words,omitempty"`
}

// Truncation counts what was left out of one list or text.
type Truncation struct {
	// field is the JSON path.
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field"`
	// dropped is how many items, or bytes of a text, were left out.
	Dropped int64 `json:"dropped"`
}

// MCPAuditReport is the full result of one audit. It is owned by its
// MCPServerAudit and never changed.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mcpar,categories=mcp
// +kubebuilder:printcolumn:name="Audit",type=string,JSONPath=`.spec.audit.name`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.spec.verdict`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.reason`
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.spec.server.name`
// +kubebuilder:printcolumn:name="Trigger",type=string,priority=1,JSONPath=`.spec.audit.trigger`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.spec.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MCPAuditReport struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the result.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a report is never changed"
	Spec MCPAuditReportSpec `json:"spec"`
}

// MCPAuditReportList is a list of MCPAuditReport.
// +kubebuilder:object:root=true
type MCPAuditReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MCPAuditReport `json:"items"`
}
