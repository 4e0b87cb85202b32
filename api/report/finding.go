package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity of a finding, in words that the Kubernetes API and the JSON share.
// +kubebuilder:validation:MaxLength=64
type Severity string

// The severities, from the highest.
const (
	SeverityCritical Severity = "Critical"
	SeverityHigh     Severity = "High"
	SeverityMedium   Severity = "Medium"
	SeverityLow      Severity = "Low"
	SeverityInfo     Severity = "Info"
)

// Severities lists all severities from the highest to the lowest.
var Severities = []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow, SeverityInfo}

// Rank orders severities: 4 for Critical down to 0 for Info, -1 for an unknown word.
func (s Severity) Rank() int {
	i := slices.Index(Severities, s)
	if i < 0 {
		return -1
	}
	return len(Severities) - 1 - i
}

// AtLeast reports whether s reaches the threshold. Nothing reaches an empty or
// unknown threshold.
func (s Severity) AtLeast(threshold Severity) bool {
	return threshold.Rank() >= 0 && s.Rank() >= threshold.Rank()
}

// Finding is one observation that the declaration of the server does not cover. It states
// what was observed, not the intent behind it.
type Finding struct {
	// rule is the id of the rule, such as MCPA-EGRESS-001.
	// +kubebuilder:validation:MaxLength=256
	Rule string `json:"rule"`
	// severity is Critical, High, Medium, Low or Info.
	Severity Severity `json:"severity"`
	// title is the observation in a few words, the same for every server.
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title" cap:"256"`
	// message is the observation in one sentence, with the path, the address or the program.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message" cap:"1024" redact:"secrets"`
	// phase of the session in which it was first observed.
	Phase Phase `json:"phase"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
	// exceedsScope: the declared scope has a list of this kind, without this.
	// +optional
	ExceedsScope bool `json:"exceedsScope,omitempty"`
	// mitigation names a control that removes the risk.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Mitigation string `json:"mitigation,omitempty" cap:"512" redact:"secrets"`
	// suppressed has the suppression of the finding; absent if it has none.
	// +optional
	Suppressed *Suppressed `json:"suppressed,omitempty"`
	// evidence has 1 to 4 observations.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Evidence []Evidence `json:"evidence" cap:"4"`
}

// Evidence is one observation: a system call, or an answer of the server.
type Evidence struct {
	// time is the time at which the call was entered.
	Time Time `json:"time"`
	// pid as the tracer sees it; 0 if no process is involved, as for a manifest.
	// +optional
	// +kubebuilder:validation:Format=int32
	PID int `json:"pid,omitempty"`
	// syscall by its name in section 2 of the manual, such as "openat"; empty if there was none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Syscall string `json:"syscall,omitempty" cap:"256"`
	// detail is the call with its arguments and result, or the text in question.
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail" cap:"512" redact:"secrets"`
	// attribution says how the observation was matched with the capability.
	// +optional
	Attribution Attribution `json:"attribution,omitempty"`
}

// Phase is a part of the session with the server.
// +kubebuilder:validation:MaxLength=64
type Phase string

// The phases, in their order.
const (
	// PhaseInstall is while an install script of a package runs, before the server is started.
	PhaseInstall Phase = "Install"
	// PhaseStartup lasts from the server's own execve to its first read of a request.
	PhaseStartup Phase = "Startup"
	// PhaseHandshake is initialize or server/discover.
	PhaseHandshake Phase = "Handshake"
	// PhaseList is listing tools, resources, templates and prompts.
	PhaseList Phase = "List"
	// PhaseCall is one call of a tool, resource, template or prompt.
	PhaseCall Phase = "Call"
	// PhaseIdle is after the last answer, with stdin still open.
	PhaseIdle Phase = "Idle"
	// PhaseShutdown is after stdin was closed.
	PhaseShutdown Phase = "Shutdown"
)

// Attribution says by which rule an effect was matched with a call.
// +kubebuilder:validation:MaxLength=64
type Attribution string

