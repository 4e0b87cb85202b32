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

// Rank orders severities: 4 for Critical down to 0 for Info, -1 for a word
// that is none.
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

// Finding is one observation that the declaration of the server does not
// cover. It states what was seen, never what was meant by it.
type Finding struct {
	// rule is the id of the rule, such as MCPA-EGRESS-001.
	// +kubebuilder:validation:MaxLength=256
	Rule string `json:"rule"`
	// severity is Critical, High, Medium, Low or Info.
	Severity Severity `json:"severity"`
	// title is the observation in a few words, the same for every server.
	// +kubebuilder:validation:MaxLength=256
	Title string `json:"title" cap:"256"`
	// message is the observation in one sentence that names the path, the
	// address or the program.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message" cap:"1024" redact:"secrets"`
	// phase of the session in which it was first seen.
	Phase Phase `json:"phase"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
	// exceedsScope: the declared scope has a list of this kind, and it is not in it.
	// +optional
	ExceedsScope bool `json:"exceedsScope,omitempty"`
	// mitigation names the control that takes the risk away.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Mitigation string `json:"mitigation,omitempty" cap:"512" redact:"secrets"`
	// suppressed says that the finding is known and accepted, or was.
	// +optional
	Suppressed *Suppressed `json:"suppressed,omitempty"`
	// evidence has at least one entry.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Evidence []Evidence `json:"evidence" cap:"4"`
}

// Evidence is one observed system call, or one answer of the server.
type Evidence struct {
	// time is when the call was entered.
	Time Time `json:"time"`
	// pid as the tracer sees it; 0 for what no process did (a manifest).
	// +optional
	// +kubebuilder:validation:Format=int32
	PID int `json:"pid,omitempty"`
	// syscall is its name in section 2 of the manual, such as "openat"; empty if there
	// was none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Syscall string `json:"syscall,omitempty" cap:"256"`
	// detail is the call with its arguments and result, or the text in question.
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail" cap:"512" redact:"secrets"`
	// attribution says how the call was matched with the capability.
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

// Attribution says by which rule an effect was given to a call.
// +kubebuilder:validation:MaxLength=64
type Attribution string

// The attributions.
const (
	// AttributionInFlight: after the server had read the request and before it
	// had written the whole response, by the trace's own order.
	AttributionInFlight Attribution = "InFlight"
	// AttributionSettle: after the response, while the audit waited for what the
	// server would still do.
	AttributionSettle Attribution = "Settle"
	// AttributionAfter: later than that, and before the next request was read.
	AttributionAfter Attribution = "AfterResponse"
	// AttributionLineage: later, by a process that was started during the call,
	// or by a descendant of one.
	AttributionLineage Attribution = "Lineage"
	// AttributionOverlap: while the call was in flight, but by a thread that an
	// earlier call had started, or when that had left the server restless or had
	// never been answered.
	// Runtimes use threads again: either may be the cause.
	AttributionOverlap Attribution = "Overlap"
	// AttributionBackground: after the last response, by no process of which is
	// known what call started it.
	AttributionBackground Attribution = "Background"
	// AttributionPhase: in a phase without a call.
	AttributionPhase Attribution = "Phase"
)

// CapabilityKind is a kind of thing that an MCP server advertises.
// +kubebuilder:validation:MaxLength=64
type CapabilityKind string

// The kinds. CapabilityServer stands for the server as a whole: what it does
// at start-up, idle, or in answer to a list request.
const (
	CapabilityServer           CapabilityKind = "Server"
	CapabilityTool             CapabilityKind = "Tool"
	CapabilityResource         CapabilityKind = "Resource"
	CapabilityResourceTemplate CapabilityKind = "ResourceTemplate"
	CapabilityPrompt           CapabilityKind = "Prompt"
	// CapabilityPackage is an install script, which is advertised to nobody.
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

// String is the form that people read: "tool format_note", "server".
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
	// Suppressed is how many of them are suppressed at present.
	Suppressed int `json:"suppressed,omitempty"`
}

// Count counts findings. A finding of an unknown severity counts as Critical:
// a newer runner must not become harmless before an older manager.
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

// String lists what is there: "2 High, 1 Low (1 suppressed)"; "none" when nothing is.
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
