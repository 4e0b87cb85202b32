package exposure

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// declared notes the declarations of capabilities that never accepted a call or were not
// traced. For all others only what was seen counts.
func (b *builder) declared() {
	for _, row := range b.Exercise {
		of := report.Capability{Kind: row.Kind, Name: row.Name}
		if row.Calls.Done > 0 && !b.Untraced {
			continue
		}
		own := b.Scope.Own(of)
		b.says(row, report.ExposesCommandExecution, own.Subprocess)
		b.says(row, report.ExposesNetworkEgress, own.Network)
		b.says(row, report.ExposesFileRead, own.Files)
	}
}

// says notes what clauses declare. They do not say how far it reaches: partially, if there
// is an input that may decide it.
func (b *builder) says(row report.CapabilityCoverage, kind report.ExposureKind, clauses []scope.Clause) {
	k := key{report.Capability{Kind: row.Kind, Name: row.Name}, kind}
	if len(clauses) == 0 || b.items[k] != nil {
		return
	}
	reach := report.ReachFixed
	if row.Branches.Total > 0 || row.Kind == report.CapabilityResourceTemplate {
		reach = report.ReachPartial
	}
	b.items[k] = &item{reach: reach, basis: report.BasisDeclared, evidence: []report.Evidence{{
		Time: report.At(b.End), Detail: clauses[0].Field + ": " + clauses[0].Quote, Attribution: report.AttributionPhase}}}
	b.order = append(b.order, k)
}
