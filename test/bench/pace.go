package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/probe"
)

// The probe's bounds for a server's only tool, and the largest number of sessions of a kind.
const (
	paceRounds = 10
	paceCalls  = 200
	paceMost   = 3
)

// probeable returns the servers that implement MCP completely.
func probeable(servers []*server) []*server {
	return slices.DeleteFunc(slices.Clone(servers), func(s *server) bool { return s.name == opensName })
}

// paced has the indices in sides for which the probe is measured: those of the command line.
var paced = []int{0, 2, 4}

// pace measures the probe's calls per second, with the waits of an audit until the server is quiet
// and without them. It takes the best of several alternating rounds.
func pace(ctx context.Context, w io.Writer, servers []*server, file string, rounds int) error {
	type key struct{ server, side, settle int }
	best := map[key]float64{}
	settles := []time.Duration{0, time.Nanosecond} // the default, and none
	for range rounds {
		for i, s := range servers {
			for _, of := range paced {
				for j, settle := range settles {
					calls, err := probed(ctx, s.launch, sides[of], file, settle)
					if err != nil {
						return fmt.Errorf("%s, %s: %w", s.name, sides[of].name, err)
					}
					best[key{i, of, j}] = max(best[key{i, of, j}], calls)
				}
			}
		}
	}
	_, _ = fmt.Fprintf(w, "\nCalls per second of the probe, the most of %d rounds, and in parentheses the share of untraced.\n\n", rounds)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(table, "SERVER\tTHE PROBE\tUNTRACED\tSTRACE\tPTRACE\n") // Flush has the error
	for i, s := range servers {
		for j, name := range []string{"as in an audit", "without its waits"} {
			_, _ = fmt.Fprintf(table, "%s\t%s", s.name, name)
			for _, of := range paced {
				calls := best[key{i, of, j}]
				_, _ = fmt.Fprintf(table, "\t%.1f (%.2f)", calls, calls/best[key{i, paced[0], j}])
			}
			_, _ = fmt.Fprintln(table)
		}
	}
	return table.Flush()
}

// probed returns the probe's calls per second of a server.
func probed(ctx context.Context, l launch, as side, file string, settle time.Duration) (perSecond float64, err error) {
	calls := 0
	var began, ended time.Time
	o := probe.Options{
		Rounds: paceRounds, MaxCalls: paceCalls, Settle: settle, SettleMost: settle, Idle: time.Nanosecond,
		Progress: func(_ string, phase report.Phase, _ report.Capability) {
			switch {
			case phase == report.PhaseCall && calls == 0:
				began = time.Now()
				fallthrough
			case phase == report.PhaseCall:
				calls++
			case calls > 0 && ended.IsZero(): // the list request after the calls
				ended = time.Now()
			}
		},
	}
	err = within(ctx, l, as, file, func(b *boxed, f *follower) error {
		conn := probe.Conn{Stdin: b.stdin, Stdout: b.stdout, Exited: b.gone}
		if f != nil {
			conn.Active, conn.Pending = f.builder.Active, f.session.Pending
		}
		if _, err := b.gate.Write([]byte{1}); err != nil {
			return err
		}
		result, err := probe.Run(ctx, conn, o)
		if err == nil && (result.Incomplete.Reason != "" || ended.IsZero()) {
			err = errors.New("the session was incomplete: " + result.Incomplete.Message)
		}
		return err
	})
	return float64(calls) / ended.Sub(began).Seconds(), err
}
