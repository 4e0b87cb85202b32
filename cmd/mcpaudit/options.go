package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// judging holds the flags of every audit: timeout, threshold and outputs.
type judging struct {
	output   string
	failOn   report.Severity // empty for never
	timeout  time.Duration
	outDir   string
	baseline string
	// suppressions is a file name.
	suppressions string
}

// flags adds the flags of commands that audit one server.
func (o *judging) flags(c *cobra.Command) {
	cli.Output(c, &o.output, render.Outputs()...)
	o.verdictFlags(c)
	f := c.Flags()
	cli.Path(f, &o.baseline, "baseline", "an earlier report.json; the manifest and the behavior must not have changed since")
	cli.Path(f, &o.outDir, "out-dir", "directory to keep report.json and manifest.json in; run also keeps trace.txt")
}

func (o *judging) verdictFlags(c *cobra.Command) {
	cli.FailOn(c, &o.failOn)
	c.Flags().DurationVar(&o.timeout, "timeout", plan.DefaultTimeout, "longest duration of the whole audit, 10s to 1h")
	cli.Path(c.Flags(), &o.suppressions, "suppressions", "YAML or JSON file of findings that are accepted until a date (docs/suppressions.md)")
}

// plan checks the flags and enters them into the plan.
func (o *judging) plan(p *audit.Plan) (err error) {
	if err := plan.Within("--timeout", o.timeout, plan.MinTimeout, plan.MaxTimeout); err != nil {
		return err
	}
	p.Timeout, p.FailOn = o.timeout, o.failOn
	if p.Suppressions, err = o.loadSuppressions(time.Now()); err != nil {
		return err
	}
	p.Baseline, err = o.loadBaseline()
	return err
}

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

// options holds the flags of run.
type options struct {
	judging
	declaring
	probing
	listening
	env     []string
	network report.Network
	noise   bool
	tracer  plan.Tracer
	memory  string
	// program is one of the package's programs.
	program string
	// sbom is the file for the SBOM of the package; empty for none.
	sbom string
	// mcpRegistry is the URL of the registry behind registry:NAME.
	mcpRegistry string
	// config is a client's configuration; all means every server in it. secrets are variable
	// names of one server.
	config  string
	all     bool
	secrets []string
	// exact forbids other arguments and libraries than a client's.
	exact bool
	// minAssurance is the lowest assurance of a Pass.
	minAssurance report.AssuranceLevel
	// set has all flags of the command.
	set *pflag.FlagSet
}

func (o *options) flags(c *cobra.Command) {
	o.judging.flags(c)
	o.auditFlags(c)
	f := c.Flags()
	f.StringVar(&o.program, "program", "", "program of the package to start, where it has several and none of them has its name")
	cli.Path(f, &o.sbom, "sbom", "file for a CycloneDX SBOM of the package and of all that was installed with it")
	f.StringVar(&o.mcpRegistry, "mcp-registry", packages.OfficialRegistry, "MCP registry that registry:NAME is looked up in")
	cli.Path(f, &o.config, "config", "configuration of a client, such as claude_desktop_config.json or .mcp.json: audit the server NAME of it")
	f.BoolVar(&o.all, "all", false, "with --config: audit each of its servers, with a line, or with -o json a report, for each")
	f.BoolVar(&o.noise, "show-noise", false, "show what was left out of the profile: what language runtimes do on their own")
}

// auditFlags adds the flags about how a server is audited.
func (o *options) auditFlags(c *cobra.Command) {
	f := c.Flags()
	o.set = f
	cli.MinAssurance(c, &o.minAssurance)
	o.declaring.flags(f)
	cli.Enum(c, &o.network, cli.Flag{Name: "network", Default: "sinkhole", Usage: "sinkhole (answer every connection and record what is sent), deny (refuse) or allow"},
		cli.Words(report.Networks), cli.Named(report.Networks))
	f.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for the environment of the server; may be repeated")
	o.listening.flags(c)
	o.probing.flags(c, "all")
	o.launchFlags(c)
	f.StringVar(&o.memory, "memory", "2Gi", "memory limit of the server and of what it writes, at least 128Mi")
	cli.Enum(c, &o.tracer, cli.Flag{Name: "tracer", Default: "auto", Usage: "auto, strace or ptrace (built in, needs no strace)"}, cli.Words(plan.Tracers), cli.Named(plan.Tracers))
}

func (o *options) plan(command []string) (p audit.Plan, err error) {
	p.Secrets = o.secrets
	p.Command, p.Exact, p.Network, p.ShowNoise, p.Env = command, o.exact, o.network, o.noise, o.env
	p.MinAssurance = o.minAssurance
	for _, enter := range []func(*audit.Plan) error{o.judging.plan, o.declaring.plan, o.listening.plan, o.probing.plan} {
		if err := enter(&p); err != nil {
			return p, err
		}
	}
	return p, variables(o.env)
}

// minMemory fits the sandbox, the tracer and a small server.
const minMemory = 128 << 20

// memoryLimit reads --memory, in bytes.
func (o *options) memoryLimit() (int64, error) {
	q, err := resource.ParseQuantity(o.memory)
	if err != nil || q.Value() < minMemory {
		return 0, fmt.Errorf("--memory: invalid value %q (want a quantity of at least 128Mi, such as 512Mi or 4Gi)", o.memory)
	}
	return q.Value(), nil
}

// variables checks the values of --env.
func variables(env []string) error {
	for _, entry := range env {
		switch name, _, ok := strings.Cut(entry, "="); {
		case !ok || name == "":
			return fmt.Errorf("--env: invalid value %q (want NAME=VALUE)", entry)
		case name == "HOME":
			return errors.New("--env HOME: reserved, the home directory has the decoy files; set HOME for mcpaudit itself")
		}
	}
	return nil
}
