// Package report is the contract between what observes an MCP server (runner, the command
// line) and what decides about it (controllers, people).
//
// runner/audit.Run writes a Report once; it never changes afterwards. The command line prints
// it. In a cluster it travels from the audit Pod to the manager as a framed log (frame.go),
// with its digest in the termination message (summary.go), and is stored as an
// MCPAuditReport. Every list has a hard cap (visit.go), because a hostile server decides how
// much there is to report.
//
// +kubebuilder:object:generate=true
package report

// SchemaVersion names the format of the JSON. It changes if a field is removed or changes its
// meaning, not if one is added.
const SchemaVersion = "mcpaudit.dev/report/v1alpha1"

// Report is the outcome of one audit. The schema of MCPAuditReport is generated from it. It
// does not restrict words to known ones, so that an older manager can store the report of a
// newer runner; unknown severities count as Critical.
type Report struct {
	// schemaVersion names the format.
	// +kubebuilder:validation:MaxLength=64
	SchemaVersion string `json:"schemaVersion"`
	// server describes what was audited.
	Server ServerRun `json:"server"`
	// verdict is Pass, Fail or Inconclusive. An incomplete audit never passes.
	Verdict Verdict `json:"verdict"`
	// reason for the verdict in one word.
	Reason Reason `json:"reason"`
	// message explains the reason in one sentence.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message" cap:"1024" counted:"message" redact:"secrets"`
	// incomplete is the reason why the audit could not observe everything; absent if it could. A Fail may
	// have it too: without its findings the verdict would be Inconclusive.
	// +optional
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	// failOn is the lowest severity that makes the verdict Fail; empty if none does.
	// +optional
	FailOn Severity `json:"failOn,omitempty"`
	// assurance says how much of the server the verdict rests on; absent in reports of earlier
	// versions.
	// +optional
	Assurance Assurance `json:"assurance,omitzero"`
	// startTime of the audit.
	StartTime Time `json:"startTime"`
	// endTime of the audit.
	EndTime Time `json:"endTime"`
	// manifestDigest is "sha256:" and 64 hex digits over the canonical manifest (RFC 8785); empty
	// if the manifest could not be listed completely.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// behavior describes what the server did, in a comparable form.
	// +optional
	Behavior Behavior `json:"behavior,omitzero"`
	// rulesetDigest is "sha256:" and 64 hex digits over the rules that judged.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
	// risk is computed from the findings.
	// +optional
	Risk Risk `json:"risk,omitzero"`
	// exposure lists what the server enables, declared or not; absent in reports of earlier versions
	// and if nothing was exercised.
	// +optional
	Exposure *Exposure `json:"exposure,omitempty"`
	// runner is the program that made the audit.
	Runner Component `json:"runner"`
	// tracer is the program that traced the system calls.
	Tracer Component `json:"tracer"`
	// network says what the sandbox did with connections to the outside.
	// +kubebuilder:validation:MaxLength=64
	Network Network `json:"network"`
	// probe records how the server was exercised.
	// +optional
	Probe ProbeRun `json:"probe"`
	// findings, worst first.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Findings []Finding `json:"findings" cap:"256" shrink:"findings" counted:"findings"`
	// declaredScope lists what the operator allowed; absent if the operator declared nothing.
	// +optional
	DeclaredScope *DeclaredScope `json:"declaredScope,omitempty"`
	// scope lists the clauses that the declaration was read as, highest authority first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Scope []ScopeClause `json:"scope,omitempty" cap:"128" shrink:"scope"`
	// baseline lists the differences from the audit of its baseline; absent if there was none or
	// nothing differs.
	// +optional
	Baseline *BaselineDrift `json:"baseline,omitempty"`
	// profile records what the server was seen to do.
	Profile Profile `json:"profile"`
	// privileges lists what the server needed from the machine; absent if nothing was traced.
	// +optional
	Privileges *Privileges `json:"privileges,omitempty"`
	// codePaths are the places that the server's code came from, as in status.audited of an
	// MCPServerAudit.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	CodePaths []string `json:"codePaths,omitempty" cap:"64x256" keep:"whole" redact:"secrets"`
	// manifest lists what the server advertises.
	Manifest Manifest `json:"manifest"`
	// coverage counts the capabilities that were exercised.
	Coverage Coverage `json:"coverage"`
	// exercise has a row for each capability, in the order of the manifest.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Exercise []CapabilityCoverage `json:"exercise,omitempty" cap:"512" shrink:"capabilities"`
	// drifts lists the differences of the manifest within the audit, at most one for each moment. See
	// baseline for how it differs from an earlier audit.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Drifts []ManifestDrift `json:"drifts,omitempty" cap:"4"`
	// outputs quote messages of the server, the first of each kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Outputs []Output `json:"outputs,omitempty" cap:"64" shrink:"outputs"`
	// captures quote what the sinkhole received, the first of each kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Captures []Capture `json:"captures,omitempty" cap:"64" shrink:"effects"`
	// unobserved lists what the audit could not observe.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Unobserved []Gap `json:"unobserved,omitempty" cap:"16"`
	// noise counts what was left out of the profile, by reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Noise []Noise `json:"noise,omitempty" cap:"32"`
	// truncated names the fields that were cut.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Truncated []Truncation `json:"truncated,omitempty"`
	// errors are problems of the audit itself, each in one line.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	Errors []string `json:"errors" cap:"32x1024" counted:"errors,errors.text" redact:"secrets"`
}

