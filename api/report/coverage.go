package report

// Coverage says how much of what the server advertises was exercised.
type Coverage struct {
	// tools that were exercised.
	Tools Exercised `json:"tools"`
	// resources that were exercised.
	Resources Exercised `json:"resources"`
	// resourceTemplates that were exercised.
	ResourceTemplates Exercised `json:"resourceTemplates"`
	// prompts that were exercised.
	Prompts Exercised `json:"prompts"`
	// completions counts arguments of prompts and templates for which the server was asked for
	// values, if it has the completions capability.
	// +optional
	Completions Exercised `json:"completions"`
	// subscriptions counts resources that were subscribed to.
	// +optional
	Subscriptions Exercised `json:"subscriptions"`
	// calls that were sent, and accepted.
	// +optional
	Calls Share `json:"calls"`
	// branches counts the alternatives in the input schemas of the tools (an optional property
	// given or not, a member of an enum, a branch of anyOf, ...), and those that an answered
	// call took.
	// +optional
	Branches Share `json:"branches"`
}

// Nothing reports whether the server advertises nothing that could be exercised.
func (c Coverage) Nothing() bool { return c.Measured().Listed == 0 }

// Measured returns the counts that assurance rests on: those of the tools, or without
// tools those of resources, resource templates and prompts together.
func (c Coverage) Measured() (sum Exercised) {
	if c.Tools.Listed > 0 {
		return c.Tools
	}
	for _, kind := range []Exercised{c.Resources, c.ResourceTemplates, c.Prompts} {
		sum.Listed, sum.Called, sum.Accepted = sum.Listed+kind.Listed, sum.Called+kind.Called, sum.Accepted+kind.Accepted
	}
	return sum
}

// Exercised counts the capabilities of one kind. Listed >= Called >= Accepted.
type Exercised struct {
	// listed counts the capabilities that the server advertises.
	// +kubebuilder:validation:Format=int32
	Listed int `json:"listed"`
	// called counts those that were called and answered, with a result or an error.
	// +kubebuilder:validation:Format=int32
	Called int `json:"called"`
	// accepted counts those that answered with a result that is not an error.
	// +kubebuilder:validation:Format=int32
	Accepted int `json:"accepted"`
}

// Share counts part of a total.
type Share struct {
	// total number.
	// +kubebuilder:validation:Format=int32
	Total int `json:"total"`
	// done is the part of total that was done.
	// +kubebuilder:validation:Format=int32
	Done int `json:"done"`
}

// Percent returns the share rounded down, 0 to 100; 100 if there is nothing to do.
func (s Share) Percent() int {
	if s.Total <= 0 {
		return 100
	}
	return 100 * s.Done / s.Total
}

// CapabilityCoverage says how far one capability was exercised.
type CapabilityCoverage struct {
	// kind is Tool, Resource, ResourceTemplate or Prompt.
	Kind CapabilityKind `json:"kind"`
	// name of the capability.
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name" cap:"256"`
	// calls that were sent, and accepted.
	Calls Share `json:"calls"`
	// branches of its input schema, and those that were taken.
	Branches Share `json:"branches"`
	// skipped is the reason why it was not called, or less often than planned: Calls, SkipTools, Budget,
	// Timeout, TooLong, Unanswered or Task; empty if it was called as planned.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Skipped string `json:"skipped,omitempty"`
}

// Why a capability was not exercised as planned. One that was never called makes the audit
// Inconclusive, even if the spec asked for that; one that was called less often does not.
const (
	// SkippedByCalls: probe.calls excludes it.
	SkippedByCalls = "Calls"
	// SkippedByName: it is one of probe.skipTools.
	SkippedByName = "SkipTools"
	// SkippedBudget: the audit ran out of time.
	SkippedBudget = "Budget"
	// SkippedTimeout: a call was not answered in time, and was cancelled.
	SkippedTimeout = "Timeout"
	// SkippedTooLong: an answer was longer than the probe reads.
	SkippedTooLong = "TooLong"
	// SkippedUnanswered: a call failed without an answer from the server.
	SkippedUnanswered = "Unanswered"
	// SkippedTask: it can only be called as a task, which the probe does not support.
	SkippedTask = "Task"
)
