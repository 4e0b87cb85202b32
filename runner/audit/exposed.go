package audit

import (
	"cmp"
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/exposure"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// exposed describes what the server enables; nil if nothing was listed.
func exposed(plan Plan, runs []observation, attacked observation, in rules.Input, rows []report.CapabilityCoverage) *report.Exposure {
	first := exercised(runs)
	seen := exposure.Seen{Input: in, Exercise: rows, Untraced: first.untraced, Attacked: attacked.unwatched().Reason == "" && attacked.overflow().Reason == ""}
	for _, o := range runs {
		seen.Sent = append(seen.Sent, o.sent...)
	}
	for _, variable := range plan.Env {
		if _, value, _ := strings.Cut(variable, "="); path.IsAbs(value) {
			seen.Dirs = append(seen.Dirs, path.Clean(value))
		}
	}
	found := exposure.Of(seen)
	if !first.result.Listed && len(found.Items) == 0 {
		return nil
	}
	return &found
}

// hostOf returns the host that data was sent to, or its address.
func hostOf(c sinkhole.Capture) string { return cmp.Or(c.Host, c.Destination.Addr().String()) }

// sentIn returns the data that the sinkhole received during calls, the beginning of each part.
func sentIn(captures []sinkhole.Capture, l ledger.Ledger, secrets *leak.Collector) (all []exposure.Sent) {
	for _, c := range captures {
		where := secrets.Place(c, l)
		if where.Phase != report.PhaseCall || c.Opaque {
			continue
		}
		host := hostOf(c)
		all = append(all, exposure.Sent{
			Capability: where.Capability, Protocol: c.Protocol, Host: host, Request: c.Request,
			Data: string(c.Data[:min(len(c.Data), exposure.MaxSent)]),
			Evidence: report.Evidence{Time: report.At(c.Time), Attribution: where.Attribution,
				Detail: strings.ToUpper(c.Protocol) + " to " + host + ": " + c.Request},
		})
	}
	return all
}
