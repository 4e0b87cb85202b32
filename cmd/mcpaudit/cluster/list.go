package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func (s *session) listCommand() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use: "list", Short: "List the audits and their verdicts", Args: cli.Args(0, 0),
		Long:    "List the audits and their verdicts. FINDINGS counts by severity: 1C 2H 3M 4L 5I, from Critical to Info.",
		Example: s.examples("list", "list -A -o wide", "list -l team=search -o name"),
		RunE:    s.connected(func(ctx context.Context, a *api, _ []string) error { return l.run(ctx, s, a) }),
	}
	c.Flags().BoolVarP(&l.all, "all-namespaces", "A", false, "list the audits of all namespaces")
	c.Flags().StringVarP(&l.selector, "selector", "l", "", "list only audits with these labels, as in kubectl get -l")
	cli.Output(c, &l.output, "table", "wide", "json", "yaml", "name")
	return c
}

type listing struct {
	all              bool
	selector, output string
}

func (l *listing) run(ctx context.Context, s *session, a *api) error {
	namespace := a.namespace
	if l.all {
		namespace = ""
	}
	if l.output == "json" || l.output == "yaml" {
		return l.objects(ctx, s, a, namespace)
	}
	return l.rows(ctx, s, a, namespace)
}

// objects prints the audits as a List, as kubectl does.
func (l *listing) objects(ctx context.Context, s *session, a *api, namespace string) error {
	items := []any{}
	err := a.each(ctx, namespace, l.selector, func(raw json.RawMessage) error {
		var object map[string]any
		if err := utiljson.Unmarshal(raw, &object); err != nil {
			return fmt.Errorf("read audit: %w", err)
		}
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
		}
		items = append(items, object)
		return nil
	})
	if err != nil {
		return err
	}
	return s.encode(l.output, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// rows prints the audits as a table, or their names.
func (l *listing) rows(ctx context.Context, s *session, a *api, namespace string) error {
	rows := [][]cell{l.heads()}
	names := ""
	err := a.each(ctx, namespace, l.selector, func(raw json.RawMessage) error {
		var audit v1alpha1.MCPServerAudit
		if err := json.Unmarshal(raw, &audit); err != nil {
			return fmt.Errorf("read audit: %w", err)
		}
		rows = append(rows, l.row(s, &audit))
		names += render.Escape("mcpserveraudit.mcpaudit.dev/"+audit.Name) + "\n"
		return nil
	})
	switch {
	case err != nil:
		return err
	case l.output == "name":
		_, err := fmt.Fprint(s.stdout(), names)
		return err
	case len(rows) > 1:
		return table(s.stdout(), "", rows)
	case namespace == "":
		s.note("No MCPServerAudits found in this cluster. %s run --image IMAGE creates one.", s.name)
	default:
		s.note("No MCPServerAudits found in namespace %s. %s list -A lists all namespaces.", namespace, s.name)
	}
	return nil
}

// heads returns the column names: those of the CRD's printer columns where they match.
func (l *listing) heads() []cell {
	heads := plain("NAME", "VERDICT", "REASON", "RISK", "FINDINGS", "TOOLS", "AUDITED", "NEXT")
	if l.all {
		heads = append(plain("NAMESPACE"), heads...)
	}
	if l.output == "wide" {
		heads = append(heads, plain("ASSURANCE", "EXPOSURE", "CALLED", "DRIFT", "TRIGGER", "IMAGE", "URL")...)
	}
	return heads
}

func (l *listing) row(s *session, a *v1alpha1.MCPServerAudit) []cell {
	now := s.now()
	row := []cell{
		{text: a.Name},
		{text: verdict(a), paint: func(padded string) string {
			return render.Verdict(a.Status.Verdict, padded, s.colour())
		}},
		{text: reason(a)}, {text: risk(a)}, {text: letters(a.Status.Findings)},
		{text: assurance(a).Tools}, {text: ago(a.Status.LastAuditTime, now)}, {text: next(a, now)},
	}
	if l.all {
		row = append(plain(a.Namespace), row...)
	}
	if l.output == "wide" {
		row = append(row, plain(string(assurance(a).Level), exposed(a), called(a), drifted(a.Status.Drift), trigger(a), cmp.Or(pinned(a), a.Spec.Server.Image), a.Spec.Server.URL)...)
	}
	return row
}

// assurance returns the one of the last audit; zero if there is none.
func assurance(a *v1alpha1.MCPServerAudit) report.Assurance {
	return ptr.Deref(a.Status.Assurance, report.Assurance{})
}

// exposed returns the level of the exposure: "High".
func exposed(a *v1alpha1.MCPServerAudit) string {
	if a.Status.Exposure == nil {
		return ""
	}
	return string(a.Status.Exposure.Level)
}

// called returns how many of the advertised tools were called: "3/4".
func called(a *v1alpha1.MCPServerAudit) string {
	if a.Status.Coverage == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", a.Status.Coverage.Tools.Called, a.Status.Coverage.Tools.Listed)
}

// drifted counts what differs from the baseline: "+1 -0 ~2".
func drifted(d *v1alpha1.DriftSummary) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("+%d -%d ~%d", len(d.Added), len(d.Removed), len(d.Changed)+len(d.Renamed))
}

func trigger(a *v1alpha1.MCPServerAudit) string {
	if a.Status.Trigger == nil {
		return ""
	}
	return string(a.Status.Trigger.Reason)
}
