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
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn Severity `json:"failOn,omitempty"`

	StartTime time.Time `json:"startTime"`
	EndTime   time.Time `json:"endTime"`

	// ManifestDigest is "sha256:" and 64 hex digits over the canonical manifest
	// (RFC 8785); empty when the manifest could not be listed whole.
	ManifestDigest string `json:"manifestDigest,omitempty"`

	Runner  Component `json:"runner"`
	Tracer  Component `json:"tracer"`
	Network Network   `json:"network"`

	Findings []Finding `json:"findings"`
	Profile  Profile   `json:"profile"`
	Manifest Manifest  `json:"manifest"`
	Coverage Coverage  `json:"coverage"`

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
	// Command is the program and its arguments.
	Command []string `json:"command"`
	// Exit is how the server ended, such as "exit status 1" or "signal: killed".
	Exit string `json:"exit,omitempty"`
	// Stderr is the end of what the server wrote there.
	Stderr string `json:"stderr,omitempty"`
}

// Component is a program that took part in the audit.
type Component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Network is what the sandbox did with connections to the outside.
type Network string

// NetworkDeny means that every address leads back into the sandbox, where nothing
// listens; an attempt is refused at once and recorded with its address.
const NetworkDeny Network = "Deny"

// Coverage says how much of what the server advertises was exercised.
type Coverage struct {
	Tools             Exercised `json:"tools"`
	Resources         Exercised `json:"resources"`
	ResourceTemplates Exercised `json:"resourceTemplates"`
	Prompts           Exercised `json:"prompts"`
}

// Exercised counts the capabilities of one kind. Listed >= Called >= Accepted.
type Exercised struct {
	// Listed is how many the server advertises.
	Listed int `json:"listed"`
	// Called is how many were called and answered, with a result or an error.
	Called int `json:"called"`
	// Accepted is how many answered at least one call with a result that is
	// not an error.
	Accepted int `json:"accepted"`
}

// Truncation counts what was left out of one list or text.
type Truncation struct {
	// Field is the JSON path, such as "findings" or "manifest.tools".
	Field string `json:"field"`
	// Dropped is how many items (or bytes, for a text) were left out; always > 0.
	Dropped int `json:"dropped"`
}
