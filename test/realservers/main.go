// Command realservers audits published MCP servers (test/published), and prints for each the verdict,
// the coverage and the findings, which a reader has to judge, and the totals.
//
//	go run ./test/realservers -mcpaudit PROGRAM [-only PATTERN] [-timeout DURATION] [-parallel N] [-results DIR] [-resume]
//
// The reports are kept in the directory of results. -resume continues an interrupted run: servers
// with a report there are not audited again.
//
// With -reference it audits only the reference servers, server-everything over each transport. It
// fails if less than 90 % of the branches of the input schemas were taken, or if a capability was
// not exercised.
//
// It installs the servers in the cache, which needs the network. It is not part of make test.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/command"
	"github.com/mcpaudit/mcpaudit/test/published"
)

// options are set by flags.
type options struct {
	mcpaudit, results string
	only              *regexp.Regexp
	timeout           time.Duration
	parallel          int
	tracer            string
	reference, resume bool
}

func main() { command.Main("realservers", run) }

func run(ctx context.Context, _ []string) error {
	cache, err := command.Cache("")
	if err != nil {
		return err
	}
	o, err := parse(filepath.Join(cache, "real-servers", "reports"))
	if err != nil {
		return err
	}
	all := o.auditAll(ctx, filepath.Join(cache, "servers"))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := write(os.Stdout, all); err != nil {
		return err
	}
	if short := uncovered(all); o.reference && len(short) > 0 {
		return fmt.Errorf("insufficiently exercised: %s", strings.Join(short, ", "))
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
	flag.IntVar(&o.parallel, "parallel", 1, "number of audits at a time")
	flag.StringVar(&o.tracer, "tracer", "auto", "auto, strace or ptrace")
	flag.BoolVar(&o.reference, "reference", false, "audit the reference servers only, and hold them to their coverage")
	flag.Parse()
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("invalid -only: %w", err)
	}
	return o, os.MkdirAll(o.results, 0o755)
}

// target is a server with its transport; stdio if empty.
type target struct {
	published.Server
	transport string
}

// servers returns all servers, or the four reference servers with each of their transports.
func servers(reference bool) []target {
	if !reference {
		return targets(published.Servers)
	}
	overHTTP, overSSE := published.References[0], published.References[0]
	overHTTP.Args, overSSE.Args = []string{"streamableHttp"}, []string{"sse"}
	return append(targets(published.References), target{overHTTP, "http"}, target{overSSE, "sse"})
}

func targets(servers []published.Server) (all []target) {
	for _, s := range servers {
		all = append(all, target{Server: s})
	}
	return all
}

// audited is a server with its report, or the reason why there is none.
type audited struct {
	source, missing string
	report          report.Report
}

// auditAll audits the selected servers, several at a time, and keeps their order.
func (o options) auditAll(ctx context.Context, dir string) []audited {
	selected := slices.DeleteFunc(servers(o.reference), func(t target) bool { return !o.only.MatchString(t.Source) })
	all := make([]audited, len(selected))
	var group sync.WaitGroup
	running := make(chan struct{}, max(o.parallel, 1))
	for i, t := range selected {
		running <- struct{}{}
		group.Go(func() {
			defer func() { <-running }()
			a, err := o.audit(ctx, t, dir)
			if err != nil {
				a.missing = err.Error()
			}
			if all[i] = a; ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, a.source+":", a.verdict())
			}
		})
	}
	group.Wait()
	return all
}

// audit returns the kept report of a server, or a new one.
func (o options) audit(ctx context.Context, t target, servers string) (audited, error) {
	a := audited{source: strings.TrimSpace(t.Source + " " + t.transport)}
	kept := filepath.Join(o.results, t.Key()+t.transport+".json")
	raw, err := os.ReadFile(kept)
	if err != nil || !o.resume {
		command, env, err := t.Install(ctx, servers)
		if err != nil {
			return a, fmt.Errorf("install: %w", err)
		}
		if raw, err = o.run(ctx, t, append([]string{"--"}, command...), env); err != nil {
			return a, err
		}
		if of := t.Package(); of != nil && json.Unmarshal(raw, &a.report) == nil && a.report.Reason == report.ReasonServerExited {
			if raw, err = o.run(ctx, t, of, env); err != nil {
				return a, err
			}
		}
	}
	a.report = report.Report{}
	if err := json.Unmarshal(raw, &a.report); err != nil {
		return a, fmt.Errorf("read the report: %w", err)
	}
	return a, os.WriteFile(kept, raw, 0o644)
}

// run audits a server, by its command or its package, and returns its report.
func (o options) run(ctx context.Context, t target, of, env []string) ([]byte, error) {
	how := []string{"--timeout", o.timeout.String(), "--tracer", o.tracer, "--transport", cmp.Or(t.transport, "stdio")}
	return published.Audit(ctx, o.mcpaudit, how, of, env)
}
