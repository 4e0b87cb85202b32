package audit

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/canary"
)

// redact shortens the secrets of the run wherever the report quotes the server:
// they are worth nothing, but those who search reports for secrets need not know.
func redact(r *report.Report, set canary.Set) {
	secrets := canary.NewMatcher(set)
	hide := func(s *string) { *s = secrets.Redact(*s) }
	hide(&r.Server.Stderr)
	hide(&r.Message)
	for i := range r.Errors {
		hide(&r.Errors[i])
	}
	for i := range r.Findings {
		hide(&r.Findings[i].Message)
		for j := range r.Findings[i].Evidence {
			hide(&r.Findings[i].Evidence[j].Detail)
		}
	}
	for i := range r.Outputs {
		o := &r.Outputs[i]
		hide(&o.Text)
		hide(&o.Arguments)
		for j := range o.Origins {
			hide(&o.Origins[j])
		}
	}
	for _, c := range r.Profile.Capabilities {
		for _, e := range c.Execs {
			for i := range e.Argv {
				hide(&e.Argv[i])
			}
		}
		for i := range c.Connects {
			hide(&c.Connects[i].Host)
		}
	}
}
