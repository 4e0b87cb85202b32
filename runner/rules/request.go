package rules

import (
	"cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// findChangedRequests finds values that changed more of a request than their own part, of the attempts on guards.
func findChangedRequests(in Input) (all []draft) {
	for _, a := range in.Attack.Attempts {
		q, changed := in.Attack.changes(a)
		if !changed {
			continue
		}
		severity, sent := report.SeverityMedium, cmp.Or(q.Target, q.Member)
		if q.Line != "" {
			severity, sent = report.SeverityHigh, q.Line
		}
		all = append(all, draft{
			severity: severity, phase: report.PhaseCall, capability: a.Of, object: a.Field,
			message: sentence("%s sent a request of which its argument %s changed more than its own part, %s: %s became %s", capital(name(a.Of)),
				quoted(a.Field), a.Form, quoted(clean(a.Value, 120)), quoted(clean(sent, 160))),
			evidence: evidenceAt(q.Time, "request: "+clean(sent, 400)),
		})
	}
	return all
}

// changes returns the request that an attempt has changed.
func (a Attack) changes(try attack.Attempt) (attack.Asking, bool) {
	if try.Family != attack.Request || try.Control {
		return attack.Asking{}, false
	}
	for _, q := range a.asking(try) {
		if q.Line != "" || q.Changes(mark(try), nil, "") {
			return q, true
		}
		for _, control := range a.controls(try) {
			if q.Changes(mark(try), a.asking(control), mark(control)) {
				return q, true
			}
		}
	}
	return attack.Asking{}, false
}

// asking returns the requests with the mark of an attempt.
func (a Attack) asking(try attack.Attempt) []attack.Asking { return a.sighted.requests[mark(try)] }
