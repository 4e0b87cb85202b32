package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// auditTimeout bounds one audit.
const auditTimeout = 5 * time.Minute

// specimen is a server of test/servers with the expected result.
type specimen struct {
	// name is the program with its arguments: "go/leaky https base64".
	name string
	env  []string
	// plan changes the audit's plan; nil for the default.
	plan func(*audit.Plan)
	// verdict is Pass if empty.
	verdict report.Verdict
	// findings has a "RULE Severity" for each finding, sorted.
	findings []string
}

// behaviour audits the servers of this repository and compares the findings with the expected
// ones.
func behaviour(ctx context.Context, cache string, out io.Writer) ([]string, error) {
	dir, err := prepare(ctx, cache)
	if err != nil {
		return nil, err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SERVER\tVERDICT\tRISK\tFOUND\tMISSING\tEXTRA")
	var missed []string
	risks := map[string]int{}
	for _, s := range slices.Concat(specimens, ciphers()) {
		r, err := s.audit(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		found := rulesOf(r.Findings)
		missing, extra := without(s.findings, found), without(found, s.findings)
		verdict := string(r.Verdict)
		if want := cmp.Or(s.verdict, report.VerdictPass); r.Verdict != want {
			verdict += fmt.Sprintf(" (%s), not %s", r.Reason, want)
			missed = append(missed, fmt.Sprintf("%s is %s: %s", s.name, verdict, r.Message))
		}
		if len(missing)+len(extra) > 0 {
			missed = append(missed, fmt.Sprintf("%s: missing %v, extra %v", s.name, missing, extra))
		}
		for _, f := range r.Findings {
			if slices.Contains(extra, f.Rule+" "+string(f.Severity)) {
				_, _ = fmt.Fprintf(os.Stderr, "%s: %s %s: %s\n", s.name, f.Rule, f.Severity, f.Message)
			}
		}
		risks[s.name] = r.Risk.Score
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d %s\t%d of %d\t%s\t%s\n", s.name, verdict, r.Risk.Score, r.Risk.Level,
			len(s.findings)-len(missing), len(s.findings), joined(missing), joined(extra))
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	return append(missed, ranked(risks)...), nil
}

// ranked checks the scores: 0 for honest servers, and none above remote code execution.
func ranked(risks map[string]int) (missed []string) {
	for name, score := range risks {
		if strings.Contains(name, "honest") && score != 0 {
			missed = append(missed, fmt.Sprintf("the honest %s has the risk %d", name, score))
		}
		if worst, ok := risks[remoteCodeExecution]; ok && score > worst {
			missed = append(missed, fmt.Sprintf("%s has the risk %d, more than the %d of %s", name, score, worst, remoteCodeExecution))
		}
	}
	slices.Sort(missed)
	return missed
}

// audit audits the server as the command line does. DIR in its name is an empty directory.
func (s specimen) audit(ctx context.Context, dir string) (report.Report, error) {
	empty, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return report.Report{}, err
	}
	defer func() { _ = os.RemoveAll(empty) }()
	words := strings.Fields(strings.ReplaceAll(s.name, " DIR", " "+empty))
	argv := []string{filepath.Join(dir, "go", strings.TrimPrefix(words[0], "go/"))}
	env := s.env
	switch {
	case strings.HasPrefix(words[0], "node/"):
		argv = []string{"node", filepath.Join(dir, words[0])}
	case strings.HasPrefix(words[0], "python/"):
		argv = []string{command.Python, filepath.Join(dir, words[0])}
		env = append(slices.Clone(env), "PYTHONPATH="+filepath.Join(dir, pythonPackages))
	}
	return examine(ctx, append(argv, words[1:]...), env, s.plan)
}

// examine audits a command in the sandbox.
func examine(ctx context.Context, command, env []string, change func(*audit.Plan)) (report.Report, error) {
	traces, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return report.Report{}, err
	}
	defer func() { _ = os.RemoveAll(traces) }()
	launcher, err := sandbox.New(command, traces)
	if err != nil {
		return report.Report{}, err
	}
	defer func() { _ = launcher.Close() }()
	plan := audit.Plan{Command: command, FailOn: report.SeverityHigh, Timeout: auditTimeout, Decoys: launcher.Decoys(), Dir: launcher.Dir(), Names: inputs.DrawNames(false)}
	if change != nil {
		change(&plan)
	}
	launcher.Network, launcher.Env = cmp.Or(plan.Network, report.NetworkSinkhole), env
	return audit.Run(ctx, plan, launcher)
}

// rulesOf returns the findings as "RULE Severity", sorted.
func rulesOf(findings []report.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Rule+" "+string(f.Severity))
	}
	slices.Sort(all)
	return all
}

// without returns the entries of a list that another lacks, counting repetitions.
func without(list, other []string) []string {
	left := slices.Clone(other)
	var all []string
	for _, entry := range list {
		if i := slices.Index(left, entry); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		all = append(all, entry)
	}
	return all
}

func joined(entries []string) string { return cmp.Or(strings.Join(entries, ", "), "-") }

// pythonPackages is the folder of packages in the cache.
const pythonPackages = "python-packages"

// prepare builds the servers and installs their packages in the cache.
func prepare(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, "test-servers")
	if err := os.MkdirAll(filepath.Join(dir, "go"), 0o755); err != nil {
		return "", err
	}
	source, err := filepath.Abs("test/servers")
	if err != nil {
		return "", err
	}
	for _, line := range [][]string{
		{"go", "build", "-o", filepath.Join(dir, "go") + "/", "./test/servers/go/..."},
		{"cp", "-r", filepath.Join(source, "node"), filepath.Join(source, "python"), filepath.Join(source, "tool.json"), dir},
	} {
		if _, err := command.Output(ctx, "", line[0], line[1:]...); err != nil {
			return "", err
		}
	}
	if err := command.NPM(ctx, filepath.Join(dir, "node"), "ci"); err != nil {
		return "", err
	}
	packages := filepath.Join(dir, pythonPackages)
	if _, err := os.Stat(filepath.Join(packages, "mcp")); err == nil {
		return dir, nil // versions are pinned
	}
	return dir, command.Pip(ctx, packages, filepath.Join(source, "python", "requirements.txt"), "--upgrade")
}
