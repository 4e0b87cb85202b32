package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func (s *session) diffCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "diff NAME | EARLIER LATER", Short: "Show the changes since the baseline, or between two reports", Args: cli.Args(1, 2), ValidArgsFunction: s.completeAudit,
		Long: `Show the changes since the baseline, or between two MCPAuditReports by their names,
which the command show lists.`,
		Example: s.examples("diff notes", "diff notes -o json", "diff notes-7f0c2a1b44 notes-90d1e2c3a5"),
		RunE: s.connected(func(ctx context.Context, a *api, args []string) error {
			find := a.sinceBaseline
			if len(args) == 2 {
				find = a.between
			}
			d, err := find(ctx, args)
			if err != nil {
				return err
			}
			return cli.WriteDifference(s.stdout(), d, output)
		}),
	}
	cli.Output(c, &output, "table", "json")
	return c
}

// between compares two named reports.
func (a *api) between(ctx context.Context, names []string) (render.Difference, error) {
	var reports [2]report.Report
	for i, name := range names {
		r, err := a.report(ctx, name)
		switch {
		case err != nil:
			return render.Difference{}, err
		case r == nil:
			return render.Difference{}, fmt.Errorf("no MCPAuditReport %s in namespace %s; %s show NAME lists the reports", name, a.namespace, a.name)
		case r.Spec.ManifestDigest == "":
			return render.Difference{}, fmt.Errorf("%s: the audit did not list the whole manifest; want the report of one that did", name)
		}
		reports[i] = r.Spec.Report
	}
	return render.Differ(reports[0], reports[1]), nil
}

// sinceBaseline compares an audit's last report with its baseline.
func (a *api) sinceBaseline(ctx context.Context, names []string) (render.Difference, error) {
	audit, err := a.audit(ctx, names[0])
	if err != nil {
		return render.Difference{}, err
	}
	v, err := a.view(ctx, audit)
	if err != nil {
		return render.Difference{}, err
	}
	if audit.Status.Verdict == "" {
		return render.Difference{}, fmt.Errorf("nothing to compare: %s", v.missing())
	}
	return a.since(ctx, v)
}

// Why there is no difference to show.
var (
	errNoBaseline = errors.New("there is no baseline")
	errSame       = errors.New("the manifest is that of the baseline, and no other report of it is kept")
	errNoReport   = errors.New("the reports are not kept, only the digests are known")
	errNotListed  = errors.New("the last audit did not list the whole manifest")
)

// since compares the last audit with the baseline's: by its report if kept, else by what the
// operator recorded.
func (a *api) since(ctx context.Context, v *view) (render.Difference, error) {
	was, is := baseline(v.audit), v.audit.Status.ManifestDigest
	lost := fmt.Errorf("%w: the baseline is %s, the manifest is %s", errNoReport, was, is)
	switch {
	case was == "":
		return render.Difference{}, errNoBaseline
	case is == "":
		return render.Difference{}, errNotListed
	case v.report == nil && was == is:
		return render.Difference{}, errSame
	case v.report == nil:
		return render.Difference{}, lost
	}
	if name := v.reportOf(was); name != "" {
		before, err := a.report(ctx, name)
		if err != nil {
			return render.Difference{}, err
		}
		if before != nil {
			return render.Differ(before.Spec.Report, *v.report), nil
		}
	}
	noted := v.report.Baseline
	switch {
	case noted != nil && noted.ManifestDigest == string(was):
		return render.Difference{
			Before:   render.Side{Name: v.report.Server.Name, ManifestDigest: noted.ManifestDigest, BehaviorDigest: noted.BehaviorDigest},
			After:    render.SideOf(*v.report),
			Manifest: noted.Manifest, Behavior: noted.Behavior, Exposure: noted.Exposure,
		}, nil
	case was == is:
		return render.Difference{}, errSame
	}
	return render.Difference{}, lost
}

// baseline returns the manifest that an audit is compared with; empty if there is none.
func baseline(a *v1alpha1.MCPServerAudit) v1alpha1.Digest {
	switch a.Spec.Baseline.Mode {
	case v1alpha1.BaselineNone:
		return ""
	case v1alpha1.BaselinePinned:
		return a.Spec.Baseline.ManifestDigest
	}
	return a.Status.BaselineDigest
}

// reportOf returns the report that the operator compares with: the latest of that manifest that
// passed, else the latest; never the last audit's own.
func (v *view) reportOf(manifest v1alpha1.Digest) string {
	latest := ""
	for _, candidate := range v.kept {
		switch {
		case candidate.Annotations[v1alpha1.ManifestAnnotation] != string(manifest), candidate.Name == v.audit.Status.ReportRef.Name:
		case candidate.Annotations[v1alpha1.VerdictAnnotation] == string(v1alpha1.VerdictPass):
			return candidate.Name
		default:
			latest = cmp.Or(latest, candidate.Name)
		}
	}
	return latest
}
