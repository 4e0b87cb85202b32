package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The range of --timeout, which is that of the operator's spec.
const (
	minTimeout = 10 * time.Second
	maxTimeout = time.Hour
)

// options are the flags of run.
type options struct {
	output   string
	failOn   string
	timeout  time.Duration
	outDir   string
	baseline string
	network  string
	noise    bool
	tracer   string
	help     bool
}

func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard) // errors are ours to print, in one line
	f.StringVarP(&o.output, "output", "o", "table", "table or json")
	f.StringVar(&o.failOn, "fail-on", "high", "lowest severity that fails: never, info, low, medium, high or critical")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "longest time of the whole audit, 10s to 1h")
	f.StringVar(&o.network, "network", "sinkhole", "sinkhole (answer every connection, record what is sent), deny (refuse) or allow")
	f.StringVar(&o.outDir, "out-dir", "", "directory to keep report.json, manifest.json and trace.txt in")
	f.StringVar(&o.baseline, "baseline", "", "an earlier report.json: the manifest must not have changed since")
	f.BoolVar(&o.noise, "show-noise", false, "show what was left out of the profile: what runtimes do by themselves")
	f.StringVar(&o.tracer, "tracer", "auto", "auto, strace or ptrace (our own, which needs no strace)")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// parse reads the flags and the command behind them.
func (o *options) parse(args []string) (command []string, err error) {
	f := o.flags()
	f.SetInterspersed(false) // the command's own flags are not ours
	if err := f.Parse(args); err != nil {
		return nil, fmt.Errorf("%w: see mcpaudit help", err)
	}
	if o.help {
		return nil, nil
	}
	if o.output != "table" && o.output != "json" {
		return nil, fmt.Errorf("--output %q: it is table or json", o.output)
	}
	if _, err := o.threshold(); err != nil {
		return nil, err
	}
	if _, err := o.sandboxNetwork(); err != nil {
		return nil, err
	}
	if o.timeout < minTimeout || o.timeout > maxTimeout {
		return nil, fmt.Errorf("--timeout %s: it is from 10s to 1h", o.timeout)
	}
	if _, err := o.backend(); err != nil {
		return nil, err
	}
	if f.NArg() == 0 {
		return nil, errors.New("there is no server to audit: put its command behind --, as in mcpaudit run -- node server.js")
	}
	return f.Args(), nil
}

// threshold is the severity of --fail-on; empty for never.
func (o *options) threshold() (report.Severity, error) {
	if o.failOn == "never" {
		return "", nil
	}
	for _, s := range report.Severities {
		if o.failOn == strings.ToLower(string(s)) {
			return s, nil
		}
	}
	return "", fmt.Errorf("--fail-on %q: it is never, info, low, medium, high or critical", o.failOn)
}

// sandboxNetwork is the network of --network.
func (o *options) sandboxNetwork() (report.Network, error) {
	for _, n := range report.Networks {
		if o.network == strings.ToLower(string(n)) {
			return n, nil
		}
	}
	return "", fmt.Errorf("--network %q: it is sinkhole, deny or allow", o.network)
}

// backend is the tracer of --tracer.
func (o *options) backend() (trace.Backend, error) {
	for _, b := range trace.Backends {
		if o.tracer == strings.ToLower(string(b)) {
			return b, nil
		}
	}
	return "", fmt.Errorf("--tracer %q: it is auto, strace or ptrace", o.tracer)
}

// loadBaseline reads the report of --baseline.
func (o *options) loadBaseline() (*report.Report, error) {
	if o.baseline == "" {
		return nil, nil
	}
	b, err := os.ReadFile(o.baseline)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	r, err := report.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("--baseline %s: %w: give the report.json of an earlier run", o.baseline, err)
	}
	if r.ManifestDigest == "" {
		return nil, fmt.Errorf("--baseline %s: that audit could not list the manifest: give the report.json of one that could", o.baseline)
	}
	return &r, nil
}
