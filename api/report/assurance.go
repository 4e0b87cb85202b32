package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AssuranceLevel says how much of a server an audit has exercised.
// +kubebuilder:validation:MaxLength=64
type AssuranceLevel string

// The levels.
const (
	// AssuranceFull: every capability accepted a call, every branch of the input schemas was
	// taken, and nothing was left unobserved.
	AssuranceFull AssuranceLevel = "Full"
	// AssurancePartial: at least half of the tools accepted a call.
	AssurancePartial AssuranceLevel = "Partial"
	// AssuranceWeak: fewer did.
	AssuranceWeak AssuranceLevel = "Weak"
)

// AssuranceLevels lists all levels, the highest first.
var AssuranceLevels = []AssuranceLevel{AssuranceFull, AssurancePartial, AssuranceWeak}

// AtLeast reports whether l is at or above the minimum. An empty or unknown level is below
// all others.
func (l AssuranceLevel) AtLeast(minimum AssuranceLevel) bool {
	is, least := slices.Index(AssuranceLevels, l), slices.Index(AssuranceLevels, minimum)
	return is >= 0 && is <= least
}

// Assurance says how much of the server a verdict rests on.
type Assurance struct {
	// level is Full, Partial (at least half of the tools accepted a call) or Weak. If a server
	// has no tools, its resources and prompts count instead.
	Level AssuranceLevel `json:"level"`
	// tools that accepted a call, of those listed, such as "10/23"; empty if nothing could be
	// listed.
	// +kubebuilder:validation:MaxLength=32
	Tools string `json:"tools" cap:"32"`
	// because says what is missing for Full, one sentence each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=512
	Because []string `json:"because,omitempty" cap:"8x512" redact:"secrets"`
}

// AssuranceOf returns the assurance of a report, from its coverage, its gaps and the reason
// why it is incomplete, if it is.
func AssuranceOf(r Report) Assurance {
	c := r.Coverage
	a := Assurance{Level: AssuranceFull, Tools: fmt.Sprintf("%d/%d", c.Tools.Accepted, c.Tools.Listed)}
	if c.Nothing() {
		a.Because = []string{"the server advertises nothing to exercise"}
		if r.ManifestDigest == "" {
			a.Level, a.Tools, a.Because = AssuranceWeak, "", []string{"what the server advertises could not be listed"}
		}
		return a
	}
	a.Because = shortfalls(r)
	switch measured := c.Measured(); {
	case r.ManifestDigest == "", 2*measured.Accepted < measured.Listed:
		a.Level = AssuranceWeak
	case len(a.Because) > 0:
		a.Level = AssurancePartial
	}
	return a
}

// shortfalls lists what an audit did not observe, most important first.
func shortfalls(r Report) []string {
	var all []string
	if r.ManifestDigest == "" {
		all = append(all, "not everything that the server advertises could be listed")
	}
	for _, kind := range []struct {
		of   CapabilityKind
		noun string
		Exercised
	}{
		{CapabilityTool, "tool", r.Coverage.Tools}, {CapabilityResource, "resource", r.Coverage.Resources},
		{CapabilityResourceTemplate, "resource template", r.Coverage.ResourceTemplates}, {CapabilityPrompt, "prompt", r.Coverage.Prompts},
	} {
		if n := kind.Listed - kind.Accepted; n > 0 {
			text := fmt.Sprintf("%d of %s never accepted a call", n, plural(kind.Listed, kind.noun))
			if names := unaccepted(r.Exercise, kind.of); len(names) == n {
				text += ": " + few(names)
			}
			all = append(all, text)
		}
	}
	if r.Incomplete != nil && r.Incomplete.Reason != ReasonWeaklyExercised {
		all = append(all, fmt.Sprintf("the audit could not observe everything (%s): %s", r.Incomplete.Reason, Cut(r.Incomplete.Message, 240)))
	}
	if b := r.Coverage.Branches; b.Done < b.Total {
		all = append(all, fmt.Sprintf("%d of %d branches of the tools' input schemas were not taken", b.Total-b.Done, b.Total))
	}
	const most = 2
	for _, gap := range r.Unobserved[:min(len(r.Unobserved), most)] {
		all = append(all, "not observed: "+cmp.Or(gap.Detail, gap.What))
	}
	if more := len(r.Unobserved) - most; more > 0 {
		all = append(all, fmt.Sprintf("%s more, see unobserved", plural(more, "gap")))
	}
	return all
}

// unaccepted returns the names of the capabilities of a kind that never accepted a call.
func unaccepted(rows []CapabilityCoverage, kind CapabilityKind) (names []string) {
	for _, row := range rows {
		if row.Kind == kind && row.Calls.Done == 0 {
			names = append(names, row.Name)
		}
	}
	return names
}

// Basis says what a verdict rests on: "10 of 23 tools".
func (a Assurance) Basis() string {
	accepted, listed, _ := strings.Cut(a.Tools, "/")
	switch listed {
	case "":
		return "a server that listed nothing"
	case "0":
		return "a server without tools"
	}
	return accepted + " of " + listed + " tools"
}

// below returns the Incomplete of an assurance below the minimum; zero if it is not below.
func (a Assurance) below(minimum AssuranceLevel) Incomplete {
	if a.Level.AtLeast(minimum) {
		return Incomplete{}
	}
	message := fmt.Sprintf("the audit rests on %s, which is %s, and %s is required", a.Basis(), a.Level, minimum)
	if len(a.Because) > 0 {
		message += ": " + Cut(a.Because[0], 512)
	}
	return Incomplete{Reason: ReasonWeaklyExercised, Message: message}
}
