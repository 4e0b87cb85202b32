package main

import (
	"cmp"
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

// runConfigured audits servers of a client's configuration: the named one, the only one, or
// each with --all.
func (o *options) runConfigured(ctx context.Context, names []string, stdout, stderr io.Writer) error {
	switch {
	case o.config == "":
		return errors.New("--all: only valid with --config FILE")
	case len(names) > 1, o.all && len(names) > 0:
		return fmt.Errorf("unexpected argument %q; with --config, give one NAME or --all", names[len(names)-1])
	case o.program != "":
		return errors.New("--program: only valid with npm:NAME or pypi:NAME, not with --config")
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

// pick returns the named server, or the only one.
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
		cli.Resolve(o.set, before)
		dir, _ := fill(s.Dir)
		if err := os.Chdir(dir); err != nil {
			return r, fmt.Errorf("the working directory of %s: %w", s.name, err)
		}
		defer func() { _ = os.Chdir(before) }() // it existed before
	}
	command, env, secrets := s.launch()
	as := *o
	as.env, as.secrets, as.exact = append(env, o.env...), secrets, true
	return as.audit(ctx, command, stderr)
}

// runAll audits the servers in turn, prints a line or a JSON report for each, and exits with
// the worst code.
func (o *options) runAll(ctx context.Context, servers []clientServer, stdout, stderr io.Writer) error {
	switch {
	case o.output != "table" && o.output != "json":
		return errors.New("--all: only valid with --output table or json")
	case o.outDir != "" || o.baseline != "" || o.sbom != "":
		return errors.New("--all: not valid with --out-dir, --baseline or --sbom, which are for one server")
	}
	out, worst := newRows(io.Discard, servers), 0
	if o.output == "table" {
		out = newRows(stdout, servers, "VERDICT", "RISK", "BECAUSE")
	}
	for _, s := range servers {
		r, err := o.auditConfigured(ctx, s, stderr)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			worst = max(worst, 1)
			out.add(s.name, "-", "-", err.Error())
			if o.output != "table" {
				_, _ = fmt.Fprintf(stderr, "mcpaudit: %s: %v\n", render.Escape(s.name), err)
			}
			continue
		case o.output == "json":
			out.err = cmp.Or(out.err, json.NewEncoder(stdout).Encode(r))
		}
		worst = max(worst, exitOf(r))
		out.add(s.name, string(r.Verdict), fmt.Sprint(r.Risk.Score), r.Message)
		if out.err != nil {
			return out.err
		}
	}
	return cli.Exit(worst, nil)
}

// rows is a table with one line per server, written as results arrive. The last column may have
// any width.
type rows struct {
	w      io.Writer
	widest int
	// err is the first write error.
	err error
}

func newRows(w io.Writer, servers []clientServer, columns ...string) *rows {
	r := &rows{w: w, widest: len("NAME")}
	for _, s := range servers {
		r.widest = max(r.widest, len(render.Escape(s.name)))
	}
	if len(columns) > 0 {
		r.add("NAME", columns...)
	}
	return r
}

// add writes a server's line; the last cell is the reason.
func (r *rows) add(name string, cells ...string) {
	line := fmt.Sprintf("%-*s  %-12s", r.widest, render.Escape(name), cells[0])
	for _, cell := range cells[1 : len(cells)-1] {
		line += fmt.Sprintf("  %4s", cell)
	}
	r.write(line + "  " + render.Escape(cells[len(cells)-1]))
}

// note writes lines below the last server's.
func (r *rows) note(text string) {
	for line := range strings.Lines(text) {
		r.write("    " + strings.TrimRight(line, "\n"))
	}
}

func (r *rows) write(line string) {
	if r.err == nil {
		_, r.err = fmt.Fprintln(r.w, line)
	}
}

// exitOf returns a report's exit code in a batch: findings outrank incompleteness.
func exitOf(r report.Report) int {
	switch r.Verdict {
	case report.VerdictPass:
		return 0
	case report.VerdictFail:
		return exitFindings
	}
	return 1
}
