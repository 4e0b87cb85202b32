// Package report is the contract between what watches an MCP server (runner,
// the command line) and what decides about it (controllers, people).
//
// A Report is written once by runner/audit.Run and never changed afterwards:
// it is printed by the command line, travels from the audit Pod to the manager
// as a framed log (frame.go) under a digest in the termination message
// (summary.go), and is stored as an MCPAuditReport. Every list in it has a hard
// cap (visit.go), because a hostile server decides how much there is to say.
//
// +kubebuilder:object:generate=true
package report

// SchemaVersion names the format of the JSON. It changes when a field changes
// its meaning or goes away; new fields do not change it.
const SchemaVersion = "mcpaudit.dev/report/v1alpha1"

// Report is the outcome of one audit. The schema of MCPAuditReport is made of its types
// and their markers. It does not restrict words to the known ones: an older manager can
// store the report of a newer runner, and counts severities that it does not know as
// Critical.
type Report struct {
	// schemaVersion names the format.
	// +kubebuilder:validation:MaxLength=64
	SchemaVersion string `json:"schemaVersion"`
	// server describes what was audited.
	Server ServerRun `json:"server"`
	// verdict is never Pass unless the audit was complete.
	Verdict Verdict `json:"verdict"`
	// reason for the verdict in a word.
	Reason Reason `json:"reason"`
	// message says the reason in a sentence.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message" cap:"1024" counted:"message" redact:"secrets"`
	// incomplete is why the audit could not observe everything; absent if it could. It
	// stands beside a Fail as well: if none of the findings counts any more, not
	// everything was seen all the same.
	// +optional
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	// failOn is the lowest severity that makes the verdict Fail; empty: none does.
	// +optional
	FailOn Severity `json:"failOn,omitempty"`
	// assurance is how much of the server the verdict rests on; absent in reports of earlier
	// versions.
	// +optional
	Assurance Assurance `json:"assurance,omitzero"`
	// startTime of the audit.
	StartTime Time `json:"startTime"`
	// endTime of the audit.
	EndTime Time `json:"endTime"`
	// manifestDigest is "sha256:" and 64 hex digits over the canonical manifest
	// (RFC 8785); empty when the manifest could not be listed whole.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// behavior describes what the server did, in a form that can be compared.
	// +optional
	Behavior Behavior `json:"behavior,omitzero"`
	// rulesetDigest is "sha256:" and 64 hex digits over the rules that judged.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
	// risk is made of the findings.
	// +optional
	Risk Risk `json:"risk,omitzero"`
	// exposure is what the server enables, declared or not; nil in reports of earlier
	// versions, and where nothing was exercised.
	// +optional
	Exposure *Exposure `json:"exposure,omitempty"`
	// runner is the program that made the audit.
	Runner Component `json:"runner"`
	// tracer is the program that watched the system calls.
	Tracer Component `json:"tracer"`
	// network says what the sandbox did with connections to the outside.
	Network Network `json:"network"`
	// probe is how the server was exercised.
	// +optional
	Probe ProbeRun `json:"probe"`
	// findings, worst first.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Findings []Finding `json:"findings" cap:"256" shrink:"findings" counted:"findings"`
	// declaredScope lists what the operator allowed; absent if nothing was said.
	// +optional
	DeclaredScope *DeclaredScope `json:"declaredScope,omitempty"`
	// scope is how the declaration was understood, the highest authority first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Scope []ScopeClause `json:"scope,omitempty" cap:"128" shrink:"scope"`
	// baseline is how this audit differs from the one of its baseline; absent if there
	// was none, or nothing differs.
	// +optional
	Baseline *BaselineDrift `json:"baseline,omitempty"`
	// profile records what the server was seen to do.
	Profile Profile `json:"profile"`
	// privileges lists what the server needed of the machine; absent if nothing was traced.
	// +optional
	Privileges *Privileges `json:"privileges,omitempty"`
	// codePaths are where the server's code came from, as in status.audited of an MCPServerAudit.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	CodePaths []string `json:"codePaths,omitempty" cap:"64x256" keep:"whole" redact:"secrets"`
	// manifest lists what the server advertises.
	Manifest Manifest `json:"manifest"`
	// coverage is how much of it was exercised.
	Coverage Coverage `json:"coverage"`
	// exercise has a row for each capability, in the order of the manifest.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Exercise []CapabilityCoverage `json:"exercise,omitempty" cap:"512" shrink:"capabilities"`
	// drifts are how the manifest differed within the audit, at most one for each
	// Moment; what differs from an earlier audit is a finding of its own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Drifts []ManifestDrift `json:"drifts,omitempty" cap:"4"`
	// outputs quote what the server said in answer, the first of each kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Outputs []Output `json:"outputs,omitempty" cap:"64" shrink:"outputs"`
	// captures quote what the sinkhole received, the first of each kind.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Captures []Capture `json:"captures,omitempty" cap:"64" shrink:"effects"`
	// unobserved says what the audit could not see into.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Unobserved []Gap `json:"unobserved,omitempty" cap:"16"`
	// noise counts what was left out of the profile, by the reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Noise []Noise `json:"noise,omitempty" cap:"32"`
	// truncated names what the caps cut off.
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
	// name as the server gives it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty" cap:"256" counted:"server.name" redact:"secrets"`
	// version as the server gives it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty" cap:"256" counted:"server.version" redact:"secrets"`
	// protocolVersion is the MCP revision that was spoken.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ProtocolVersion string `json:"protocolVersion,omitempty" cap:"256" counted:"server.protocolVersion"`
	// transport is Stdio, StreamableHTTP or SSE.
	// +optional
	Transport Transport `json:"transport,omitempty"`
	// detected is where the server was found to listen for MCP, by an audit that was not
	// told how to talk to it (transport Auto), and had no answer on stdout.
	// +optional
	Detected *Endpoint `json:"detected,omitempty"`
	// url of a server that was not started by the audit, and not traced.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty" cap:"512"`
	// command is the program and its arguments, or a package ("npm:NAME@VERSION") and those of its program; empty
	// with url.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Command []string `json:"command" cap:"64x512" counted:"server.command"`
	// package is what was installed for command, where the server was named by the package that it is
	// published as.
	// +optional
	Package *Package `json:"package,omitempty"`
	// environment names what the audit set besides command; absent if nothing.
	// +optional
	Environment *Environment `json:"environment,omitempty"`
	// exit is how the server ended, such as "exit status 1" or "signal: killed".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Exit string `json:"exit,omitempty" cap:"256"`
	// stderr is the end of what the server wrote there.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Stderr string `json:"stderr,omitempty" cap:"4096" keep:"end" redact:"secrets"`
}