// ServerRun says what was audited.
type ServerRun struct {
	// name that the server gave.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty" cap:"256" counted:"server.name" redact:"secrets"`
	// version that the server gave.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty" cap:"256" counted:"server.version" redact:"secrets"`
	// protocolVersion is the negotiated MCP revision.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ProtocolVersion string `json:"protocolVersion,omitempty" cap:"256" counted:"server.protocolVersion"`
	// transport is Stdio, StreamableHTTP or SSE.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Transport Transport `json:"transport,omitempty"`
	// detected is the address at which an audit with transport Auto, which got no answer on stdout, found the
	// server to listen for MCP.
	// +optional
	Detected *Endpoint `json:"detected,omitempty"`
	// url of a server that runs elsewhere and was not traced.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty" cap:"512"`
	// command is the program and its arguments, or a package ("npm:NAME@VERSION") and the
	// arguments of its program; empty with url.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Command []string `json:"command" cap:"64x512" counted:"server.command"`
	// package describes the installed package, if command names one.
	// +optional
	Package *Package `json:"package,omitempty"`
	// environment names the variables and the directory that the audit set; absent if none.
	// +optional
	Environment *Environment `json:"environment,omitempty"`
	// exit is the exit status of the server, such as "exit status 1" or "signal: killed".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Exit string `json:"exit,omitempty" cap:"256"`
	// stderr is the end of the server's stderr.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Stderr string `json:"stderr,omitempty" cap:"4096" keep:"end" redact:"secrets"`
}

// Package describes a server that was audited by its name: a package of a registry, with its dependencies, or a container image.
type Package struct {
	// registryType is npm, pypi, mcpb or oci, as in the MCP registry's server.json.
	// +kubebuilder:validation:MaxLength=16
	RegistryType string `json:"registryType" cap:"16"`
	// identifier is the name of the package or the image.
	// +kubebuilder:validation:MaxLength=256
	Identifier string `json:"identifier" cap:"256"`
	// version that was installed, or the image's tag.
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version" cap:"128"`
	// lockDigest is "sha256:" and 64 hex digits over name, version and archive digest of each
	// installed package. For an image it is the digest of the platform's manifest.
	// +kubebuilder:validation:MaxLength=71
	LockDigest string `json:"lockDigest"`
	// count is the number of installed packages, including this one; 1 for an image.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// scripts are the install scripts that ran in the sandbox, in order, such as "esbuild@0.25.0
	// (postinstall)".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=384
	Scripts []string `json:"scripts,omitempty" cap:"64x384"`
}

// Environment names what an audit set in the environment of a server.
type Environment struct {
	// names of the variables, sorted; absent if the image sets all of them to the same values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=128
	Names []string `json:"names,omitempty"`
	// digest is an HMAC-SHA256 over names and values with the operator's key, so that nobody can
	// guess values by it. Absent without names, and in reports of the command line, which has no
	// key.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
	// workingDir that was set, if it differs from the image's.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WorkingDir string `json:"workingDir,omitempty"`
}

// Component is a program that took part in the audit.
type Component struct {
	// name of the program.
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// version of the program.
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version"`
}

// Network says what the sandbox did with connections to the outside.
type Network string

// The networks.
const (
	// NetworkSinkhole: every name resolves, and the audit answers every connection inside the
	// sandbox, so that it sees what the server sends. Nothing leaves.
	NetworkSinkhole Network = "Sinkhole"
	// NetworkDeny: every connection is refused inside the sandbox, and recorded with its address.
	NetworkDeny Network = "Deny"
	// NetworkAllow: the server reaches what the machine or the Pod reaches.
	NetworkAllow Network = "Allow"
)

// Networks lists all networks, the default first.
var Networks = []Network{NetworkSinkhole, NetworkDeny, NetworkAllow}

// Capture holds what the sinkhole received over one connection or in one datagram.
type Capture struct {
	// address that the server tried to reach.
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address" cap:"512"`
	// port is 1 to 65535; 0 if the protocol has none.
	// +optional
	// +kubebuilder:validation:Format=int32
	Port int `json:"port,omitempty"`
	// host is the name of the address; empty if unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty" cap:"256"`
	// protocol that was recognised: "tcp", "udp", "dns", "http", "https", "tls", "smtp", "redis",
	// "postgres", ...
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
	// request in one line, such as "POST /collect HTTP/1.1".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Request string `json:"request,omitempty" cap:"256"`
	// bytes is the number of bytes that the server sent.
	Bytes int64 `json:"bytes"`
	// excerpt is the beginning of what was sent, with secrets shortened.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Excerpt string `json:"excerpt,omitempty" cap:"512"`
	// opaque: the content was encrypted for another recipient and is unknown.
	// +optional
	Opaque bool `json:"opaque,omitempty"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
}

// Gap is something that the audit could not observe.
type Gap struct {
	// what was not observed, in a CamelCase word such as "OpaqueTLS".
	// +kubebuilder:validation:MaxLength=64
	What string `json:"what"`
	// count is the number of times, at least 1.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// detail explains the gap in one sentence, with an example.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty" cap:"512"`
}

// Noise counts effects that every program of a runtime has, and that the profile leaves out
// for one reason.
type Noise struct {
	// reason is a CamelCase word, such as "Loader" or "Locale".
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// count is the number of times.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// samples are some of them, if samples were asked for.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Samples []string `json:"samples,omitempty" cap:"64x512" shrink:"effects"`
}

// Truncation counts what was left out of one list or text.
type Truncation struct {
	// field is the JSON path, such as "findings" or "manifest.tools".
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field"`
	// dropped is the number of items, or bytes of a text, that were left out; at least 1.
	// +kubebuilder:validation:Format=int64
	Dropped int `json:"dropped"`
}
