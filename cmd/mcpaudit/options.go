package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// The range of --timeout, which is that of the operator's spec.
const (
	minTimeout = 10 * time.Second
	maxTimeout = time.Hour
)

// judging are the flags of every audit: its time, what it is measured by, and
// where the report goes.
type judging struct {
	output   string
	failOn   string
	timeout  time.Duration
	outDir   string
	baseline string
	// suppressions is the name of a file.
	suppressions string
	help         bool
}

func flagSet(command string) *pflag.FlagSet {
	f := pflag.NewFlagSet(command, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard) // errors are ours to print, in one line
	return f
}

func (o *judging) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.output, "output", "o", "table", strings.Join(render.Outputs(), ", "))
	f.StringVar(&o.failOn, "fail-on", "high", "lowest severity that fails: never, info, low, medium, high or critical")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "longest time of the whole audit, 10s to 1h")
	f.StringVar(&o.baseline, "baseline", "", "an earlier report.json: the manifest and what the server does must not have changed since")
	f.StringVar(&o.suppressions, "suppressions", "", "YAML or JSON: findings that are known and accepted for a time (docs/suppressions.md)")
	f.StringVar(&o.outDir, "out-dir", "", "directory to keep report.json and manifest.json in, and trace.txt of run")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
}

// plan checks the flags and enters them.
func (o *judging) plan(p *audit.Plan) (err error) {
	if !slices.Contains(render.Outputs(), o.output) {
		return fmt.Errorf("--output %q: it is one of %s", o.output, strings.Join(render.Outputs(), ", "))
	}
	if o.timeout < minTimeout || o.timeout > maxTimeout {
		return fmt.Errorf("--timeout %s: it is from 10s to 1h", o.timeout)
	}
	if p.FailOn, err = o.threshold(); err != nil {
		return err
	}
	p.Timeout = o.timeout
	if p.Suppressions, err = o.loadSuppressions(time.Now()); err != nil {
		return err
	}
	p.Baseline, err = o.loadBaseline()
	return err
}

// threshold is the severity of --fail-on; empty for never.
func (o *judging) threshold() (report.Severity, error) {
	if o.failOn == "never" {
		return "", nil
	}
	s, ok := named(report.Severities, o.failOn)
	if !ok {
		return "", fmt.Errorf("--fail-on %q: it is never, info, low, medium, high or critical", o.failOn)
	}
	return s, nil
}

// named finds a word of the engine by that of a flag: lower-case, with hyphens.
func named[T ~string](words []T, flag string) (T, bool) {
	for _, w := range words {
		if strings.ReplaceAll(flag, "-", "") == strings.ToLower(string(w)) {
			return w, true
		}
	}
	return "", false
}

// loadBaseline reads the report of --baseline.
func (o *judging) loadBaseline() (*report.Report, error) {
	if o.baseline == "" {
		return nil, nil
	}
	r, err := readReport(o.baseline)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return &r, nil
}

// options are the flags of run.
type options struct {
	judging
	declaring
	probing
	listening
	env     []string
	network string
	noise   bool
	tracer  string
	memory  string
}

func (o *options) flags() *pflag.FlagSet {
	f := flagSet("run")
	o.judging.flags(f)
	o.declaring.flags(f)
	f.StringVar(&o.network, "network", "sinkhole", "sinkhole (answer every connection, record what is sent), deny (refuse) or allow")
	f.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for the environment of the server; may be repeated")
	o.listening.flags(f)
	o.probing.flags(f)
	f.BoolVar(&o.noise, "show-noise", false, "show what was left out of the profile: what runtimes do by themselves")
	f.StringVar(&o.memory, "memory", "2Gi", "most memory that the server and what it writes may take, at least 64Mi")
	f.StringVar(&o.tracer, "tracer", "auto", "auto, strace or ptrace (our own, which needs no strace)")
	return f
}

// parse reads the flags and the command behind them.
func (o *options) parse(args []string) (p audit.Plan, tracer plan.Tracer, err error) {
	f := o.flags()
	f.SetInterspersed(false) // the command's own flags are not ours
	if err := f.Parse(args); err != nil {
		return p, "", misused(f, err)
	}
	if o.help {
		return p, "", nil
	}
	ok := false
	if p.Network, ok = named(report.Networks, o.network); !ok {
		return p, "", fmt.Errorf("--network %q: it is sinkhole, deny or allow", o.network)
	}
	if tracer, ok = named(plan.Tracers, o.tracer); !ok {
		return p, "", fmt.Errorf("--tracer %q: it is auto, strace or ptrace", o.tracer)
	}
	if p.Command = f.Args(); len(p.Command) == 0 {
		return p, "", errors.New("there is no server to audit: put its command behind --, as in mcpaudit run -- node server.js")
	}
	p.ShowNoise, p.Env = o.noise, o.env
	for _, err := range []error{o.judging.plan(&p), o.declaring.plan(&p), o.listening.plan(&p), o.probing.plan(&p), variables(o.env)} {
		if err != nil {
			return p, "", err
		}
	}
	return p, tracer, nil
}

// minMemory is the least that the stages, the tracer and a small server fit into.
const minMemory = 64 << 20

// memoryLimit reads --memory, in bytes.
func (o *options) memoryLimit() (int64, error) {
	q, err := resource.ParseQuantity(o.memory)
	if err != nil || q.Value() < minMemory {
		return 0, fmt.Errorf("--memory %q: it is a quantity of at least 64Mi, such as 512Mi or 4Gi", o.memory)
	}
	return q.Value(), nil
}

// variables checks those of --env.
func variables(env []string) error {
	for _, entry := range env {
		switch name, _, ok := strings.Cut(entry, "="); {
		case !ok || name == "":
			return fmt.Errorf("--env %q: it is of the form NAME=VALUE", entry)
		case name == "HOME":
			return errors.New("--env HOME: the home holds the decoy files: set HOME for mcpaudit itself")
		}
	}
	return nil
}