// Package is a package of a registry that was installed to be audited, with all that it needs.
type Package struct {
	// registryType is npm or pypi, as in the MCP registry's server.json.
	// +kubebuilder:validation:MaxLength=16
	RegistryType string `json:"registryType" cap:"16"`
	// identifier is the name of the package.
	// +kubebuilder:validation:MaxLength=256
	Identifier string `json:"identifier" cap:"256"`
	// version that was installed.
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version" cap:"128"`
	// lockDigest is "sha256:" and 64 hex digits over the name, the version and the archive's digest of each
	// package that was installed.
	// +kubebuilder:validation:MaxLength=71
	LockDigest string `json:"lockDigest"`
	// count is how many packages were installed, this one included.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// scripts are the install scripts that were run in the sandbox, in their order: "esbuild@0.25.0 (postinstall)".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=384
	Scripts []string `json:"scripts,omitempty" cap:"64x384"`
}

// Environment names what an audit set of the environment of a server.
type Environment struct {
	// names of the variables, sorted; absent if the image sets each to the same value.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=128
	Names []string `json:"names,omitempty"`
	// digest is an HMAC-SHA256 over names and values with a key that only the operator
	// has, so that nobody can try values against it. Absent without names, and in a
	// report of the command line, which has no key.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
	// workingDir that was set, if it is not the image's own.
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
// +kubebuilder:validation:MaxLength=64
type Network string

// The networks.
const (
	// NetworkSinkhole: every address leads back into the sandbox, where every name
	// resolves and every connection is answered by the audit itself, so that what
	// the server sends is seen. Nothing leaves.
	NetworkSinkhole Network = "Sinkhole"
	// NetworkDeny: every address leads back into the sandbox, where nothing
	// listens; an attempt is refused at once and recorded with its address.
	NetworkDeny Network = "Deny"
	// NetworkAllow: the server reaches what the machine, or the Pod, reaches.
	NetworkAllow Network = "Allow"
)

// Networks lists all networks, the default first.
var Networks = []Network{NetworkSinkhole, NetworkDeny, NetworkAllow}

// Capture holds what the sinkhole received by one connection, or in one datagram.
type Capture struct {
	// address that the server meant to reach.
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address" cap:"512"`
	// port is 0 where the protocol has none.
	// +optional
	// +kubebuilder:validation:Format=int32
	Port int `json:"port,omitempty"`
	// host is the name that the address stands for, where one is known.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty" cap:"256"`
	// protocol was spoken: "tcp", "udp", "dns", "http", "https", "tls",
	// "smtp", "redis", "postgres", ...
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
	// request says in one line what was asked: "POST /collect HTTP/1.1".
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Request string `json:"request,omitempty" cap:"256"`
	// bytes is how much the server sent.
	Bytes int64 `json:"bytes"`
	// excerpt is the beginning of it, secrets shortened.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Excerpt string `json:"excerpt,omitempty" cap:"512"`
	// opaque: it was encrypted for somebody else; what was sent is not known.
	// +optional
	Opaque bool `json:"opaque,omitempty"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
}

// Gap is something that the audit could not see into.
type Gap struct {
	// what it is, a CamelCase word such as "OpaqueTLS".
	// +kubebuilder:validation:MaxLength=64
	What string `json:"what"`
	// count is how often; always > 0.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// detail says it in one sentence, with an example.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty" cap:"512"`
}

// Noise counts the effects that are left out of the profile for one reason:
// what every program of a runtime does by itself.
type Noise struct {
	// reason is a CamelCase word, such as "Loader" or "Locale".
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// count is how often.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// samples are some of them, where they were asked for.
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
	// dropped is how many items (or bytes, for a text) were left out; always > 0.
	// +kubebuilder:validation:Format=int64
	Dropped int `json:"dropped"`
}
