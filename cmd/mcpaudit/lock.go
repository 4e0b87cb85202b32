package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// lockName is the lock file beside a client's configuration, lockVersion its format.
const (
	lockName    = "mcpaudit.lock"
	lockVersion = 1
	maxLock     = 16 << 20
)

// lock records what a client's servers advertise, do and enable, by name.
type lock struct {
	LockVersion int               `json:"lockVersion"`
	Servers     map[string]locked `json:"servers"`
}

// locked is the part of a report that later audits are compared with. It includes the
// manifest's texts, so reviewers see what the server tells the model.
type locked struct {
	Name           string                `json:"name,omitempty"`
	Version        string                `json:"version,omitempty"`
	Package        *report.Package       `json:"package,omitempty"`
	ManifestDigest string                `json:"manifestDigest"`
	Behavior       report.Behavior       `json:"behavior"`
	Exposure       []report.ExposureItem `json:"exposure,omitempty"`
	Manifest       report.Manifest       `json:"manifest"`
	// With records the audit's settings: only equally exercised audits are comparable.
	With lockedWith `json:"with"`
}

type lockedWith struct {
	RulesetDigest string           `json:"rulesetDigest"`
	Transport     report.Transport `json:"transport"`
	Network       report.Network   `json:"network"`
	// Probe has the launch in which guards were tried, if there was one.
	Probe report.ProbeRun `json:"probe"`
}

// lockedOf returns a report as a lock entry, without the evidence.
func lockedOf(r report.Report) locked {
	l := locked{
		Name: r.Server.Name, Version: r.Server.Version, Package: r.Server.Package, ManifestDigest: r.ManifestDigest, Behavior: r.Behavior, Manifest: r.Manifest,
		With: lockedWith{RulesetDigest: r.RulesetDigest, Transport: r.Server.Transport, Network: r.Network, Probe: r.Probe},
	}
	l.With.Probe.Launches, l.With.Probe.Runs = 0, nil
	for _, run := range r.Probe.Runs {
		if run.For == report.LaunchAttack && run.Skipped == "" {
			l.With.Probe.Runs = []report.Launch{{For: run.For}}
		}
	}
	if r.Exposure != nil {
		l.Exposure = slices.Clone(r.Exposure.Items)
		for i := range l.Exposure {
			l.Exposure[i].Evidence = nil
		}
	}
	return l
}

// report returns the locked part as a report.
func (l locked) report() report.Report {
	return report.Report{
		Server:         report.ServerRun{Name: l.Name, Version: l.Version, Package: l.Package, Transport: l.With.Transport},
		ManifestDigest: l.ManifestDigest, Behavior: l.Behavior, Manifest: l.Manifest, Exposure: &report.Exposure{Items: l.Exposure},
		RulesetDigest: l.With.RulesetDigest, Network: l.With.Network, Probe: l.With.Probe,
	}
}

// locking holds the flags of lock and verify-lock.
type locking struct {
	options
	file string
}

func (o *locking) flags(c *cobra.Command) {
	o.verdictFlags(c)
	o.auditFlags(c)
	cli.Path(c.Flags(), &o.config, "config", "configuration of a client, such as claude_desktop_config.json or .mcp.json (required)")
	cli.Path(c.Flags(), &o.file, "lock", "the lock (default: "+lockName+" beside the configuration)")
	cli.Require(c, "config")
}

