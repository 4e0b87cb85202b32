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
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// The ranges of the flags that say how a server is exercised, which are those of
// the operator's spec.
const (
	maxRounds      = 10
	maxCalls       = 1000
	minCallTimeout = time.Second
	maxCallTimeout = 10 * time.Minute
	// maxInputs is the size of the file of --inputs, in bytes.
	maxInputs = 1 << 20
)

// probing are the flags that say how a server is exercised.
type probing struct {
	calls       string
	rounds      int
	maxCalls    int
	callTimeout time.Duration
	inputs      string
	skip        []string
	seed        int64
}

func (o *probing) flags(f *pflag.FlagSet) {
	if o.calls == "" {
		o.calls = "all"
	}
	f.StringVar(&o.calls, "calls", o.calls, "which tools are called: all, read-only-hinted (and whatever is no tool) or never")
	f.IntVar(&o.rounds, "rounds", 3, "how often everything is exercised, 1 to 10")
	f.IntVar(&o.maxCalls, "max-calls-per-tool", 24, "how often one tool is called at most, over all rounds, 1 to 1000")
	f.DurationVar(&o.callTimeout, "call-timeout", 30*time.Second, "how long one call may take, 1s to 10m")
	f.StringVar(&o.inputs, "inputs", "", `a file of arguments that nobody could guess: {"TOOL": {"ARGUMENT": value}}`)
	f.StringArrayVar(&o.skip, "skip-tool", nil, "name of a tool that is not called; may be repeated")
	f.Int64Var(&o.seed, "seed", 0, "makes the arguments: the same seed gives the same ones again")
}

// plan checks the flags and enters them.
func (o *probing) plan(p *audit.Plan) error {
	calls, ok := named(report.CallsChoices, o.calls)
	switch {
	case !ok:
		return fmt.Errorf("--calls %q: it is all, read-only-hinted or never", o.calls)
	case o.rounds < 1 || o.rounds > maxRounds:
		return fmt.Errorf("--rounds %d: it is from 1 to %d", o.rounds, maxRounds)
	case o.maxCalls < 1 || o.maxCalls > maxCalls:
		return fmt.Errorf("--max-calls-per-tool %d: it is from 1 to %d", o.maxCalls, maxCalls)
	case o.callTimeout < minCallTimeout || o.callTimeout > maxCallTimeout:
		return fmt.Errorf("--call-timeout %s: it is from 1s to 10m", o.callTimeout)
	case slices.Contains(o.skip, ""):
		return errors.New(`--skip-tool "": it is the name of a tool`)
	}
	given, err := readInputs(o.inputs)
	if err != nil {
		return fmt.Errorf("--inputs: %w", err)
	}
	p.Probe = audit.ProbePlan{
		Calls: calls, Rounds: o.rounds, MaxCallsPerTool: o.maxCalls, CallTimeout: o.callTimeout,
		Inputs: given, SkipTools: o.skip, Seed: o.seed,
	}
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
	transport, ok := transportOf(o.transport)
	switch {
	case !ok:
		return fmt.Errorf("--transport %q: it is stdio, http or sse", o.transport)
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--port %d: it is from 1 to 65535", o.port)
	case transport == report.TransportStdio && o.port != 0:
		return fmt.Errorf("--port %d: a stdio server has none: add --transport http or sse", o.port)
	case transport == report.TransportStdio && o.path != "":
		return fmt.Errorf("--path %q: a stdio server has none: add --transport http or sse", o.path)
	case o.path != "" && (o.path[0] != '/' || strings.ContainsAny(o.path, "# \t\r\n")):
		return fmt.Errorf("--path %q: it begins with / and has neither blanks nor #, as in /mcp", o.path)
	}
	p.Transport, p.Port, p.Path = transport, uint16(o.port), o.path
	return nil
}

// transportOf knows the transports by their names, and streamable HTTP as http.
func transportOf(flag string) (report.Transport, bool) {
	if flag == "http" {
		return report.TransportStreamableHTTP, true
	}
	return named(report.Transports, strings.ToLower(flag))
}
