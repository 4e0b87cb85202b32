// Package report is the contract between what watches an MCP server (runner,
// the command line) and what decides about it (controllers, people).
//
// A Report is written once by runner/audit.Run and never changed afterwards:
// it is printed by the command line, travels from the audit Pod to the manager
// as a framed log (frame.go) under a digest in the termination message
// (summary.go), and is stored as an MCPAuditReport. Every list in it has a hard
// cap (caps.go), because a hostile server decides how much there is to say.
package report

import "time"

// SchemaVersion names the format of the JSON. It changes when a field changes
// its meaning or goes away; new fields do not change it.
const SchemaVersion = "mcpaudit.dev/report/v1alpha1"

// Report is the outcome of one audit.
type Report struct {
	SchemaVersion string `json:"schemaVersion"`
	Server        Server `json:"server"`

	// Verdict is never Pass unless the audit was complete: see Judge.
	Verdict Verdict `json:"verdict"`
	// Reason is a CamelCase word for the verdict, one of the Reason constants.
	Reason Reason `json:"reason"`
	// Message says the reason in one sentence, for people.
	Message string `json:"message"`
	// Incomplete is why the audit could not observe everything; nil when it could. It
	// stands beside a Fail as well: whoever judges the findings again, and finds
	// that none of them counts, has still not seen everything.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn Severity `json:"failOn,omitempty"`

	StartTime time.Time `json:"startTime"`
	EndTime   time.Time `json:"endTime"`

	// ManifestDigest is "sha256:" and 64 hex digits over the canonical manifest
	// (RFC 8785); empty when the manifest could not be listed whole.
	ManifestDigest string `json:"manifestDigest,omitempty"`

	// Behavior describes what the server did, in a form that can be compared.
	Behavior Behavior `json:"behavior,omitzero"`
	// RulesetDigest is "sha256:" and 64 hex digits over the rules that judged.
	RulesetDigest string `json:"rulesetDigest,omitempty"`
	// Risk is made of the findings.
	Risk Risk `json:"risk,omitzero"`

	Runner  Component `json:"runner"`
	Tracer  Component `json:"tracer"`
	Network Network   `json:"network"`
	// Probe is how the server was exercised: what repeats the run.
	Probe Probe `json:"probe"`

	Findings []Finding `json:"findings"`
	// DeclaredScope lists what the operator allowed; nil where nothing was said.
	DeclaredScope *DeclaredScope `json:"declaredScope,omitempty"`
	// Scope is how the declaration was understood, the highest authority first.
	Scope []ScopeClause `json:"scope,omitempty"`
	// Baseline is how this audit differs from the one of its baseline; nil where
	// there was none, or nothing differs.
	Baseline *BaselineDrift `json:"baseline,omitempty"`
	Profile  Profile        `json:"profile"`
	// Privileges lists what it needed of the machine; nil where nothing was traced.
	Privileges *Privileges `json:"privileges,omitempty"`
	// CodePaths are the directories and files from which programs were started and code was
	// loaded, or looked for: see package codepath. Absent where not all of them are known.
	CodePaths []string `json:"codePaths,omitempty"`
	Manifest  Manifest `json:"manifest"`
	Coverage  Coverage `json:"coverage"`
	// Exercise has a row for each capability, in the order of the manifest.
	Exercise []CapabilityCoverage `json:"exercise,omitempty"`

	// Drifts are how the manifest differed within the audit, at most one for each
	// Moment; what differs from an earlier audit is a finding of its own.
	Drifts []ManifestDrift `json:"drifts,omitempty"`
	// Outputs quote what the server said in answer, the first of each kind.
	Outputs []Output `json:"outputs,omitempty"`
	// Captures quote what the sinkhole received, the first of each kind.
	Captures []Capture `json:"captures,omitempty"`
	// Unobserved says plainly what the audit could not see into.
	Unobserved []Gap `json:"unobserved,omitempty"`
	// Noise counts what was left out of the profile, by the reason.
	Noise []Noise `json:"noise,omitempty"`

	// Truncated names what the caps cut off. A truncated report is never a Pass.
	Truncated []Truncation `json:"truncated,omitempty"`
	// Errors are problems of the audit itself, each in one line.
	Errors []string `json:"errors"`
}

// Server says what was audited.
type Server struct {
	// Name and Version are what the server calls itself (serverInfo).
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// ProtocolVersion is the MCP revision that was spoken, such as "2025-11-25".
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	// Transport is how the server was talked to.
	Transport Transport `json:"transport,omitempty"`
	// URL is where a server runs that was not started by the audit, and not traced.
	URL string `json:"url,omitempty"`
	// Command is the program and its arguments; none with URL.
	Command []string `json:"command"`
	// Environment names what the audit set besides Command; nil if nothing.
	Environment *Environment `json:"environment,omitempty"`
	// Exit is how the server ended, such as "exit status 1" or "signal: killed".
	Exit string `json:"exit,omitempty"`
	// Stderr is the end of what the server wrote there.
	Stderr string `json:"stderr,omitempty"`
}

// Environment names what an audit set of the environment of a server.
type Environment struct {
	// Names of the variables, sorted.
	Names []string `json:"names,omitempty"`
	// Digest is an HMAC-SHA256 over names and values with the operator's key; empty in a
	// report of the command line, which has none.
	Digest string `json:"digest,omitempty"`
	// WorkingDir is the working directory; empty for that of the image.
	WorkingDir string `json:"workingDir,omitempty"`
}

// Component is a program that took part in the audit.
type Component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Network says what the sandbox did with connections to the outside.
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

// Capture is what one connection, or one datagram, brought to the sinkhole.
type Capture struct {
	// Address and Port are what the server meant to reach.
	Address string `json:"address"`
	Port    int    `json:"port,omitempty"`
	// Host is the name that the address stands for, where one is known.
	Host string `json:"host,omitempty"`
	// Protocol was spoken: "tcp", "udp", "dns", "http", "https", "tls",
	// "smtp", "redis", "postgres", ...
	Protocol string `json:"protocol"`
	// Request says in one line what was asked: "POST /collect HTTP/1.1".
	Request string `json:"request,omitempty"`
	// Bytes is how much the server sent.
	Bytes int64 `json:"bytes"`
	// Excerpt is the beginning of it, secrets shortened.
	Excerpt string `json:"excerpt,omitempty"`
	// Opaque: it was encrypted for somebody else; what was sent is not known.
	Opaque bool `json:"opaque,omitempty"`
	// Capability was being exercised.
	Capability Capability `json:"capability"`
}

// Gap is something that the audit could not see into.
type Gap struct {
	// What it is, a CamelCase word such as "OpaqueTLS".
	What string `json:"what"`
	// Count is how often; always > 0.
	Count int `json:"count"`
	// Detail says it in one sentence, with an example.
	Detail string `json:"detail,omitempty"`
}

// Noise counts the effects that are left out of the profile for one reason:
// what every program of a runtime does by itself.
type Noise struct {
	// Reason is a CamelCase word, such as "Loader" or "Locale".
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Samples are some of them, where they were asked for.
	Samples []string `json:"samples,omitempty"`
}

// Truncation counts what was left out of one list or text.
type Truncation struct {
	// Field is the JSON path, such as "findings" or "manifest.tools".
	Field string `json:"field"`
	// Dropped is how many items (or bytes, for a text) were left out; always > 0.
	Dropped int `json:"dropped"`
}
