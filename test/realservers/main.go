// Command realservers audits published MCP servers (test/published) with a given
// mcpaudit, one after the other, and prints what it made of each: the verdict, how
// much it rests on, how many of the tools ever accepted a call, the findings, and
// why not. Whether a finding is right is for a reader to say.
//
//	go run ./test/realservers -mcpaudit PROGRAM [-only PATTERN] [-timeout DURATION] [-results DIR] [-resume]
//
// Each report is kept in the directory of results. With -resume a server that has
// one there is not audited again, so that a run that broke off can be gone on with.
//
// With -reference it audits the reference servers alone, the one that has every
// feature over each transport, and fails where less than 90 % of the branches of the
// input schemas were taken, or something was not exercised.
//
// It installs them by npm, pip and go into the cache, so that it needs the network;
// no part of make test.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/published"

	"github.com/mcpaudit/mcpaudit/test/command"
)

// options are those of the command line.
type options struct {
	mcpaudit, results string
	only              *regexp.Regexp
	timeout           time.Duration
	tracer            string
	reference, resume bool
}

func main() { command.Main("realservers", run) }

func run(ctx context.Context, _ []string) error {
	cache := os.Getenv("MCPAUDIT_CACHE")
	if cache == "" {
		return errors.New("MCPAUDIT_CACHE is not set: run make real-servers")
	}
	o, err := parse(filepath.Join(cache, "real-servers", "reports"))
	if err != nil {
		return err
	}
	var all []audited
	for _, s := range servers(o.reference) {
		if !o.only.MatchString(s.Source) {
			continue
		}
		a, err := o.audit(ctx, s, filepath.Join(cache, "servers"))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			a.missing = err.Error()
		}
		fmt.Fprintln(os.Stderr, a.source+":", a.verdict())
		all = append(all, a)
	}
	if err := write(os.Stdout, all); err != nil {
		return err
	}
	if short := uncovered(all); o.reference && len(short) > 0 {
		return fmt.Errorf("not exercised as they should be: %s", strings.Join(short, ", "))
	}
	return nil
}

func parse(results string) (options, error) {
	var o options
	only := flag.String("only", "", "audit the servers whose source matches this regular expression")
	flag.StringVar(&o.mcpaudit, "mcpaudit", "mcpaudit", "the program that audits")
	flag.StringVar(&o.results, "results", results, "directory that the reports are kept in")
	flag.BoolVar(&o.resume, "resume", false, "audit no server again that has a report in -results")
	flag.DurationVar(&o.timeout, "timeout", 4*time.Minute, "longest duration of one audit")
	flag.StringVar(&o.tracer, "tracer", "auto", "auto, strace or ptrace")
	flag.BoolVar(&o.reference, "reference", false, "audit the reference servers only, and hold them to their coverage")
	flag.Parse()
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("invalid -only: %w", err)
	}
	return o, os.MkdirAll(o.results, 0o755)
}

// target is a server and the transport that it is talked to over; stdio if empty.
type target struct {
	published.Server
	transport string
}

// referenceScope is where the reference servers are.
const referenceScope = "@modelcontextprotocol/server-"

// servers are all, or the four reference servers over what they speak.
func servers(reference bool) []target {
	var all []target
	for _, s := range published.Servers {
		name, isReference := strings.CutPrefix(s.Name(), referenceScope)
		isReference = isReference && slices.Contains([]string{"everything", "filesystem", "memory", "sequential-thinking"}, name)
		if reference && !isReference {
			continue
		}
		all = append(all, target{Server: s})
		if reference && name == "everything" {
			overHTTP, overSSE := s, s
			overHTTP.Args, overSSE.Args = []string{"streamableHttp"}, []string{"sse"}
			all = append(all, target{overHTTP, "http"}, target{overSSE, "sse"})
		}
	}
	return all
}

// audited is a server and its report, or why there is none.
type audited struct {
	source, missing string
	report          report.Report
}

// audit returns the report of a server: the one that is kept, or a new one.
func (o options) audit(ctx context.Context, t target, servers string) (audited, error) {
	a := audited{source: strings.TrimSpace(t.Source + " " + t.transport)}
	kept := filepath.Join(o.results, t.Key()+t.transport+".json")
	raw, err := os.ReadFile(kept)
	if err != nil || !o.resume {
		command, env, err := t.Install(ctx, servers)
		if err != nil {
			return a, fmt.Errorf("install: %w", err)
		}
		if raw, err = o.run(ctx, t, command, env); err != nil {
			return a, err
		}
	}
	if err := json.Unmarshal(raw, &a.report); err != nil {
		return a, fmt.Errorf("read the report: %w", err)
	}
	return a, os.WriteFile(kept, raw, 0o644)
}

// run audits a server and returns its report.
func (o options) run(ctx context.Context, t target, command, env []string) ([]byte, error) {
	how := []string{"--timeout", o.timeout.String(), "--tracer", o.tracer, "--transport", cmp.Or(t.transport, "stdio")}
	return published.Audit(ctx, o.mcpaudit, how, command, env)
}
