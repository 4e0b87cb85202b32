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

// How often the probe may exercise the one tool of a server, and how many sessions
// there are of a kind at most.
const (
	paceRounds = 10
	paceCalls  = 200
	paceMost   = 3
)

// probeable are the servers that speak MCP as a whole.
func probeable(servers []*server) []*server {
	return slices.DeleteFunc(slices.Clone(servers), func(s *server) bool { return s.name == opensName })
}

// paced are the sides that the probe is measured on, by their place in sides: as
// the command line has them.
var paced = []int{0, 2, 4}

// pace measures how many calls the probe makes a second, as in an audit, where it
// waits after each until the server is quiet, and without that. The best of some
// rounds counts, of which each server and side has its turn.
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

// probed returns how many calls a second the probe makes of a server.
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
			case calls > 0 && ended.IsZero(): // the list that comes after the calls
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
			err = errors.New("the session was not whole: " + result.Incomplete.Message)
		}
		return err
	})
	return float64(calls) / ended.Sub(began).Seconds(), err
}
