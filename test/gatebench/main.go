// Command gatebench measures the gate's cost for creating a workload with 0 to 50,000 verdicts:
// of the decision alone, and of round trips to a real API server.
//
// etcd, the API server, the webhook's handler with its index behind TLS, the
// ValidatingWebhookConfiguration and the policies of config/, and the lists compiled by
// controllers/offline are real. The verdicts come from generated audits (verdicts.go), which the
// index gets from informers.
//
// The same object is created in five namespaces in turn, so that other load on the machine slows
// all of them: plain has no label; webhook is judged by the webhook only, lists by the API
// server's deny list only (DenyFailed), both by both, which is the default, and strict by the
// webhook and the allow list (RequirePassed).
//
// Times are printed. The command fails if an answer is wrong, if the median round trip in both is
// above maxRatio (maxRatioMany) times that in plain, or if the median decision grows with the
// number of verdicts or exceeds the target of the 99th percentile.
//
//	gatebench [-n 0,100,5000,50000] [--rounds N] [--decisions N]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/test/command"
)

// settings are set by flags.
type settings struct {
	// counts are the numbers of verdicts to measure with, in turn, besides those on the requested
	// images.
	counts []int
	// rounds is the number of times that a client creates each object in each namespace.
	rounds int
	// decisions is the number of calls of the handler for each object, without a network.
	decisions int
}

func defaults() settings {
	return settings{counts: []int{0, 100, 5000, 50000}, rounds: 100, decisions: 3000}
}

func main() { command.Main("gatebench", run) }

func run(ctx context.Context, args []string) error {
	ctrl.SetLogger(logr.Discard())
	s := defaults()
	flags := pflag.NewFlagSet("gatebench", pflag.ContinueOnError)
	flags.IntSliceVarP(&s.counts, "verdicts", "n", s.counts, "numbers of verdicts to measure with")
	flags.IntVar(&s.rounds, "rounds", s.rounds, "how often each object is created in each namespace by one client")
	flags.IntVar(&s.decisions, "decisions", s.decisions, "how often the handler is asked about each object")
	if err := flags.Parse(args); err != nil {
		return err
	}
	results, err := measureAll(ctx, s)
	if len(results) > 0 { // also those before an error
		err = errors.Join(err, printTable(os.Stdout, results))
	}
	return errors.Join(err, check(results))
}

// result is measured with one number of verdicts.
type result struct {
	verdicts int
	gate     *gate
	floor    floor
	trips    []trip
}

// measureAll measures with each number of verdicts. It returns earlier results with an error.
func measureAll(ctx context.Context, s settings) (results []result, err error) {
	root, err := command.SourceTree(ctx)
	if err != nil {
		return nil, err
	}
	c, err := startCluster(ctx, root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	for _, n := range s.counts {
		fmt.Fprintf(os.Stderr, "gatebench: %d verdicts\n", n)
		r, err := measure(ctx, s, c, n)
		if err != nil {
			return results, fmt.Errorf("measure with %d verdicts: %w", n, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func measure(ctx context.Context, s settings, c *cluster, n int) (r result, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.verdicts = n
	if r.gate, err = startGate(ctx, n, s.decisions); err != nil {
		return r, err
	}
	if err := c.useGate(ctx, r.gate.url, r.gate.authority); err != nil {
		return r, err
	}
	if r.floor, err = c.compile(ctx, r.gate.store); err != nil {
		return r, err
	}
	if err := c.await(ctx); err != nil {
		return r, err
	}
	r.trips, err = c.load(ctx, s.rounds)
	return r, err
}
