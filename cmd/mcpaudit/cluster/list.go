package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

var listCommand = command{
	name: "list", takes: "[-A]", about: "the audits and their verdicts",
	examples: []string{"list", "list -A -o wide", "list -l team=search -o name"},
	setUp: func(f *pflag.FlagSet) action {
		var l listing
		f.BoolVarP(&l.all, "all-namespaces", "A", false, "of all namespaces")
		f.StringVarP(&l.selector, "selector", "l", "", "only those with these labels, as in kubectl get -l")
		f.StringVarP(&l.output, "output", "o", "table", "table, wide, json, yaml or name; FINDINGS reads 1C 2H 3M 4L 5I, from Critical to Info")
		return l.run
	},
}

// listing are the flags of list.
type listing struct {
	all              bool
	selector, output string
}

func (l *listing) run(ctx context.Context, s *session, args []string) (int, error) {
	if err := oneOf(l.output, "table", "wide", "json", "yaml", "name"); err != nil {
		return exitError, err
	}
	if len(args) > 0 {
		return exitError, fmt.Errorf("list takes no name: %s show %s is about one audit", s.Name, args[0])
	}
	a, err := s.connection.open(s)
	if err != nil {
		return exitError, err
	}
	namespace := a.namespace
	if l.all {
		namespace = ""
	}
	var write func() error
	switch l.output {
	case "json", "yaml":
		write, err = l.objects(ctx, s, a, namespace)
	default:
		write, err = l.rows(ctx, s, a, namespace)
	}
	if err != nil {
		return exitError, err
	}
	err = write()
	return status(err), err
}

// objects are the audits as they are, in a list as kubectl's.
func (l *listing) objects(ctx context.Context, s *session, a *api, namespace string) (func() error, error) {
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
	return func() error {
		return s.encode(l.output, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	}, err
}

// rows are the audits for people, or their names.
func (l *listing) rows(ctx context.Context, s *session, a *api, namespace string) (func() error, error) {
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
	return func() error {
		switch {
		case l.output == "name":
			_, err := fmt.Fprint(s.Stdout, names)
			return err
		case len(rows) > 1:
			return table(s.Stdout, "", rows)
		case namespace == "":
			s.tell("There are no MCPServerAudits in this cluster. %s run --image IMAGE makes one.", s.Name)
		default:
			s.tell("There are no MCPServerAudits in namespace %s. %s list -A shows all.", namespace, s.Name)
		}
		return nil
	}, err
}

func (l *listing) heads() []cell {
	heads := plain("NAME", "VERDICT", "REASON", "RISK", "FINDINGS", "AUDITED", "NEXT")
	if l.all {
		heads = append(plain("NAMESPACE"), heads...)
	}
	if l.output == "wide" {
		heads = append(heads, plain("TOOLS", "DRIFT", "TRIGGER", "SERVER")...)
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
		{text: ago(a.Status.LastAuditTime, now)}, {text: next(a, now)},
	}
	if l.all {
		row = append(plain(a.Namespace), row...)
	}
	if l.output == "wide" {
		row = append(row, plain(tools(a), drifted(a.Status.Drift), trigger(a), server(a))...)
	}
	return row
}

// tools returns how many were called of those that are advertised.
func tools(a *v1alpha1.MCPServerAudit) string {
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