func newLock() *cobra.Command {
	var o locking
	c := &cobra.Command{
		Use: "lock --config FILE", Short: "Record what a client's servers advertise, do and enable, once each has passed", Args: cli.Args(0, 0),
		Long: "Audits each server that a client is configured to start, and records what it advertises, does and enables in " + lockName + ",\n" +
			"beside the configuration. Review the lock and keep it under version control: mcpaudit verify-lock compares later audits with\n" +
			"it. Nothing is recorded unless every server passes. Remote servers are left out.",
		RunE: func(c *cobra.Command, _ []string) error {
			return o.record(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.flags(c)
	return c
}

func newVerifyLock() *cobra.Command {
	var o locking
	c := &cobra.Command{
		Use: "verify-lock --config FILE", Short: "Audit a client's servers again, and compare them with the lock", Args: cli.Args(0, 0),
		Long: `Audits each server that a client is configured to start, and compares it with the lock: what it advertises, and
whether it does or enables more than before. Another version, or other dependencies, are shown, but are no
difference by themselves.

Exit codes:
  0  each server passes and equals the lock
  3  a server fails, differs from the lock, or is not in it
  1  an audit was incomplete, or the lock cannot be read`,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.verify(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.flags(c)
	return c
}

func (o *locking) path() string {
	return cmp.Or(o.file, filepath.Join(filepath.Dir(o.config), lockName))
}

func (o *locking) record(ctx context.Context, stdout, stderr io.Writer) error {
	servers, err := readClientConfig(o.config)
	if err != nil {
		return err
	}
	made, failed, worst := lock{lockVersion, map[string]locked{}}, 0, 0
	rows := newRows(stdout, servers, "VERDICT", "RISK", "BECAUSE")
	for _, s := range servers {
		if s.elsewhere() {
			rows.add(s.name, "-", "-", s.startable().Error())
			continue
		}
		r, err := o.auditConfigured(ctx, s, stderr)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			worst, failed = max(worst, 1), failed+1
			rows.add(s.name, "-", "-", err.Error())
			continue
		case r.Verdict != report.VerdictPass:
			worst, failed = max(worst, exitOf(r)), failed+1
		}
		made.Servers[s.name] = lockedOf(r)
		rows.add(s.name, string(r.Verdict), fmt.Sprint(r.Risk.Score), r.Message)
	}
	if rows.err != nil {
		return rows.err
	}
	if failed > 0 {
		return cli.Exit(worst, fmt.Errorf("%s was not written: %d of %d servers did not pass", o.path(), failed, len(servers)))
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the lock: %w", err)
	}
	if err := cli.Replace(o.path(), append(text, '\n')); err != nil {
		return fmt.Errorf("--lock: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "\nwrote %s\n", render.Escape(o.path()))
	return err
}

func (o *locking) read() (l lock, err error) {
	text, err := readFile(o.path(), maxLock)
	if errors.Is(err, os.ErrNotExist) {
		return l, fmt.Errorf("--lock: %w; create it with mcpaudit lock --config %s", err, o.config)
	}
	if err != nil {
		return l, fmt.Errorf("--lock: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return l, fmt.Errorf("--lock %s: %w; recreate it with mcpaudit lock --config %s", o.path(), err, o.config)
	}
	if l.LockVersion != lockVersion {
		return l, fmt.Errorf("--lock %s: lockVersion: invalid value %d (want %d); recreate it with mcpaudit lock --config %s", o.path(), l.LockVersion, lockVersion, o.config)
	}
	return l, nil
}

// verify compares the servers with the lock.
func (o *locking) verify(ctx context.Context, stdout, stderr io.Writer) error {
	l, err := o.read()
	if err != nil {
		return err
	}
	servers, err := readClientConfig(o.config)
	if err != nil {
		return err
	}
	worst := 0
	rows := newRows(stdout, servers, "LOCK", "BECAUSE")
	for _, s := range servers {
		if s.elsewhere() {
			rows.add(s.name, "-", s.startable().Error())
			continue
		}
		was, known := l.Servers[s.name]
		delete(l.Servers, s.name)
		if !known {
			worst = exitFindings
			rows.add(s.name, "New", "not in the lock; record it with mcpaudit lock --config "+o.config)
			continue
		}
		r, err := o.auditConfigured(ctx, s, stderr)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			worst = max(worst, 1)
			rows.add(s.name, "-", err.Error())
			continue
		}
		worst = max(worst, exitOf(r), rows.compare(s.name, was, r))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Servers)) {
		worst = exitFindings
		rows.add(name, "Gone", "in the lock, but not in the configuration; recreate the lock with mcpaudit lock --config "+o.config)
	}
	if rows.err != nil {
		return rows.err
	}
	return cli.Exit(worst, nil)
}

// compare writes how a server differs from its lock, and returns the exit code.
func (r *rows) compare(name string, was locked, is report.Report) int {
	d := render.Differ(was.report(), is)
	d.Behavior.Removed = nil // doing less is fine
	same, known := d.Same()
	switch {
	case is.Verdict != report.VerdictPass:
		r.add(name, string(is.Verdict), is.Message)
	case !same:
		r.add(name, "Differs", "differs from the lock; review the changes, then record them with mcpaudit lock")
	case !known:
		r.add(name, "-", "the audit was incomplete; what it observed equals the lock")
	default:
		r.add(name, "Same", is.Message)
	}
	if p := installedAnew(was.Package, is.Server.Package); p != "" {
		r.note(p)
	}
	switch {
	case !same:
		var text bytes.Buffer
		r.err = cmp.Or(r.err, render.DifferenceTable(&text, d, false))
		r.note(text.String())
		return exitFindings
	case !known:
		return 1
	}
	return 0
}

// installedAnew describes a changed installation; "" if it is the same.
func installedAnew(was, is *report.Package) string {
	switch {
	case was == nil || is == nil || was.LockDigest == is.LockDigest:
		return ""
	case was.Version == is.Version:
		return fmt.Sprintf("%s %s was installed with other bytes or dependencies: %s -> %s", is.Identifier, is.Version, was.LockDigest, is.LockDigest)
	}
	return fmt.Sprintf("%s %s was installed, and %s was locked", is.Identifier, is.Version, was.Version)
}
