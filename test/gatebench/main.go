// Command gatebench measures what the gate costs whoever creates a workload: the
// decision by itself, and round trips to a real API server, with 0 to 50,000 verdicts.
//
// What is real: etcd, the API server, the webhook's handler with its index behind TLS,
// in a process of its own, the ValidatingWebhookConfiguration and the policies of
// config/, and the lists that controllers/offline compiles. What is not: verdicts come
// from audits that nobody made (verdicts.go), which informers tell the index of as they
// would if they were in the API server.
//
// The same object is created in five namespaces in turns: plain has no label, webhook is
// judged by the webhook only, lists by the API server's deny list only (DenyFailed), both
// by both, as it is by default, and strict by the webhook and the allow list as well
// (RequirePassed). So whatever else the machine does slows all of them down alike.
//
// Times are printed. What fails is: an answer other than it has to be; round trips in both
// above maxRatio (maxRatioMany) times those in plain, by their medians; a median of the decision that
// grows with the number of verdicts, or misses what is the target of the 99th percentile.
//
//	gatebench [-n 0,100,5000,50000] [--rounds N] [--decisions N]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/test/command"
)

// settings are set by flags.
type settings struct {
	// counts are the numbers of verdicts to measure with, one after the other, besides
	// those on the images that are asked about.
	counts []int
	// rounds is how often each object is created in each namespace by one client.
	rounds int
	// decisions is how often the handler is asked for each object, without a network.
	decisions int
}

func defaults() settings {
	return settings{counts: []int{0, 100, 5000, 50000}, rounds: 100, decisions: 3000}
}

func main() { command.Main("gatebench", run) }

// served is the first argument of the process that is the gate.
const served = "serve"

func run(ctx context.Context, args []string) error {
	ctrl.SetLogger(logr.Discard())
	if len(args) > 0 && args[0] == served {
		return serve(ctx, args[1:])
	}
	s := defaults()
	flags := pflag.NewFlagSet("gatebench", pflag.ContinueOnError)
	flags.IntSliceVarP(&s.counts, "verdicts", "n", s.counts, "numbers of verdicts to measure with")
	flags.IntVar(&s.rounds, "rounds", s.rounds, "how often each object is created in each namespace by one client")
	flags.IntVar(&s.decisions, "decisions", s.decisions, "how often the handler is asked about each object")
	if err := flags.Parse(args); err != nil {
		return err
	}
	results, err := measureAll(ctx, s)
	if len(results) > 0 { // what was measured before something went wrong counts
		err = errors.Join(err, printTable(os.Stdout, results))
	}
	return errors.Join(err, check(results))
}

// result was measured with one number of verdicts.
type result struct {
	verdicts int
	gate     readiness
	left     remains
	floor    floor
	trips    []trip
}

// measureAll starts the API server, and measures with each number of verdicts. With an
// error it returns what was measured before.
func measureAll(ctx context.Context, s settings) (results []result, err error) {
	root, err := command.SourceTree(ctx)
	if err != nil {
		return nil, err
	}
	c, err := startCluster(ctx, root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
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
	r.verdicts = n
	g, err := startGate(ctx, n, s.decisions)
	if err != nil {
		return r, err
	}
	defer func() {
		left, stopped := g.stop()
		r.left, err = left, errors.Join(err, stopped)
	}()
	r.gate = g.readiness
	if err := c.ask(ctx, g.URL, g.Authority); err != nil {
		return r, err
	}
	if r.floor, err = c.compile(ctx, n); err != nil {
		return r, err
	}
	if err := c.await(ctx); err != nil {
		return r, err
	}
	r.trips, err = c.load(ctx, s.rounds)
	return r, err
}

// arguments of the process that is the gate.
func arguments(n, decisions int) []string {
	return []string{served, "-n", strconv.Itoa(n), "--decisions", strconv.Itoa(decisions)}
}

// kubectl is among what the API server is started from.
func kubectl() string { return filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl") }
