package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/noise"
)

// tally counts noise by its reason and keeps the first samples of each.
type tally map[noise.Reason]*report.Noise

func (t tally) count(reason noise.Reason, f Fact) {
	n := t[reason]
	if n == nil {
		n = &report.Noise{Reason: string(reason)}
		t[reason] = n
	}
	n.Count++
	if len(n.Samples) == report.MaxSamples {
		return
	}
	if sample := strings.TrimSpace(cut(f.Path, report.MaxPathBytes) + " " + f.Error); !slices.Contains(n.Samples, sample) {
		n.Samples = append(n.Samples, sample)
	}
}

// Join adds the profile of another run of the server.
func (p *Profile) Join(other Profile) {
	p.Effects = append(p.Effects, other.Effects...)
	p.Dropped += other.Dropped
	p.Cut.Sent += other.Cut.Sent
	p.Cut.Here += other.Cut.Here
	all := tally{}
	for _, n := range slices.Concat(p.Noise, other.Noise) {
		sum := all[noise.Reason(n.Reason)]
		if sum == nil {
			sum = &report.Noise{Reason: n.Reason}
			all[noise.Reason(n.Reason)] = sum
		}
		sum.Count += n.Count
		for _, s := range n.Samples {
			if len(sum.Samples) < report.MaxSamples && !slices.Contains(sum.Samples, s) {
				sum.Samples = append(sum.Samples, s)
			}
		}
	}
	p.Noise = all.report()
}

// report returns the counts, the most frequent first.
func (t tally) report() []report.Noise {
	var all []report.Noise
	for _, n := range t {
		all = append(all, report.Noise{Reason: n.Reason, Count: n.Count, Samples: slices.Clone(n.Samples)})
	}
	slices.SortFunc(all, func(a, b report.Noise) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}
