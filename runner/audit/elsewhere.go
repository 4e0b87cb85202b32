package audit

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// A server may say something else to another client, or at another place or date. Outputs of such launches are read
// like those of the exercise, and so are manifests that are not compared as a whole.

// maxElsewhere bounds the outputs of other launches that are read, in bytes.
const maxElsewhere = 2 << 20

// outputsOf returns the outputs of all runs: all of the exercise, and those of other runs that differ. unread are the
// capabilities whose outputs exceed the bound.
func outputsOf(runs []observation) (all []rules.Output, unread map[report.Capability]bool) {
	type key struct {
		kind report.OutputKind
		of   report.Capability
		text string
	}
	first := exercised(runs)
	known, left := map[key]bool{}, maxElsewhere
	all, unread = rules.Said("", first.result.Outputs...), map[report.Capability]bool{}
	for _, out := range first.result.Outputs {
		known[key{out.Kind, out.Capability, probe.WithoutDigits(out.Text)}] = true
	}
	for _, o := range runs {
		for _, of := range o.result.Unread {
			unread[of] = true
		}
		if o.how.moment == "" {
			continue
		}
		for _, out := range o.result.Outputs {
			is := key{out.Kind, out.Capability, probe.WithoutDigits(out.Text)}
			switch {
			case known[is]:
			case left < len(out.Text):
				unread[out.Capability] = true
			default:
				known[is] = true
				left -= len(out.Text)
				all = append(all, rules.Said(o.how.row().how, out)...)
			}
		}
	}
	return all, unread
}

// asAWhole lists the launches whose manifests are compared: see drifts.
var asAWhole = []report.Moment{report.MomentRestart, report.MomentIdentity, report.MomentClock, report.LaunchWeek}

// others returns further manifests whose texts are read: the one after the calls if the server announced a change,
// those of runs in other surroundings, and those of runs in which a list had no answer at first. An unannounced
// change is a finding of its own.
func others(runs []observation) (all []rules.Advertised) {
	first := exercised(runs).result
	known := []*shown{show(first.Manifest), show(first.After)}
	if first.Relisted && first.Announced {
		all = append(all, rules.Advertised{Manifest: first.After})
	}
	add := func(o observation, m *shown, read bool) {
		for _, k := range known {
			if k.same(m) {
				return
			}
		}
		known = append(known, m)
		if read {
			all = append(all, rules.Advertised{Manifest: m.Manifest, When: o.how.row().how})
		}
	}
	for _, o := range runs {
		if o.how.moment == "" || !o.result.Listed {
			continue
		}
		add(o, show(o.result.Manifest), len(first.Silent) > 0 || !slices.Contains(asAWhole, o.how.moment))
		if o.result.Relisted {
			add(o, show(o.result.After), true)
		}
	}
	return all
}
