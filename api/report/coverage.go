package report

// Coverage says how much of what the server advertises was exercised.
type Coverage struct {
	Tools             Exercised `json:"tools"`
	Resources         Exercised `json:"resources"`
	ResourceTemplates Exercised `json:"resourceTemplates"`
	Prompts           Exercised `json:"prompts"`
	// Completions are arguments of prompts and templates for which a server with
	// the completions capability was asked for values, Subscriptions resources that
	// were subscribed to.
	Completions   Exercised `json:"completions"`
	Subscriptions Exercised `json:"subscriptions"`

	// Calls are all requests that exercised something.
	Calls Share `json:"calls"`
	// Branches are the alternatives that the input schemas of the tools offer (an
	// optional property given or not, a member of an enum, a branch of anyOf, ...):
	// Done counts those that an answered call took.
	Branches Share `json:"branches"`
}

// Nothing reports whether the server advertises nothing that could be exercised.
func (c Coverage) Nothing() bool {
	return c.Tools.Listed+c.Resources.Listed+c.ResourceTemplates.Listed+c.Prompts.Listed == 0
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

// Share is how many of a total.
type Share struct {
	Total int `json:"total"`
	Done  int `json:"done"`
}

// Percent is the share rounded down, 0 to 100; 100 where there is nothing to do.
func (s Share) Percent() int {
	if s.Total <= 0 {
		return 100
	}
	return 100 * s.Done / s.Total
}

// CapabilityCoverage is how far one capability was exercised.
type CapabilityCoverage struct {
	Kind CapabilityKind `json:"kind"`
	Name string         `json:"name"`
	// Calls: Total were sent, Done were accepted.
	Calls Share `json:"calls"`
	// Branches of its input schema.
	Branches Share `json:"branches"`
	// Skipped is why it was not called, or not as often as it should have been: one
	// of the Skipped constants; empty when it was.
	Skipped string `json:"skipped,omitempty"`
}

// Why a capability was not exercised as it should have been. One that was never
// called makes the audit Inconclusive, whoever asked for that; one that was called
// less often than it could have been does not.
const (
	// SkippedByCalls: probe.calls does not allow it.
	SkippedByCalls = "Calls"
	// SkippedByName: it is one of probe.skipTools.
	SkippedByName = "SkipTools"
	// SkippedBudget: the time of the audit was used up.
	SkippedBudget = "Budget"
	// SkippedTimeout: a call of it was not answered in time, and cancelled.
	SkippedTimeout = "Timeout"
	// SkippedTask: it can only be called as a task, which the probe does not do.
	SkippedTask = "Task"
)
