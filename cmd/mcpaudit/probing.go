package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// maxInputs bounds the file of --inputs, in bytes.
const maxInputs = 1 << 20

// probing holds the flags for how a server is exercised.
type probing struct {
	plan.Probe
	inputs string
	// harmless means that guards are not tried.
	harmless bool
}

func (o *probing) flags(c *cobra.Command, calls string) {
	words := cli.Words(report.CallsChoices)
	cli.Enum(c, &o.Calls, cli.Flag{Name: "calls", Default: calls, Usage: "tools to call: " + strings.Join(words, ", ") + "; with never, nothing is exercised"}, words, cli.Named(report.CallsChoices))
	f := c.Flags()
	f.IntVar(&o.Rounds, "rounds", plan.DefaultRounds, "how often everything is exercised, 1 to 10")
	f.IntVar(&o.MaxCallsPerTool, "max-calls-per-tool", plan.DefaultMaxCallsPerTool, "most calls of one tool over all rounds, 1 to 1000")
	f.DurationVar(&o.CallTimeout.Duration, "call-timeout", plan.DefaultCallTimeout, "longest duration of one call, 1s to 10m")
	cli.Path(f, &o.inputs, "inputs", `file of arguments that cannot be guessed: {"TOOL": {"ARGUMENT": value}}`)
	f.StringArrayVar(&o.SkipTools, "skip-tool", nil, "name of a tool not to call; may be repeated")
	f.Int64Var(&o.Seed, "seed", 0, "seed of the generated arguments; the same seed generates the same ones")
}

// launchFlags adds the flags for servers that are started here.
func (o *probing) launchFlags(c *cobra.Command) {
	cli.Enum(c, &o.Depth, cli.Flag{Name: "depth", Default: "standard", Usage: "quick (start the server again, as it is and for another client), " +
		"standard (and at a later date, in other surroundings, under attack) or deep (the same, with more time for each)"},
		cli.Words(report.Depths), cli.Named(report.Depths))
	c.Flags().BoolVar(&o.harmless, "no-attack", false, "do not start the server once more to try its guards")
}

// probingFlags maps fields with a range to their flags.
var probingFlags = map[string]string{"rounds": "--rounds", "maxCallsPerTool": "--max-calls-per-tool", "callTimeout": "--call-timeout"}

// plan checks the flags and enters them into the plan.
func (o *probing) plan(p *audit.Plan) error {
	var outside plan.RangeError
	if errors.As(o.Check(), &outside) {
		outside.Field = probingFlags[outside.Field]
		return outside
	}
	if slices.Contains(o.SkipTools, "") {
		return errors.New("--skip-tool: invalid value \"\" (want the name of a tool)")
	}
	var err error
	if o.Inputs, err = readInputs(o.inputs); err != nil {
		return fmt.Errorf("--inputs: %w", err)
	}
	p.Probe = o.Probe
	if o.harmless {
		p.Probe.Attack = plan.AttackOff
	}
	return nil
}

// readInputs reads arguments by tool.
func readInputs(file string) (map[string]json.RawMessage, error) {
	if file == "" {
		return nil, nil
	}
	b, err := readFile(file, maxInputs)
	if err != nil {
		return nil, err
	}
	const form = `want {"TOOL": {"ARGUMENT": value}}`
	var given map[string]json.RawMessage
	if err := json.Unmarshal(b, &given); err != nil {
		return nil, fmt.Errorf("%s: %w; %s", file, err, form)
	}
	for tool, arguments := range given {
		if !bytes.HasPrefix(bytes.TrimSpace(arguments), []byte("{")) {
			return nil, fmt.Errorf("%s: the arguments of %q are not an object; %s", file, tool, form)
		}
	}
	return given, nil
}
