//go:build hostile

// Package hostile holds the command line to its word against servers that turn
// against their client: each run ends in time, with a named reason, in bounded
// memory, and what broke the protocol is a finding.
//
// The servers are modes of one small program (server), run as a user would run
// them, in namespaces of their own. The table of what came out is printed.
package hostile

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/programs"
)

const (
	// timeout of an audit: a server that never ends a request is
	// given up on then, or after callTimeout. long is for those that end by themselves,
	// after some work. overtime is what the end may take beyond that: the kill, the
	// rest of the trace, and other load on the machine.
	timeout     = 15 * time.Second
	callTimeout = 3 * time.Second
	long        = 2 * time.Minute
	overtime    = time.Minute
	// maxMemory is the most that any process of an audit may have held, in bytes:
	// far from what some of the servers send.
	maxMemory = 512 << 20
	// atOnce is the number of audits that run at a time.
	atOnce = 8
)

// built is the directory of the programs.
var built string

func TestMain(m *testing.M) {
	os.Exit(programs.Run(m, &built, "./cmd/mcpaudit", "./test/hostile/server"))
}

// outcome of one audit.
type outcome struct {
	report.Report
	mode   string
	took   time.Duration
	memory int64 // the most that a process of it held, in bytes
	broken error // why there is no report
}

// TestHostile audits all servers, several at a time: most of them make us wait. What comes out wrong beside the others is
// audited again, alone, and has to be right then.
func TestHostile(t *testing.T) {
	slots := make(chan struct{}, atOnce)
	outcomes := make([]chan outcome, len(servers))
	for i, tc := range servers {
		outcomes[i] = make(chan outcome, 1)
		home := t.TempDir()
		go func() {
			slots <- struct{}{}
			outcomes[i] <- tc.audit(home)
			<-slots
		}()
	}
	var all []outcome
	for _, o := range outcomes {
		all = append(all, <-o)
	}
	t.Log(table(all))
	for i, tc := range servers {
		wrong := tc.judge(all[i])
		if len(wrong) == 0 {
			continue
		}
		t.Logf("%s, beside others: %s", tc.mode, strings.Join(wrong, "; "))
		for _, wrong := range tc.judge(tc.audit(t.TempDir())) {
			t.Errorf("%s, alone: %s", tc.mode, wrong)
		}
	}
}

// judge returns what is wrong with an outcome.
func (tc hostile) judge(o outcome) (wrong []string) {
	if o.broken != nil {
		return []string{o.broken.Error()}
	}
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	// How far a machine gets with what is heavy is not what is tested.
	spent := slices.Contains(heavy, tc.mode) && o.Verdict == report.VerdictInconclusive &&
		(o.Reason == report.ReasonTimeout || o.Reason == report.ReasonTraceOverflow)
	if !spent && (o.Verdict != tc.verdict || o.Reason != tc.reason) {
		say("verdict %s (%s): %q, want %s (%s)", o.Verdict, o.Reason, o.Message, tc.verdict, tc.reason)
	}
	if o.Message == "" {
		say("the verdict has no message")
	}
	if got := o.protocol(); !spent && !slices.Equal(got, tc.findings) {
		say("protocol findings %v, want %v", got, tc.findings)
	}
	if limit, _ := tc.limits(); o.took > limit+overtime {
		say("took %s with --timeout %s", o.took, limit)
	}
	if o.memory > maxMemory {
		say("held %d MiB of memory", o.memory>>20)
	}
	return wrong
}

// protocol are the ids of the findings about the protocol, without what is the
// same in all: "001", sorted.
func (o outcome) protocol() []string {
	var ids []string
	for _, f := range o.Findings {
		if id, ok := strings.CutPrefix(f.Rule, "MCPA-PROTOCOL-"); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// audit runs the command line on the server.
func (tc hostile) audit(home string) outcome {
	limit, call := tc.limits()
	depth := report.DepthQuick
	if slices.Contains(inFull, tc.mode) {
		depth = report.DepthStandard
	}
	cmd := exec.Command(filepath.Join(built, "mcpaudit"), "run", "--timeout", limit.String(), "--call-timeout", call.String(), "--depth", strings.ToLower(string(depth)),
		"-o", "json", "--transport", tc.transport(), "--",
		filepath.Join(built, "server"), tc.mode)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
	began := time.Now()
	o := outcome{mode: tc.mode, broken: cmd.Start()}
	if o.broken != nil {
		return o
	}
	kill := time.AfterFunc(limit+2*overtime, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait() // the report says more than the exit code
	o.took = time.Since(began)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = usage.Maxrss << 10 // getrusage(2): in kilobytes
	}
	var err error
	if o.Report, err = report.Decode(stdout.Bytes()); err != nil {
		o.broken = fmt.Errorf("no report after %s, %v: %w; stderr: %s", o.took, cmd.ProcessState, err, stderr.String())
	}
	return o
}

// table shows the outcomes.
func table(all []outcome) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(w, "\nSERVER\tVERDICT\tREASON\tFINDINGS\tSECONDS\tMIB\tMESSAGE\n")
	for _, o := range all {
		var findings []string
		for _, f := range o.Findings {
			findings = append(findings, strings.TrimPrefix(f.Rule, "MCPA-")+" "+string(f.Severity))
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.1f\t%d\t%.90s\n", o.mode, o.Verdict, o.Reason,
			cmp.Or(strings.Join(findings, ", "), "none"), o.took.Seconds(), o.memory>>20, strings.Join(strings.Fields(o.Message), " "))
	}
	_ = w.Flush() // a strings.Builder does not fail
	return text.String()
}
