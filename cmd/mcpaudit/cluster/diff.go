package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

var diffCommand = command{
	name: "diff", takes: "NAME | EARLIER LATER", about: "what changed since the baseline, or between two reports",
	examples: []string{"diff notes", "diff notes -o json", "diff notes-7f0c2a1b44 notes-90d1e2c3a5"},
	setUp: func(f *pflag.FlagSet) action {
		var output string
		f.StringVarP(&output, "output", "o", "table", "table or json, as of mcpaudit diff")
		return func(ctx context.Context, s *session, args []string) (int, error) {
			if output != "table" && output != "json" {
				return exitError, fmt.Errorf("--output %q: it is table or json", output)
			}
			if len(args) != 1 && len(args) != 2 {
				return exitError, fmt.Errorf("give the name of an audit, or of two MCPAuditReports, the earlier one first: %s show NAME lists them", s.Name)
			}
			a, err := s.connection.open(s)
			if err != nil {
				return exitError, err
			}
			find := a.sinceBaseline
			if len(args) == 2 {
				find = a.between
			}
			d, err := find(ctx, args)
			if err != nil {
				return exitError, err
			}
			return s.differ(d, output)
		}
	},
}

// differ prints a difference. The exit code is that of mcpaudit diff.
func (s *session) differ(d render.Difference, output string) (int, error) {
	var err error
	if output == "json" {
		err = s.encode(output, d)
	} else {
		err = render.DifferenceTable(s.Stdout, d, s.colour())
	}
	if err != nil {
		return exitError, err
	}
	switch same, known := d.Same(); {
	case !same:
		return exitFail, nil
	case !known:
		return exitError, errors.New("one of the audits did not see everything: what both saw is the same")
	}
	return 0, nil
}

// between compares two reports by their names.
func (a *api) between(ctx context.Context, names []string) (render.Difference, error) {
	var reports [2]report.Report
	for i, name := range names {
		r, err := a.report(ctx, name)
		switch {
		case err != nil:
			return render.Difference{}, err
		case r == nil:
			return render.Difference{}, fmt.Errorf("no MCPAuditReport %s in namespace %s: %s show NAME lists those that are kept", name, a.namespace, a.name)
		case r.Spec.ManifestDigest == "":
			return render.Difference{}, fmt.Errorf("%s: that audit could not list the manifest: give the report of one that could", name)
		}
		reports[i] = r.Spec.Report
	}
	return render.Differ(reports[0], reports[1]), nil
}

// sinceBaseline compares the last report of an audit with its baseline.
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
		return render.Difference{}, fmt.Errorf("%s: there is nothing to compare", v.missing())
	}
	return a.since(ctx, v)
}

// The differences that cannot be told.
var (
	errNoBaseline = errors.New("there is no baseline to compare with")
	errSame       = errors.New("the manifest is the one of the baseline, of which no other report is kept to compare with")
	errLost       = errors.New("the reports are not kept, so that no more is known than the digests")
	errNotListed  = errors.New("the last audit could not list the manifest to its end, so that it cannot be compared")
)

// since returns how the last audit differs from that of the baseline: by the report of
// the baseline if it is kept, or else by what the operator noted when it compared them.
func (a *api) since(ctx context.Context, v *view) (render.Difference, error) {
	was, is := baseline(v.audit), v.audit.Status.ManifestDigest
	lost := fmt.Errorf("%w: the baseline is %s, the manifest is %s", errLost, was, is)
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
	if name := v.standsFor(was); name != "" {
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
			Manifest: noted.Manifest, Behavior: noted.Behavior,
		}, nil
	case was == is:
		return render.Difference{}, errSame
	}
	return render.Difference{}, lost
}

// baseline is the manifest that an audit is held to; empty if there is none.
func baseline(a *v1alpha1.MCPServerAudit) v1alpha1.Digest {
	switch a.Spec.Baseline.Mode {
	case v1alpha1.BaselineNone:
		return ""
	case v1alpha1.BaselinePinned:
		return a.Spec.Baseline.ManifestDigest
	}
	return a.Status.BaselineDigest
}

// standsFor is the kept report that the operator compares with: the latest of that
// manifest that passed, or else the latest; never the last audit's own.
func (v *view) standsFor(manifest v1alpha1.Digest) string {
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
