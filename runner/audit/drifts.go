package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// drifts returns how the manifest differed within the audit, in the order of the moments, each compared moment at
// most once.
//
// A reported difference is one from everything that was otherwise advertised. On restart, that is the first list and
// the list after the calls, because changes by the calls either persist or are forgotten. For another client or time,
// it is also the unchanged launches before and after. Differences that occur in every launch do not count. A list
// without an answer at first is compared with none.
func drifts(runs []observation) []rules.Drift {
	first := exercised(runs)
	if !first.result.Listed {
		return nil
	}
	listed := func(o observation) *shown {
		return show(o.result.Manifest.With(first.result.Silent, first.result.Manifest))
	}
	plain := []*shown{listed(first)}
	if first.result.Relisted {
		plain = append(plain, show(first.result.After))
	}
	session := first.result
	if next, ok := goesOn(runs); ok {
		session = next.result
	}
	all := []rules.Drift{inSession(session)}
	restart, _ := at(runs, report.MomentRestart)
	if !restart.compared() {
		return some(all)
	}
	started := listed(restart)
	restarted := differs(report.MomentRestart, plain, started)
	plain = append(plain, started)
	if repeated, _ := (extra{moment: report.MomentRestart, again: true}).in(runs); repeated.compared() {
		again := listed(repeated)
		restarted = join(restarted, differs(report.MomentRestart, plain, again))
		plain = append(plain, again)
	}
	all = append(all, restarted)
	found := map[report.Moment]rules.Drift{}
	for _, launch := range []report.Moment{report.LaunchWeek, report.MomentClock, report.MomentIdentity} {
		moment := launch
		if launch == report.LaunchWeek {
			moment = report.MomentClock
		}
		if run, _ := at(runs, launch); run.compared() {
			found[moment] = join(differs(moment, plain, listed(run)), found[moment])
		}
	}
	return some(append(all, without(found[report.MomentIdentity], restarted), without(found[report.MomentClock], restarted)))
}

// inSession returns how the lists differed after the calls, without resources.
func inSession(r probe.Result) rules.Drift {
	d := rules.Drift{Moment: report.MomentSession, Drift: r.Drift, Announced: r.Announced}
	if r.Relisted && !d.Empty() {
		before, after := r.Manifest, r.After
		before.Resources, after.Resources = nil, nil
		d.Words = diff(show(before.Steady()), show(after.Steady()))
	}
	return d
}

// shown holds a manifest and its derived forms, each computed once and on demand, because manifests may be large and
// mostly equal.
type shown struct {
	manifest.Manifest
	report func() report.Manifest
	steady func() *shown
}

func show(m manifest.Manifest) *shown {
	return &shown{
		Manifest: m, report: sync.OnceValue(m.Report),
		steady: sync.OnceValue(func() *shown { return show(m.Steady()) }),
	}
}

// same reports whether two manifests are equal, byte by byte.
func (s *shown) same(as *shown) bool {
	texts := func(m manifest.Manifest) [][]json.RawMessage {
		return [][]json.RawMessage{{m.ServerName, m.Instructions, m.Capabilities}, m.Tools, m.Resources, m.ResourceTemplates, m.Prompts}
	}
	return slices.EqualFunc(texts(s.Manifest), texts(as.Manifest), func(a, b []json.RawMessage) bool {
		return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
	})
}

// differs returns how a manifest differs from each of the others, apart from the set of resources, which are data.
func differs(moment report.Moment, others []*shown, is *shown) rules.Drift {
	var d rules.Drift
	for i, other := range others {
		one := rules.Drift{Moment: moment, Drift: diff(other, is)}
		if !one.Empty() {
			one.Words = diff(other.steady(), is.steady())
		}
		if i == 0 {
			d = one
		}
		d = within(d, one)
	}
	return d
}

func diff(before, after *shown) report.Drift {
	if before.same(after) {
		return report.Drift{}
	}
	was, is := before.report(), after.report()
	was.Resources, is.Resources = common(was.Resources, is.Resources), common(is.Resources, was.Resources)
	was.Prompts, is.Prompts = unmade(was.Prompts, is.Prompts), unmade(is.Prompts, was.Prompts)
	was.ResourceTemplates, is.ResourceTemplates = unmade(was.ResourceTemplates, is.ResourceTemplates), unmade(is.ResourceTemplates, was.ResourceTemplates)
	return report.DiffByName(was, is)
}

// unmade returns items without those that calls of the audit have made or removed, such as a prompt that was saved: their
// names have the mark of a call, and no namesake in other.
func unmade(items, other []report.Item) []report.Item {
	both := common(items, other)
	return slices.DeleteFunc(slices.Clone(items), func(item report.Item) bool {
		_, marked := inputs.Marked(item.Name)
		return marked && !slices.ContainsFunc(both, func(one report.Item) bool { return one.Name == item.Name })
	})
}

// common returns the items that have a namesake in other.
func common(items, other []report.Item) []report.Item {
	names := make(map[string]bool, len(other))
	for _, item := range other {
		names[item.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(item report.Item) bool { return !names[item.Name] })
}

// suspects reports whether something differed in words for another client or at another time, but not at every start.
func suspects(runs []observation) bool {
	return slices.ContainsFunc(drifts(runs), func(d rules.Drift) bool {
		return (d.Moment == report.MomentIdentity || d.Moment == report.MomentClock) && !d.Words.Empty()
	})
}

// some omits the moments without a difference.
func some(all []rules.Drift) []rules.Drift {
	return slices.DeleteFunc(all, func(d rules.Drift) bool { return d.Empty() })
}

// without removes from d what is in other, within all else.
func without(d, other rules.Drift) rules.Drift { return sift(d, other, false) }

func within(d, other rules.Drift) rules.Drift { return sift(d, other, true) }

// sift keeps the items that are in other, or those that are not.
func sift(d, other rules.Drift, in bool) rules.Drift {
	keep := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) != in })
	}
	d.Drift, d.Words = each(d.Drift, other.Drift, keep), each(d.Words, other.Words, keep)
	return d
}

// join adds the items of other to d.
func join(d, other rules.Drift) rules.Drift {
	both := func(names, others []string) []string {
		names = slices.Concat(names, others)
		slices.Sort(names)
		return slices.Compact(names)
	}
	d.Drift, d.Words = each(d.Drift, other.Drift, both), each(d.Words, other.Words, both)
	return d
}

// each applies a function to the parts of two drifts. Texts of items in the result come from the first that has them.
func each(a, b report.Drift, f func(a, b []string) []string) report.Drift {
	d := report.Drift{Added: f(a.Added, b.Added), Removed: f(a.Removed, b.Removed), Changed: f(a.Changed, b.Changed)}
	told := map[string]bool{}
	for _, changes := range [][]report.Change{a.Changes, b.Changes} {
		for _, c := range changes {
			if !told[c.Capability] && (slices.Contains(d.Changed, c.Capability) || slices.Contains(d.Added, c.Capability)) {
				d.Changes = append(d.Changes, c)
			}
		}
		for _, c := range d.Changes {
			told[c.Capability] = true
		}
	}
	return d
}
