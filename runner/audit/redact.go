package audit

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/canary"
)

// secretsOf shortens the decoys of a run: they are worth nothing, but those who
// search reports for secrets need not know.
func secretsOf(set canary.Set) (without func(string) string) { return canary.NewMatcher(set).Redact }

// redact hides secrets wherever the report quotes the server.
func redact(r *report.Report, without func(string) string) {
	hide := func(s *string) { *s = without(*s) }
	for _, s := range []*string{&r.Server.Name, &r.Server.Version, &r.Server.Stderr, &r.Message, &r.Manifest.Instructions} {
		hide(s)
	}
	for _, items := range [][]report.Item{r.Manifest.Tools, r.Manifest.Resources, r.Manifest.ResourceTemplates, r.Manifest.Prompts} {
		for i := range items {
			hide(&items[i].Title)
			hide(&items[i].Description)
			hide(&items[i].Definition)
		}
	}
	for i := range r.Errors {
		hide(&r.Errors[i])
	}
	for i := range r.Findings {
		hide(&r.Findings[i].Message)
		hide(&r.Findings[i].Mitigation)
		for j := range r.Findings[i].Evidence {
			hide(&r.Findings[i].Evidence[j].Detail)
		}
	}
	for i := range r.Scope {
		hide(&r.Scope[i].Quote)
	}
	for i := range r.Drifts {
		redactDrift(&r.Drifts[i].Drift, hide)
	}
	if r.Baseline != nil {
		redactDrift(&r.Baseline.Manifest, hide)
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

func redactDrift(d *report.Drift, hide func(*string)) {
	for i := range d.Changes {
		hide(&d.Changes[i].Before)
		hide(&d.Changes[i].After)
	}
}
