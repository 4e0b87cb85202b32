package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The operator's bounds: writes per audit, and the memory limit in config/manager.
const (
	maxWrites = 12
	maxRSS    = 256 << 20
)

// row is a line of the table. If it has a cost, the line ends with the ratio of the last column
// to the first.
type row struct {
	name  string
	value func(result) string
	cost  func(result) float64
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }
func megabytes(n int) string              { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

func first(r result) phase { return r.first }
func again(r result) phase { return r.again }

func rows(s settings) []row {
	all := []row{
		{"time to drain", func(r result) string { return r.first.took.Round(100 * time.Millisecond).String() }, nil},
		{"audits per minute", func(r result) string { return fmt.Sprintf("%.0f", float64(r.audits)/r.first.took.Minutes()) }, nil},
		{"time of a slot per audit", func(r result) string {
			return milliseconds(r.first.took.Seconds() * float64(s.slots) / float64(r.audits))
		}, nil},
		{"most Pods at a time", func(r result) string { return strconv.Itoa(r.slots) }, nil},
		{"reconciliation, p50", func(r result) string { return milliseconds(r.p50) }, nil},
		{"reconciliation, p99", func(r result) string { return milliseconds(r.p99) }, nil},
		count("reconciliations per audit", func(r result) float64 { return r.reconciles / float64(r.first.audits+r.again.audits) }),
		{"failed reconciliations", func(r result) string { return fmt.Sprint(r.errors) }, nil},
		{"memory of the manager, peak RSS", func(r result) string { return megabytes(r.rss) }, nil},
		{"heap of the manager in use", func(r result) string { return megabytes(r.heap) }, nil},
		{"database of etcd in use", func(r result) string { return megabytes(r.storage) }, nil},
		{"left in the run namespace", func(r result) string { return strconv.Itoa(r.left) }, nil},
		{"restarted: writes", func(r result) string { return strconv.Itoa(r.restarted.writes()) }, nil},
		{"restarted: reads", func(r result) string { return strconv.Itoa(r.restarted.reads()) }, nil},
		{"restarted: peak RSS", func(r result) string { return megabytes(r.restartRSS) }, nil},
	}
	all = append(all, costs("first audit", first)...)
	return append(all, costs("re-audit", again)...)
}

// costs returns the lines about one audit of a phase.
func costs(name string, of func(result) phase) []row {
	return []row{
		count(name+": writes", func(r result) float64 { return of(r).each(float64(of(r).requests.writes())) }),
		count(name+": reads", func(r result) float64 { return of(r).each(float64(of(r).requests.reads())) }),
		cpu(name+": CPU of the manager", func(r result) float64 { return of(r).each(of(r).managerCPU) }),
		cpu(name+": CPU of the API server", func(r result) float64 { return of(r).each(of(r).serverCPU) }),
	}
}

// each returns the share of one audit.
func (p phase) each(cost float64) float64 { return cost / float64(p.audits) }

func count(name string, of func(result) float64) row {
	return row{name, func(r result) string { return fmt.Sprintf("%.2f", of(r)) }, of}
}

func cpu(name string, of func(result) float64) row {
	return row{name, func(r result) string { return milliseconds(of(r)) }, of}
}

// printTable writes a line for each measure and a column for each number of audits.
func printTable(w io.Writer, s settings, results []result) error {
	least, most := results[0], results[len(results)-1]
	line := func(name string, ratio string, value func(result) string) string {
		cells := []string{name}
		for _, r := range results {
			cells = append(cells, value(r))
		}
		return strings.Join(append(cells, ratio), "\t") + "\t\n"
	}
	var table strings.Builder
	table.WriteString(line("audits", "ratio", func(r result) string { return strconv.Itoa(r.audits) }))
	for _, row := range rows(s) {
		ratio := ""
		if row.cost != nil && len(results) > 1 {
			ratio = fmt.Sprintf("%.2f", row.cost(most)/row.cost(least))
		}
		table.WriteString(line(row.name, ratio, row.value))
	}
	for _, p := range []struct {
		name string
		of   func(result) phase
	}{{"first audit", first}, {"re-audit", again}} {
		for _, kind := range kinds(results, p.of) {
			table.WriteString(line(p.name+": "+kind, "", func(r result) string {
				return fmt.Sprintf("%.2f", p.of(r).each(float64(p.of(r).requests[kind])))
			}))
		}
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err := fmt.Fprintf(out, "\n%d slots, %d of a namespace; %d CPUs, %s\n\n%s",
		s.slots, s.namespaceSlots, runtime.NumCPU(), runtime.Version(), &table)
	if err != nil {
		return err
	}
	return out.Flush()
}

// kinds returns the kinds of requests for the audits of a phase.
func kinds(results []result, of func(result) phase) []string {
	all := map[string]bool{}
	for _, r := range results {
		for kind := range of(r).requests {
			if !isOverhead(kind) {
				all[kind] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// check returns an error for each bound that is exceeded.
func check(s settings, results []result) error {
	var problems []error
	broken := func(r result, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%d audits: "+format, append([]any{r.audits}, args...)...))
	}
	for _, r := range results {
		if r.wrong > 0 {
			broken(r, "%d have a verdict other than their report's", r.wrong)
		}
		if r.slots > s.slots {
			broken(r, "%d Pods at a time, more than the %d allowed", r.slots, s.slots)
		}
		for _, p := range []phase{r.first, r.again} {
			if writes := p.each(float64(p.requests.writes())); writes > maxWrites {
				broken(r, "%.2f writes each, more than the %d allowed", writes, maxWrites)
			}
		}
		if peak := max(r.rss, r.restartRSS); peak > maxRSS {
			broken(r, "the manager took %s of memory, more than its limit of %s", megabytes(peak), megabytes(maxRSS))
		}
		if r.left > 0 {
			broken(r, "%d objects are left in the run namespace", r.left)
		}
		if writes := r.restarted.writes(); writes > 0 {
			broken(r, "an idle manager wrote %d times: %v", writes, r.restarted)
		}
	}
	return errors.Join(problems...)
}
