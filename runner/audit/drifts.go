package audit

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// drifts are how the manifest differed within the audit, in the order of the
// moments, each moment that was compared at most once.
//
// Like is held against like: for another client, and at another time, against the
// launch before, which was like the first in all but the files that the server had
// left. What a launch after them, as it is, shows as well was not their doing.
func drifts(runs []observation) []rules.Drift {
	first := exercised(runs)
	if !first.result.Listed {
		return nil
	}
	before, after := first.result.Manifest, first.result.Manifest
	if first.result.Relisted {
		after = first.result.After
	}
	all := []rules.Drift{inSession(first.result)}
	restart, _ := at(runs, report.MomentRestart)
	if !restart.compared() {
		return some(all)
	}
	// What the calls have changed stays so, or is forgotten: neither is news.
	started := restart.result.Manifest
	all = append(all, within(differs(report.MomentRestart, before, started), differs(report.MomentRestart, after, started)))
	last := runs[len(runs)-1]
	for _, moment := range []report.Moment{report.MomentIdentity, report.MomentClock} {
		run, _ := at(runs, moment)
		if !run.compared() {
			continue
		}
		d := differs(moment, restart.result.Manifest, run.result.Manifest)
		d = without(d, all[1]) // it is another one at every start
		if last.how.again && last.compared() {
			later := differs(report.MomentRestart, restart.result.Manifest, last.result.Manifest)
			d = without(d, later)
			all[1] = join(all[1], later)
		}
		all = append(all, d)
	}
	return some(all)
}

// inSession is how the lists differed after the calls. It has no resources.
func inSession(r probe.Result) rules.Drift {
	d := rules.Drift{Moment: report.MomentSession, Drift: r.Drift, Announced: r.Announced}
	if r.Relisted {
		before, after := r.Manifest, r.After
		before.Resources, after.Resources = nil, nil
		d.Words = diff(before.Steady(), after.Steady())
	}
	return d
}

// differs compares two manifests. Which resources there are is left out, for they
// are a server's data.
func differs(moment report.Moment, before, after manifest.Manifest) rules.Drift {
	return rules.Drift{
		Moment: moment, Drift: diff(before, after), Words: diff(before.Steady(), after.Steady()),
	}
}

func diff(before, after manifest.Manifest) report.Drift {
	was, is := before.Report(), after.Report()
	was.Resources, is.Resources = common(was.Resources, is.Resources), common(is.Resources, was.Resources)
	return report.Diff(was, is)
}

// common are the items of which other has one of the same name.
func common(items, other []report.Item) []report.Item {
	names := make(map[string]bool, len(other))
	for _, item := range other {
		names[item.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(item report.Item) bool { return !names[item.Name] })
}

// suspects tells whether something differed for another client or at another time,
// in words, and not at every start.
func suspects(runs []observation) bool {
	return slices.ContainsFunc(drifts(runs), func(d rules.Drift) bool {
		return (d.Moment == report.MomentIdentity || d.Moment == report.MomentClock) && !d.Words.Empty()
	})
}

// some leaves out the moments at which nothing differed.
func some(all []rules.Drift) []rules.Drift {
	return slices.DeleteFunc(all, func(d rules.Drift) bool { return d.Drift.Empty() })
}

// without leaves out of d what is in other, within all else.
func without(d, other rules.Drift) rules.Drift { return sift(d, other, false) }

func within(d, other rules.Drift) rules.Drift { return sift(d, other, true) }

// sift keeps what is in other, or what is not.
func sift(d, other rules.Drift, in bool) rules.Drift {
	keep := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) != in })
	}
	d.Drift, d.Words = each(d.Drift, other.Drift, keep), each(d.Words, other.Words, keep)
	return d
}

// join adds what is in other to d.
func join(d, other rules.Drift) rules.Drift {
	both := func(names, others []string) []string {
		names = slices.Concat(names, others)
		slices.Sort(names)
		return slices.Compact(names)
	}
	d.Drift, d.Words = each(d.Drift, other.Drift, both), each(d.Words, other.Words, both)
	return d
}

// each applies a function to the parts of two drifts.
func each(a, b report.Drift, f func(a, b []string) []string) report.Drift {
	return report.Drift{Added: f(a.Added, b.Added), Removed: f(a.Removed, b.Removed), Changed: f(a.Changed, b.Changed)}
}
