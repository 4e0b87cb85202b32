package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// runConfigured audits what a client is configured to start: the server that is named, the only one, or with --all each.
func (o *options) runConfigured(ctx context.Context, names []string, stdout, stderr io.Writer) error {
	switch {
	case o.config == "":
		return errors.New("--all: goes with --config FILE")
	case len(names) > 1, o.all && len(names) > 0:
		return fmt.Errorf("unexpected argument %q: with --config there is one NAME, or --all", names[len(names)-1])
	case o.program != "":
		return errors.New("--program: goes with npm:NAME or pypi:NAME, and not with --config")
	}
	servers, err := readClientConfig(o.config)
	if err != nil {
		return err
	}
	if o.all {
		return o.runAll(ctx, servers, stdout, stderr)
	}
	one, err := pick(servers, names)
	if err != nil {
		return fmt.Errorf("--config %s: %w", o.config, err)
	}
	r, err := o.auditConfigured(ctx, one, stderr)
	if err != nil {
		return err
	}
	return o.conclude(r, stdout)
}

// pick is the server of a name, or the only one.
func pick(servers []clientServer, names []string) (clientServer, error) {
	var known []string
	for _, s := range servers {
		known = append(known, s.name)
	}
	if len(names) == 0 && len(servers) == 1 {
		return servers[0], nil
	}
	if len(names) == 0 {
		return clientServer{}, fmt.Errorf("name one of its %d servers, or use --all: %s", len(servers), strings.Join(known, ", "))
	}
	i := slices.Index(known, names[0])
	if i < 0 {
		return clientServer{}, fmt.Errorf("no server %q (want one of %s)", names[0], strings.Join(known, ", "))
	}
	return servers[i], nil
}

// auditConfigured audits a server as its client starts it.
func (o *options) auditConfigured(ctx context.Context, s clientServer, stderr io.Writer) (r report.Report, err error) {
	if err := s.startable(); err != nil {
		return r, err
	}
	if s.Dir != "" {
		before, err := os.Getwd()
		if err != nil {
			return r, err
		}
		dir, _ := fill(s.Dir)
		if err := os.Chdir(dir); err != nil {
			return r, fmt.Errorf("the working directory of %s: %w", s.name, err)
		}
		defer func() { _ = os.Chdir(before) }() // it was there
	}
	as := *o
	command, env, secrets := s.launch()
	as.env, as.secrets = append(env, o.env...), secrets
	return as.audit(ctx, command, stderr)
}

// runAll audits one server after the other, and writes a line for each, or its report as JSON. The exit code is that of
// the worst.
func (o *options) runAll(ctx context.Context, servers []clientServer, stdout, stderr io.Writer) error {
	switch {
	case o.output != "table" && o.output != "json":
		return errors.New("--all: goes with --output table or json")
	case o.outDir != "" || o.baseline != "":
		return errors.New("--all: does not go with --out-dir and --baseline, which are about one server")
	}
	widest, worst := len("NAME"), 0
	for _, s := range servers {
		widest = max(widest, len(render.Escape(s.name)))
	}
	line := func(name, verdict, risk, message string) error {
		_, err := fmt.Fprintf(stdout, "%-*s  %-12s  %4s  %s\n", widest, render.Escape(name), verdict, risk, render.Escape(message))
		return err
	}
	if o.output == "table" {
		if err := line("NAME", "VERDICT", "RISK", "BECAUSE"); err != nil {
			return err
		}
	}
	for _, s := range servers {
		r, err := o.auditConfigured(ctx, s, stderr)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && o.output == "table":
			err = line(s.name, "-", "-", err.Error())
			worst = max(worst, 1)
		case err != nil:
			_, err = fmt.Fprintf(stderr, "mcpaudit: %s: %v\n", render.Escape(s.name), err)
			worst = max(worst, 1)
		default:
			worst = max(worst, exitOf(r))
			if o.output == "table" {
				err = line(s.name, string(r.Verdict), fmt.Sprint(r.Risk.Score), r.Message)
			} else {
				err = json.NewEncoder(stdout).Encode(r)
			}
		}
		if err != nil {
			return err
		}
	}
	return cli.Exit(worst, nil)
}

// exitOf is the exit code that a report has in a batch: what was found weighs more than what was not seen.
func exitOf(r report.Report) int {
	switch r.Verdict {
	case report.VerdictPass:
		return 0
	case report.VerdictFail:
		return exitFindings
	}
	return 1
}
