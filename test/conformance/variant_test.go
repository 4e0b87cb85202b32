//go:build conformance

package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// patience limits how long one audit may take. It bounds a hang: beside a busy machine a thousand processes take minutes.
const patience = 6 * time.Minute

// variant is a way to trace.
type variant struct {
	backend plan.Tracer
	mode    string
}

var variants = []variant{
	{plan.TracerStrace, "wrapped"}, {plan.TracerStrace, "attached"}, {plan.TracerPtrace, "wrapped"}, {plan.TracerPtrace, "attached"},
}

func (v variant) String() string { return strings.ToLower(string(v.backend)) + "-" + v.mode }

// outcome is all that one audit shows.
type outcome struct {
	Report report.Report
	Events []string
	Stats  trace.Stats
	// Left: the server of an attack outlived the audit.
	Left bool
}

// findings are the rules that found something, with their severities.
func (o outcome) findings() []string {
	var all []string
	for _, f := range o.Report.Findings {
		all = append(all, f.Rule+" "+string(f.Severity))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// run audits a program.
func (v variant) run(t *testing.T, p program) outcome {
	t.Helper()
	if v.mode == "attached" {
		return inPod(t, v, p)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	launcher, err := sandbox.New([]string{p.path}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Close() })                                             // what it held goes with us in any case
	launcher.Keep, launcher.Tracer, launcher.Network = true, v.backend, report.NetworkDeny // what becomes of a connect is then plain
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o, err := watch(ctx, &spy{Launcher: launcher, attack: p.attack, file: filepath.Join(dir, "trace.txt")}, launcher.Decoys(), p.path, self)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// watch audits a server and then reads its trace once more, for the events that
// no report has.
func watch(ctx context.Context, s *spy, decoys decoy.Set, server, stage string) (outcome, error) {
	attacking, done := context.WithCancel(ctx)
	defer done()
	if s.attack != "" {
		go attack(attacking, s.attack)
	}
	plan := audit.Plan{
		Command: []string{server}, FailOn: report.SeverityHigh, Timeout: patience - 30*time.Second, Decoys: decoys,
		Probe: plan.Probe{Rounds: 1, Depth: report.DepthQuick, CallTimeout: plan.Duration{Duration: patience}}, // what is done twice is there, and EEXIST
	}
	r, err := audit.Run(ctx, plan, s)
	if err != nil || s.process == nil {
		return outcome{Report: r}, err
	}
	o := outcome{Report: r, Stats: s.process.Trace().Stats()}
	o.Left = s.attack != "" && outlives(s.attack)
	file := s.file
	if _, err := os.Stat(s.kept()); err == nil {
		file = s.kept()
	}
	session, err := trace.Follow(trace.Config{File: file, Stdin: s.stdin, Stdout: s.stdout, Shim: stage, Reexec: "/proc/self/exe", Attached: s.attached})
	if err != nil {
		return o, err
	}
	session.Ended()
	places := strings.NewReplacer(decoys.Home+"/", "~/", server, "PROGRAM")
	err = session.Run(ctx, func(e trace.Event) { o.Events = append(o.Events, describe(e, places)) })
	return o, err
}

// spy is a launcher that remembers what it launched first.
type spy struct {
	audit.Launcher
	attack string
	// attached: its strace is attached.
	attached bool
	// file is the trace of the first launch.
	file          string
	process       audit.Process
	launches      int // besides the first
	stdin, stdout uint64
}

// kept returns where the trace of the first launch is when there was another.
func (s *spy) kept() string { return s.file + ".kept" }

func (s *spy) Launch(ctx context.Context, how audit.Start) (audit.Process, error) {
	if s.process != nil { // in the first all was done; of its trace nothing may be left after the next
		if s.launches++; s.launches == 1 {
			if err := os.Link(s.file, s.kept()); err != nil {
				return nil, err
			}
		}
		return s.Launcher.Launch(ctx, how)
	}
	process, err := s.Launcher.Launch(ctx, how)
	if err != nil {
		return nil, err
	}
	s.process = process
	stdin, stdout, _ := process.Streams()
	var errIn, errOut error
	s.stdin, errIn = inode(stdin)
	s.stdout, errOut = inode(stdout)
	return process, errors.Join(errIn, errOut)
}

// inode returns the inode of a pipe, whose two ends have the same.
func inode(stream any) (uint64, error) {
	file, ok := stream.(*os.File)
	if !ok {
		return 0, fmt.Errorf("a stream is a %T", stream)
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}

// results are shown by the table.
var (
	resultsMu sync.Mutex
	results   = map[string]map[variant]string{}
)

func record(name string, v variant, problems []string) {
	resultsMu.Lock()
	defer resultsMu.Unlock()
	if results[name] == nil {
		results[name] = map[variant]string{}
	}
	results[name][v] = "ok"
	if len(problems) > 0 {
		results[name][v] = "differs"
	}
}

// table is program x variant.
func table() string {
	if len(results) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s", "program")
	for _, v := range variants {
		fmt.Fprintf(&b, " %-16s", v)
	}
	good := 0
	for _, p := range programs {
		row, ok := results[p.name]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "\n%-28s", p.name)
		for _, v := range variants {
			fmt.Fprintf(&b, " %-16s", row[v])
			if row[v] == "ok" {
				good++
			}
		}
	}
	fmt.Fprintf(&b, "\n%d of %d ok\n", good, len(results)*len(variants))
	return b.String()
}
