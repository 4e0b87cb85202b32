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
	for _, s := range []*string{&r.Server.Name, &r.Server.Version, &r.Server.Stderr, &r.Message} {
		hide(s)
	}
	redactManifest(&r.Manifest, hide)
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
	redactDrifts(r, hide)
	redactPrivileges(r.Privileges, hide)
	for _, path := range r.CodePaths {
		if without(path) != path {
			r.CodePaths = nil // a path that is shortened is another one
			break
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

func redactManifest(m *report.Manifest, hide func(*string)) {
	hide(&m.Instructions)
	hide(&m.Definition)
	for _, items := range [][]report.Item{m.Tools, m.Resources, m.ResourceTemplates, m.Prompts} {
		for i := range items {
			hide(&items[i].Title)
			hide(&items[i].Description)
			hide(&items[i].Definition)
		}
	}
}

// redactDrifts does so with what is told of changes, and with names of hosts.
func redactDrifts(r *report.Report, hide func(*string)) {
	lists, all := [][]string{r.Behavior.Entries}, []report.Drift{}
	for _, d := range r.Drifts {
		all = append(all, d.Drift)
	}
	if r.Baseline != nil {
		all = append(all, r.Baseline.Manifest)
		lists = append(lists, r.Baseline.Behavior.Added, r.Baseline.Behavior.Removed)
	}
	for _, d := range all {
		for i := range d.Changes {
			hide(&d.Changes[i].Before)
			hide(&d.Changes[i].After)
		}
	}
	for _, list := range lists {
		for i := range list {
			hide(&list[i])
		}
	}
}

// redactPrivileges does so with the places that the server has named.
func redactPrivileges(p *report.Privileges, hide func(*string)) {
	if p == nil {
		return
	}
	for i := range p.Writes {
		hide(&p.Writes[i].Path)
	}
	for i := range p.Egress {
		hide(&p.Egress[i].Host)
	}
}
