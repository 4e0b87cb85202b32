package report

import (
	"fmt"
	"strings"
	"time"
)

// Severity of a finding, in words that the Kubernetes API and the JSON share.
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
	for i, known := range Severities {
		if s == known {
			return len(Severities) - 1 - i
		}
	}
	return -1
}

// AtLeast reports whether s reaches the threshold. Nothing reaches an empty or
// unknown threshold.
func (s Severity) AtLeast(threshold Severity) bool {
	return threshold.Rank() >= 0 && s.Rank() >= threshold.Rank()
}

// Finding is one observation that the declaration of the server does not
// cover. It states what was seen, never what was meant by it.
type Finding struct {
	// Rule is the id of the rule, such as "MCPA-EGRESS-001".
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Title is the observation in a few words, the same for every server.
	Title string `json:"title"`
	// Message is the observation in one sentence that names the path, the
	// address or the program.
	Message string `json:"message"`
	// Phase is where in the session it was first seen.
	Phase Phase `json:"phase"`
	// Capability was being exercised.
	Capability Capability `json:"capability"`
	// ExceedsScope: the operator's declared scope has a list of this kind, and it is
	// not in it.
	ExceedsScope bool `json:"exceedsScope,omitempty"`
	// Mitigation names the control that takes the risk away.
	Mitigation string `json:"mitigation,omitempty"`
	// Suppressed says that it is known and accepted, or was.
	Suppressed *Suppressed `json:"suppressed,omitempty"`
	// Evidence has at least one entry.
	Evidence []Evidence `json:"evidence"`
}

// Evidence is one observed system call, or one answer of the server.
type Evidence struct {
	// Time is when the call was entered.
	Time time.Time `json:"time"`
	// PID as the tracer sees it; 0 for what no process did (a manifest).
	PID int `json:"pid,omitempty"`
	// Syscall is the name of man 2, such as "openat"; empty for a manifest.
	Syscall string `json:"syscall,omitempty"`
	// Detail is the call with its arguments and result, or the text in question.
	Detail string `json:"detail"`
	// Attribution says how the call was matched with the capability.
	Attribution Attribution `json:"attribution,omitempty"`
}

// Phase is a part of the session with the server.
type Phase string

// The phases, in their order.
const (
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
type CapabilityKind string

// The kinds. CapabilityServer stands for the server as a whole: what it does
// at start-up, idle, or in answer to a list request.
const (
	CapabilityServer           CapabilityKind = "Server"
	CapabilityTool             CapabilityKind = "Tool"
	CapabilityResource         CapabilityKind = "Resource"
	CapabilityResourceTemplate CapabilityKind = "ResourceTemplate"
	CapabilityPrompt           CapabilityKind = "Prompt"
)

// Capability names one advertised thing. Name is the tool's or prompt's name,
// the resource's URI, or the template's URI template; empty for the server.
type Capability struct {
	Kind CapabilityKind `json:"kind"`
	Name string         `json:"name,omitempty"`
}

// String is the form that people read: "tool format_note", "server".
func (c Capability) String() string {
	kind := map[CapabilityKind]string{
		CapabilityServer: "server", CapabilityTool: "tool", CapabilityResource: "resource",
		CapabilityResourceTemplate: "resource template", CapabilityPrompt: "prompt",
	}[c.Kind]
	if kind == "" {
		kind = string(c.Kind)
	}
	return strings.TrimSpace(kind + " " + c.Name)
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

// Total is the number of all findings.
func (c Counts) Total() int { return c.Critical + c.High + c.Medium + c.Low + c.Info }

// AtOrAbove is the number of findings that reach the threshold.
func (c Counts) AtOrAbove(threshold Severity) int {
	n := 0
	for i, of := range []int{c.Critical, c.High, c.Medium, c.Low, c.Info} {
		if Severities[i].AtLeast(threshold) {
			n += of
		}
	}
	return n
}

// String lists what is there: "2 High, 1 Low (1 suppressed)"; "none" when nothing is.
func (c Counts) String() string {
	var parts []string
	for i, of := range []int{c.Critical, c.High, c.Medium, c.Low, c.Info} {
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
