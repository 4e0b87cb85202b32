package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// planVariable is the environment variable with the plan of the manager.
const planVariable = "MCPAUDIT_PLAN"

// plan is what the manager says; controllers/podspec writes it. What is not given
// has the engine's default.
type plan struct {
	Timeout string          `json:"timeout"`
	FailOn  report.Severity `json:"failOn"`
	Command []string        `json:"command"`
	Network report.Network  `json:"network"`
	Tracer  trace.Backend   `json:"tracer"`
	// Transport, and where the server listens: at Port and Path of this Pod, or at
	// URL.
	Transport report.Transport `json:"transport"`
	Port      uint16           `json:"port"`
	Path      string           `json:"path"`
	URL       string           `json:"url"`
	// APIServers are addresses of the cluster's API server, which URL must not lead to.
	APIServers []netip.Addr `json:"apiServers"`
	// Scope is what the operator allows; absent: what the manifest declares.
	Scope        *report.DeclaredScope `json:"declaredScope"`
	Suppressions []report.Suppression  `json:"suppressions"`
	Probe        struct {
		Calls           report.Calls               `json:"calls"`
		Rounds          int                        `json:"rounds"`
		MaxCallsPerTool int                        `json:"maxCallsPerTool"`
		CallTimeout     string                     `json:"callTimeout"`
		Inputs          map[string]json.RawMessage `json:"inputs"`
		SkipTools       []string                   `json:"skipTools"`
		Seed            int64                      `json:"seed"`
	} `json:"probe"`
}

// assignment is a plan that was read.
type assignment struct {
	audit  audit.Plan
	tracer trace.Backend
	url    string
	// apiServers are addresses that url must not lead to.
	apiServers []netip.Addr
}

func readPlan(text string) (assignment, error) {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return assignment{}, fmt.Errorf("read %s: %w", planVariable, err)
	}
	probe, err := p.probe()
	timeout, timeoutErr := duration("timeout", p.Timeout)
	if err := errors.Join(p.check(), err, timeoutErr); err != nil {
		return assignment{}, fmt.Errorf("read %s: %w", planVariable, err)
	}
	return assignment{tracer: p.Tracer, url: p.URL, apiServers: p.APIServers, audit: audit.Plan{
		Network: cmp.Or(p.Network, report.NetworkSinkhole), Command: p.Command, FailOn: p.FailOn, Timeout: timeout,
		Transport: cmp.Or(p.Transport, report.TransportStdio), Port: p.Port, Path: p.Path, Probe: probe,
		Scope: p.Scope, Suppressions: p.Suppressions,
	}}, nil
}

// check holds the words to those that are known, and the transport to having an
// end: a manager of another version must not have another audit made than it says.
func (p plan) check() error {
	listens := p.Transport != "" && p.Transport != report.TransportStdio
	return errors.Join(
		known("failOn", p.FailOn, report.Severities),
		known("tracer", p.Tracer, trace.Backends),
		known("network", p.Network, report.Networks),
		known("transport", p.Transport, report.Transports),
		known("calls", p.Probe.Calls, report.CallsChoices),
		demand(p.URL == "" || listens, "url needs a transport over HTTP"),
		demand(p.URL != "" || listens == (p.Port != 0), "a port goes with a transport over HTTP"),
	)
}

func (p plan) probe() (audit.ProbePlan, error) {
	probe := audit.ProbePlan{
		Calls: p.Probe.Calls, Rounds: p.Probe.Rounds, MaxCallsPerTool: p.Probe.MaxCallsPerTool,
		Inputs: p.Probe.Inputs, SkipTools: p.Probe.SkipTools, Seed: p.Probe.Seed,
	}
	if p.Probe.CallTimeout == "" {
		return probe, nil
	}
	var err error
	probe.CallTimeout, err = duration("callTimeout", p.Probe.CallTimeout)
	return probe, err
}

func duration(name, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s %q is not a duration", name, text)
	}
	return d, nil
}

// known accepts an empty word: it stands for the default.
func known[T ~string](name string, word T, words []T) error {
	return demand(word == "" || slices.Contains(words, word), "%s %q is none of %q", name, word, words)
}

func demand(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}
