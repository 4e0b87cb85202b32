package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// The bounds apply to medians and to ratios within a run, so they also hold on a busy machine.
const (
	// maxRatio bounds the time for creating the admitted objects of usual size in the gate, divided
	// by that outside. The target is 2. Above many verdicts the bound is maxRatioMany, as the API
	// server evaluates each ConfigMap of the lists.
	maxRatio     = 2.5
	maxRatioMany = 10
	many         = 10_000
	// maxGrowth bounds a decision, minus slack, divided by one with the fewest verdicts.
	maxGrowth = 2
	slack     = 50 * time.Microsecond
	// maxDecision bounds the median. As a target it applies to the 99th percentile.
	maxDecision = time.Millisecond
)

// printTable writes a line for each measure and a column for each number of verdicts.
func printTable(w io.Writer, results []result) error {
	var table strings.Builder
	line := func(name string, value func(result) string) {
		cells := []string{name}
		for _, r := range results {
			cells = append(cells, value(r))
		}
		table.WriteString(strings.Join(cells, "\t") + "\t\n")
	}
	line("verdicts", func(r result) string { return fmt.Sprint(r.verdicts) })
	perVerdict := func(name string, of func(result) float64) {
		line(name, func(r result) string {
			if r.verdicts == 0 {
				return "-"
			}
			return fmt.Sprintf("%.0f B", of(r))
		})
	}
	perVerdict("memory per verdict: index, on top of the cached audits", func(r result) float64 { return r.gate.index })
	perVerdict("memory per verdict: cached audit", func(r result) float64 { return r.gate.audits })
	line("filling the index", func(r result) string { return r.gate.filled.Round(time.Millisecond).String() })
	line("compiling the lists", func(r result) string { return r.floor.took.Round(time.Millisecond).String() })
	line("lists", func(r result) string { return fmt.Sprintf("%d (%d KiB)", r.floor.lists, r.floor.bytes>>10) })
	for i, first := range results[0].gate.decisions {
		line("decision: "+first.name, func(r result) string { return r.gate.decisions[i].decision.String() })
		line("answer: "+first.name, func(r result) string { return r.gate.decisions[i].answer.String() })
	}
	for _, clients := range concurrent {
		line(fmt.Sprintf("both to plain, %d at a time", clients), func(r result) string { return fmt.Sprintf("%.2fx", r.ratio(clients)) })
	}
	for i, first := range results[0].trips {
		for _, team := range teams {
			line(first.title()+": "+team, func(r result) string {
				text := r.trips[i].took[team].String()
				if team != plain {
					text += fmt.Sprintf(" %.2fx", r.trips[i].ratio(team))
				}
				return text
			})
		}
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := fmt.Fprintf(out, "\n%d CPUs, %s; p50/p99\n\n%s", runtime.NumCPU(), runtime.Version(), &table); err != nil {
		return err
	}
	return out.Flush()
}

// String formats both in milliseconds.
func (s spread) String() string {
	milliseconds := func(d time.Duration) string { return fmt.Sprintf("%.3g", float64(d.Microseconds())/1000) }
	return milliseconds(s.p50) + "/" + milliseconds(s.p99) + " ms"
}

// check returns an error for each bound that is exceeded.
func check(results []result) error {
	var problems []error
	for _, r := range results {
		broken := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("%d verdicts: "+format, append([]any{r.verdicts}, args...)...))
		}
		for i, d := range r.gate.decisions {
			least := results[0].gate.decisions[i].decision.p50
			if d.decision.p50 > maxGrowth*least+slack && d.name != nameCrowd {
				broken("decision about %s: %s, and %s with %d", d.name, d.decision.p50, least, results[0].verdicts)
			}
			if d.decision.p50 > maxDecision && d.name != nameHuge {
				broken("decision about %s: %s at the median", d.name, d.decision.p50)
			}
		}
		for _, clients := range concurrent {
			if ratio := r.ratio(clients); ratio > maxRatioMany || ratio > maxRatio && r.verdicts <= many {
				broken("creating an object takes %.2f times as long in the gate, %d at a time", ratio, clients)
			}
		}
	}
	return errors.Join(problems...)
}

// ratio returns the durations in both divided by those in plain.
func (r result) ratio(clients int) float64 {
	var gated, not time.Duration
	for _, t := range r.trips {
		if t.clients == clients && t.admitted && !t.large {
			gated, not = gated+t.took[both].p50, not+t.took[plain].p50
		}
	}
	return float64(gated) / float64(not)
}
