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

// The bounds that the operator keeps to: writes for one audit, and memory.
const (
	maxWrites = 12
	maxRSS    = 256 << 20
)

// row is a line of the table. Where it has a ratio, it is that of the last column to
// the first.
type row struct {
	name  string
	value func(result) string
	cost  func(result) float64
}

func perAudit(of func(result) float64) func(result) float64 {
	return func(r result) float64 { return of(r) / float64(r.audits) }
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }
func megabytes(n int) string              { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

func rows() []row {
	managerCPU := perAudit(func(r result) float64 { return r.managerCPU })
	serverCPU := perAudit(func(r result) float64 { return r.serverCPU })
	writes := perAudit(func(r result) float64 { return float64(r.requests.writes()) })
	reads := perAudit(func(r result) float64 { return float64(r.requests.reads()) })
	reconciles := perAudit(func(r result) float64 { return r.reconciles })
	ms := func(of func(result) float64) func(result) string {
		return func(r result) string { return milliseconds(of(r)) }
	}
	number := func(of func(result) float64) func(result) string {
		return func(r result) string { return fmt.Sprintf("%.2f", of(r)) }
	}
	return []row{
		{"time to drain", func(r result) string { return r.drain.Round(100 * time.Millisecond).String() }, nil},
		{"audits per minute", func(r result) string { return fmt.Sprintf("%.0f", float64(r.audits)/r.drain.Minutes()) }, nil},
		{"most Pods at a time", func(r result) string { return fmt.Sprint(r.slots) }, nil},
		{"reconciliation, p50", func(r result) string { return milliseconds(r.p50) }, nil},
		{"reconciliation, p99", func(r result) string { return milliseconds(r.p99) }, nil},
		{"reconciliations per audit", number(reconciles), reconciles},
		{"failed reconciliations", func(r result) string { return fmt.Sprint(r.errors) }, nil},
		{"CPU of the manager per audit", ms(managerCPU), managerCPU},
		{"CPU of the API server per audit", ms(serverCPU), serverCPU},
		{"memory of the manager (peak RSS)", func(r result) string { return megabytes(r.rss) }, nil},
		{"heap of the manager in use", func(r result) string { return megabytes(r.heap) }, nil},
		{"database of etcd in use", func(r result) string { return megabytes(r.storage) }, nil},
		{"writes per audit", number(writes), writes},
		{"reads per audit", number(reads), reads},
		{"left in the run namespace", func(r result) string { return fmt.Sprint(r.left) }, nil},
		{"restarted: writes", func(r result) string { return fmt.Sprint(r.steady.writes()) }, nil},
		{"restarted: reads", func(r result) string { return fmt.Sprint(r.steady.reads()) }, nil},
		{"restarted: peak RSS", func(r result) string { return megabytes(r.restartRSS) }, nil},
	}
}

// printTable writes what is measured by line, the numbers of audits by column.
func printTable(w io.Writer, results []result) error {
	first, last := results[0], results[len(results)-1]
	line := func(name string, ratio string, value func(result) string) string {
		cells := []string{name}
		for _, r := range results {
			cells = append(cells, value(r))
		}
		return strings.Join(append(cells, ratio), "\t") + "\t\n"
	}
	var table strings.Builder
	table.WriteString(line("audits", "ratio", func(r result) string { return strconv.Itoa(r.audits) }))
	for _, row := range rows() {
		ratio := ""
		if row.cost != nil && len(results) > 1 {
			ratio = fmt.Sprintf("%.2f", row.cost(last)/row.cost(first))
		}
		table.WriteString(line(row.name, ratio, row.value))
	}
	for _, kind := range kinds(results) {
		table.WriteString(line(kind, "", func(r result) string {
			return fmt.Sprintf("%.2f", float64(r.requests[kind])/float64(r.audits))
		}))
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := fmt.Fprintf(out, "\n%d CPUs, %s\n\n%s", runtime.NumCPU(), runtime.Version(), &table); err != nil {
		return err
	}
	return out.Flush()
}

// kinds are those of the requests that audits cost.
func kinds(results []result) []string {
	all := map[string]bool{}
	for _, r := range results {
		for kind := range r.requests {
			if !isOverhead(kind) {
				all[kind] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// check tells which bounds were broken.
func check(results []result) error {
	var problems []error
	broken := func(r result, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%d audits: "+format, append([]any{r.audits}, args...)...))
	}
	for _, r := range results {
		if r.wrong > 0 {
			broken(r, "%d have another verdict than their report", r.wrong)
		}
		if writes := float64(r.requests.writes()) / float64(r.audits); writes > maxWrites {
			broken(r, "%.2f writes each, and %d are allowed", writes, maxWrites)
		}
		if peak := max(r.rss, r.restartRSS); peak > maxRSS {
			broken(r, "the manager took %s, and has %s", megabytes(peak), megabytes(maxRSS))
		}
		if r.left > 0 {
			broken(r, "%d objects are left in the run namespace", r.left)
		}
		if writes := r.steady.writes(); writes > 0 {
			broken(r, "a manager that has nothing to do wrote %d times: %v", writes, r.steady)
		}
	}
	return errors.Join(problems...)
}
