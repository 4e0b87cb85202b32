package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// maxInputs is the size of the file of --inputs, in bytes.
const maxInputs = 1 << 20

// probing are the flags that say how a server is exercised.
type probing struct {
	plan.Probe
	calls, inputs string
}

func (o *probing) flags(f *pflag.FlagSet) {
	if o.calls == "" {
		o.calls = "all"
	}
	f.StringVar(&o.calls, "calls", o.calls, "which tools are called: all, read-only-hinted (and whatever is no tool) or never")
	f.IntVar(&o.Rounds, "rounds", plan.DefaultRounds, "how often everything is exercised, 1 to 10")
	f.IntVar(&o.MaxCallsPerTool, "max-calls-per-tool", plan.DefaultMaxCallsPerTool, "how often one tool is called at most, over all rounds, 1 to 1000")
	f.DurationVar(&o.CallTimeout.Duration, "call-timeout", plan.DefaultCallTimeout, "how long one call may take, 1s to 10m")
	f.StringVar(&o.inputs, "inputs", "", `a file of arguments that nobody could guess: {"TOOL": {"ARGUMENT": value}}`)
	f.StringArrayVar(&o.SkipTools, "skip-tool", nil, "name of a tool that is not called; may be repeated")
	f.Int64Var(&o.Seed, "seed", 0, "makes the arguments: the same seed gives the same ones again")
}

// probingFlags are the flags of the fields that have a range.
var probingFlags = map[string]string{"rounds": "--rounds", "maxCallsPerTool": "--max-calls-per-tool", "callTimeout": "--call-timeout"}

// plan checks the flags and enters them.
func (o *probing) plan(p *audit.Plan) error {
	var known bool
	if o.Calls, known = named(report.CallsChoices, o.calls); !known {
		return fmt.Errorf("--calls: invalid value %q (want all, read-only-hinted or never)", o.calls)
	}
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
	return nil
}

// readInputs reads arguments by tool.
func readInputs(file string) (map[string]json.RawMessage, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	b, err := io.ReadAll(io.LimitReader(f, maxInputs+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxInputs {
		return nil, fmt.Errorf("%s has more than %d KiB", file, maxInputs>>10)
	}
	const form = `it is of the form {"TOOL": {"ARGUMENT": value}}`
	var given map[string]json.RawMessage
	if err := json.Unmarshal(b, &given); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", file, err, form)
	}
	for tool, arguments := range given {
		if !bytes.HasPrefix(bytes.TrimSpace(arguments), []byte("{")) {
			return nil, fmt.Errorf("%s: the arguments of %q are no object: %s", file, tool, form)
		}
	}
	return given, nil
}

// listening are the flags that say how a server is talked to.
type listening struct {
	transport string
	port      int
	path      string
}

func (o *listening) flags(f *pflag.FlagSet) {
	f.StringVar(&o.transport, "transport", "stdio", "how the server is talked to: stdio, http (streamable HTTP) or sse (HTTP+SSE)")
	f.IntVar(&o.port, "port", 0, "port that the server listens on, with http and sse; 0 is the first that it does listen on")
	f.StringVar(&o.path, "path", "", "path of the endpoint on it (default /mcp, with sse /sse)")
}

// plan checks the flags and enters them.
func (o *listening) plan(p *audit.Plan) error {
	transport, ok := plan.ByFlag(o.transport)
	switch {
	case !ok:
		return fmt.Errorf("--transport %q: it is stdio, http or sse", o.transport)
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--port %d: it is from 1 to 65535", o.port)
	case !transport.Listens && o.port != 0:
		return fmt.Errorf("--port %d: a stdio server has none: add --transport http or sse", o.port)
	case !transport.Listens && o.path != "":
		return fmt.Errorf("--path %q: a stdio server has none: add --transport http or sse", o.path)
	case o.path != "" && (o.path[0] != '/' || strings.ContainsAny(o.path, "# \t\r\n")):
		return fmt.Errorf("--path %q: it begins with / and has neither blanks nor #, as in /mcp", o.path)
	}
	p.Transport, p.Port, p.Path = transport.Name, uint16(o.port), o.path
	return nil
}
