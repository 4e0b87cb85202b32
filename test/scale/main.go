// Command scale measures the operator's costs for thousands of MCPServerAudits on a real API
// server, and prints a table.
//
// etcd, the API server with admission and flow control, the CRDs, the roles of config/rbac and
// the manager, a separate process with its service account, are real. The scheduler, the kubelet
// (kubelet.go) and a registry with one image are simulated in this process: audit Pods are bound
// and go through a kubelet's states, with a canned report as the result.
//
// Requests are counted from the API server's audit log. Costs are CPU time, which other load on
// the machine affects less than wall time. Times are only printed. The command fails if an audit
// takes more than maxWrites writes, the manager more memory than maxRSS, a manager restarted
// after all verdicts writes anything, the run namespace is not empty in the end, or a verdict
// differs from the report's.
//
// A tenant with many audits of maximal size is measured separately (maximal.go).
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
	// counts are the numbers of audits to measure with, in turn.
	counts []int
	// slots and namespaceSlots are in the manager's configuration.
	slots, namespaceSlots int
	// keep keeps the working directory, with the manager's log.
	keep bool
	// maximal is the number of audits of maximal size.
	maximal int
}

// defaults returns settings with more slots than the manager's default, to keep it busy.
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
	ctrl.SetLogger(logr.Discard()) // of envtest; the manager logs to a file
	results, largest, err := measureAll(ctx, s)
	if len(results) > 0 { // also those before an error
		err = errors.Join(err, printTable(os.Stdout, s, results))
	}
	if largest.audits > 0 {
		err = errors.Join(err, largest.print(os.Stdout), largest.check())
	}
	return errors.Join(err, check(s, results))
}

// measureAll builds the manager and measures. It returns earlier results with an error.
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
