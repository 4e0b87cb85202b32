// Command scale measures what many audits cost the operator: it lets the manager
// audit thousands of MCPServerAudits against a real API server, and prints a table.
//
// What is real: etcd, the API server with its admission and its flow control, the
// CRDs, the roles of config/rbac, and the manager, which is a process of its own
// that acts as its service account. What is not: there is no scheduler and no
// kubelet. This program plays both (kubelet.go): it binds the audit Pods, lets them
// go through the states that a kubelet reports, with a canned report as the
// outcome, and serves their logs to the API server. A registry with one image runs
// in this process as well.
//
// Requests are counted from the API server's audit log, which has all of them by
// user. Costs are CPU time, which other load on the machine disturbs less than it
// does the time on the wall. Times are printed and fail nothing; what fails is: more
// than maxWrites writes for an audit, more memory than maxRSS, anything written by a
// manager that is restarted when all is decided, anything left in the run
// namespace, and a verdict that is not that of the report.
//
// A tenant with many audits of the largest size is measured apart (maximal.go).
//
//	scale [-n 100,1000,5000] [--slots N] [--namespace-slots N] [--maximal N] [--keep]
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
	// counts are how many audits to measure with, one after the other.
	counts []int
	// slots and namespaceSlots are those of the manager.
	slots, namespaceSlots int
	// keep leaves the working directory, with the log of the manager.
	keep bool
	// maximal is how many audits as large as they may be one tenant has.
	maximal int
}

// defaults give the manager more slots than it has by itself: it is to be busy.
func defaults() settings {
	return settings{counts: []int{100, 1000, 5000}, slots: 20, namespaceSlots: 2, maximal: 1000}
}

func main() { command.Main("scale", run) }

func run(ctx context.Context, args []string) error {
	s := defaults()
	flags := pflag.NewFlagSet("scale", pflag.ContinueOnError)
	flags.IntSliceVarP(&s.counts, "audits", "n", s.counts, "numbers of audits to measure with")
	flags.IntVar(&s.slots, "slots", s.slots, "slots of the manager")
	flags.IntVar(&s.namespaceSlots, "namespace-slots", s.namespaceSlots, "slots of the manager for one namespace")
	flags.IntVar(&s.maximal, "maximal", s.maximal, "number of audits of maximal size, of one tenant; 0 for none")
	flags.BoolVar(&s.keep, "keep", s.keep, "keep the working directory, with the log of the manager")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard()) // that of envtest; the manager has its own
	results, largest, err := measureAll(ctx, s)
	if len(results) > 0 { // what was measured before something went wrong counts
		err = errors.Join(err, printTable(os.Stdout, s, results))
	}
	if largest.audits > 0 {
		err = errors.Join(err, largest.print(os.Stdout), largest.check())
	}
	return errors.Join(err, check(s, results))
}

// measureAll makes the working directory and the manager, and measures. With an
// error it returns what was measured before.
func measureAll(ctx context.Context, s settings) (results []result, largest maximal, err error) {
	dir, err := os.MkdirTemp("", "mcpaudit-scale-")
	if err != nil {
		return nil, largest, err
	}
	if s.keep {
		fmt.Fprintln(os.Stderr, "scale: working in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	root, binary, err := buildManager(ctx, dir)
	if err != nil {
		return nil, largest, err
	}
	for _, n := range s.counts {
		fmt.Fprintf(os.Stderr, "scale: %d audits\n", n)
		r, err := measure(ctx, s, root, binary, dir, n)
		if err != nil {
			return results, largest, fmt.Errorf("measure %d audits: %w", n, err)
		}
		results = append(results, r)
	}
	if s.maximal > 0 {
		fmt.Fprintf(os.Stderr, "scale: %d maximal audits\n", s.maximal)
		if largest, err = measureMaximal(ctx, s, root, binary, dir); err != nil {
			return results, maximal{}, fmt.Errorf("measure maximal audits: %w", err)
		}
	}
	return results, largest, nil
}