// The attributions.
const (
	// AttributionInFlight: after the server had read the request and before it
	// had written the whole response, by the trace's own order.
	AttributionInFlight Attribution = "InFlight"
	// AttributionSettle: after the response, while the audit waited for further effects.
	AttributionSettle Attribution = "Settle"
	// AttributionAfter: later than that, and before the next request was read.
	AttributionAfter Attribution = "AfterResponse"
	// AttributionLineage: later, by a process that was started during the call, or by its
	// descendant.
	AttributionLineage Attribution = "Lineage"
	// AttributionOverlap: while the call was in flight, but by a thread of an earlier call, or
	// after an earlier call that left the server busy or was never answered. Runtimes reuse
	// threads, so either call may be the cause.
	AttributionOverlap Attribution = "Overlap"
	// AttributionBackground: after the last response, by a process of no known call.
	AttributionBackground Attribution = "Background"
	// AttributionPhase: in a phase without a call.
	AttributionPhase Attribution = "Phase"
)

// CapabilityKind is a kind of thing that an MCP server advertises.
// +kubebuilder:validation:MaxLength=64
type CapabilityKind string

// The kinds. CapabilityServer is the server as a whole: what it does at start-up, while idle,
// or for a list request.
const (
	CapabilityServer           CapabilityKind = "Server"
	CapabilityTool             CapabilityKind = "Tool"
	CapabilityResource         CapabilityKind = "Resource"
	CapabilityResourceTemplate CapabilityKind = "ResourceTemplate"
	CapabilityPrompt           CapabilityKind = "Prompt"
	// CapabilityPackage is an install script, which no server advertises.
	CapabilityPackage CapabilityKind = "Package"
)

// Capability names one advertised thing. Name is the tool's or prompt's name,
// the resource's URI, or the template's URI template; empty for the server.
type Capability struct {
	// kind is Server, Tool, Resource, ResourceTemplate, Prompt or Package.
	Kind CapabilityKind `json:"kind"`
	// name of the tool or prompt, URI of the resource, URI template of the template, or the
	// install script ("NAME@VERSION (postinstall)"); empty for the server.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty" cap:"256"`
}

// String returns a form such as "tool format_note" or "server".
func (c Capability) String() string {
	kind := map[CapabilityKind]string{
		CapabilityServer: "server", CapabilityTool: "tool", CapabilityResource: "resource",
		CapabilityResourceTemplate: "resource template", CapabilityPrompt: "prompt", CapabilityPackage: "package",
	}[c.Kind]
	return strings.TrimSpace(cmp.Or(kind, string(c.Kind)) + " " + c.Name)
}

// Counts is the number of findings of each severity, suppressed or not.
type Counts struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
	Info     int `json:"info"`
	// Suppressed counts those that are suppressed at present.
	Suppressed int `json:"suppressed,omitempty"`
}

// Count counts findings. An unknown severity counts as Critical, so that an older manager
// does not understate the report of a newer runner.
func Count(findings []Finding) Counts {
	var c Counts
	for _, f := range findings {
		if f.held() {
			c.Suppressed++
		}
		switch f.Severity {
		case SeverityHigh:
			c.High++
		case SeverityMedium:
			c.Medium++
		case SeverityLow:
			c.Low++
		case SeverityInfo:
			c.Info++
		default:
			c.Critical++
		}
	}
	return c
}

// bySeverity returns the numbers in the order of Severities.
func (c Counts) bySeverity() []int { return []int{c.Critical, c.High, c.Medium, c.Low, c.Info} }

// Total is the number of all findings.
func (c Counts) Total() int { return c.AtOrAbove(SeverityInfo) }

// AtOrAbove is the number of findings that reach the threshold.
func (c Counts) AtOrAbove(threshold Severity) int {
	n := 0
	for i, of := range c.bySeverity() {
		if Severities[i].AtLeast(threshold) {
			n += of
		}
	}
	return n
}

// String returns a form such as "2 High, 1 Low (1 suppressed)", or "none".
func (c Counts) String() string {
	var parts []string
	for i, of := range c.bySeverity() {
		if of > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of, Severities[i]))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	text := strings.Join(parts, ", ")
	if c.Suppressed > 0 {
		text += fmt.Sprintf(" (%d suppressed)", c.Suppressed)
	}
	return text
}
