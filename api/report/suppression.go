package report

import "time"

// Suppression says that a finding is known and accepted for a time. The finding
// stays in the report and in the counts; it only does not fail the audit.
type Suppression struct {
	// Rule is the id of the rule, such as "MCPA-EGRESS-001".
	Rule string `json:"rule"`
	// Match is a text that the finding's message, capability or evidence must
	// contain; "*" matches every finding of the rule.
	Match string `json:"match"`
	// Reason is for whoever reads the report.
	Reason string `json:"reason"`
	// Until is when it ends. From then on the finding counts again.
	Until time.Time `json:"until"`
}

// Suppressed says by what a finding is suppressed, or was.
type Suppressed struct {
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"`
	// Expired: it is suppressed no more.
	Expired bool `json:"expired,omitempty"`
}
