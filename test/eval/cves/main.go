// Command cves measures how many of the published vulnerabilities in cves.yaml mcpaudit finds: a
// vulnerable version must have a finding of the rule at the tool, a fixed one none of that rule.
//
//	go run ./test/eval/cves -mcpaudit PROGRAM [-checkouts DIR] [-only PATTERN] [-timeout DURATION]
//
// A server is built from the checkout DIR/ID/vulnerable or DIR/ID/fixed, or installed from its
// registry, which needs the network. It is not part of make test.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/command"
	"github.com/mcpaudit/mcpaudit/test/published"
)

//go:embed cves.yaml
var list []byte

// vulnerability is one row of cves.yaml.
type vulnerability struct {
	ID string `json:"id"`
	// Package is "npm:NAME" or "pypi:NAME", Vulnerable and Fixed are versions; empty for none.
	Package    string   `json:"package"`
	Vulnerable string   `json:"vulnerable"`
	Fixed      string   `json:"fixed"`
	Args       []string `json:"args"`
	Env        []string `json:"env"`
	// Tools have the vulnerability, Rules find it.
	Tools []string `json:"tools"`
	Rules []string `json:"rules"`
}

// options are set by flags.
type options struct {
	mcpaudit, checkouts string
	only                *regexp.Regexp
	timeout             time.Duration
}

func main() { command.Main("cves", run) }

func run(ctx context.Context, _ []string) error {
	var o options
	only := flag.String("only", "", "audit the rows whose id matches this regular expression")
	flag.StringVar(&o.mcpaudit, "mcpaudit", "mcpaudit", "the program that audits")
	flag.StringVar(&o.checkouts, "checkouts", "", "directory with ID/vulnerable and ID/fixed")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "longest duration of one audit")
	flag.Parse()
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("invalid -only: %w", err)
	}
	cache, err := command.Cache("")
	if err != nil {
		return err
	}
	var all []vulnerability
	if err := yaml.UnmarshalStrict(list, &all); err != nil {
		return fmt.Errorf("read cves.yaml: %w", err)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tPACKAGE\tVULNERABLE\tFIXED")
	counts := map[string]int{}
	for _, v := range all {
		if ctx.Err() != nil || !o.only.MatchString(v.ID) {
			continue
		}
		found, silent := "none", "none"
		if v.Vulnerable != "" {
			found = v.found(o.audit(ctx, v, "vulnerable", v.Vulnerable, cache))
		}
		if v.Fixed != "" {
			silent = v.silent(o.audit(ctx, v, "fixed", v.Fixed, cache))
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.ID, v.Package, found, silent)
		counts["vulnerable "+kind(found)]++
		counts["fixed "+kind(silent)]++
		fmt.Fprintln(os.Stderr, v.ID+":", found+"; fixed:", silent)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s: %d", what, counts[what]))
	}
	_, err = fmt.Fprintf(os.Stdout, "\n%s\n", strings.Join(lines, ", "))
	return errors.Join(err, ctx.Err())
}

// kind returns the category of an outcome.
func kind(outcome string) string {
	word, _, _ := strings.Cut(outcome, ":")
	return word
}

// audit returns the report of a version from its checkout or its registry.
func (o options) audit(ctx context.Context, v vulnerability, side, version, cache string) (report.Report, error) {
	var r report.Report
	server := v.server(version)
	command, err := server.Checkout(filepath.Join(o.checkouts, v.ID, side))
	if o.checkouts == "" || err != nil {
		command, _, err = server.Install(ctx, filepath.Join(cache, "servers"))
	}
	if err != nil {
		return r, fmt.Errorf("not installed: %w", err)
	}
	raw, err := published.Audit(ctx, o.mcpaudit, []string{"--timeout", o.timeout.String()}, append([]string{"--"}, command...), v.Env)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(raw, &r)
}

func (v vulnerability) server(version string) published.Server {
	if name, ofPython := strings.CutPrefix(v.Package, "pypi:"); ofPython {
		return published.PyPI(name+"=="+version, v.Args...)
	}
	return published.NPM(strings.TrimPrefix(v.Package, "npm:")+"@"+version, v.Args...)
}

// found describes the result for a vulnerable version.
func (v vulnerability) found(r report.Report, err error) string {
	switch at := v.at(r); {
	case err != nil:
		return err.Error()
	case slices.ContainsFunc(at, func(tool string) bool { return slices.Contains(v.Tools, tool) }):
		return "found"
	case len(at) > 0:
		return "found elsewhere: " + strings.Join(at, ", ")
	}
	return fmt.Sprintf("missed: %s, %s", r.Verdict, r.Message)
}

// silent describes the result for a fixed version.
func (v vulnerability) silent(r report.Report, err error) string {
	switch at := v.at(r); {
	case err != nil:
		return err.Error()
	case len(at) > 0:
		return "finding: " + strings.Join(at, ", ")
	case r.Verdict == report.VerdictInconclusive:
		return "silent, but Inconclusive: " + string(r.Reason)
	}
	return "silent"
}

// at returns the tools with a finding of the rules.
func (v vulnerability) at(r report.Report) (tools []string) {
	for _, f := range r.Findings {
		if slices.Contains(v.Rules, f.Rule) && !slices.Contains(tools, f.Capability.Name) {
			tools = append(tools, f.Capability.Name)
		}
	}
	return tools
}
