// Package audit is the engine: it starts a server under the tracer, talks to it,
// and turns what was seen into a report. The in-Pod runner and the command line
// are two shells over Run; what differs between them is the Launcher.
package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Plan says what to audit, and what the verdict is measured by.
type Plan struct {
	// Command of the server, for the report; the launcher runs it.
	Command []string
	// Package was installed for the command, and Named is the reference that the user gave for it; nil if none was.
	Package *packages.Installed
	Named   []string
	// Dir is the working directory of the server; "" where it is not known.
	Dir string
	// Env are the variables ("NAME=value") that the user sets; the launcher sets them.
	Env []string
	// Secrets are names of variables that the user sets to secrets: the server gets decoys in place of those.
	Secrets []string
	// Decoys were planted by the launcher.
	Decoys decoy.Set
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn report.Severity
	// MinAssurance is the lowest assurance of a Pass; empty: report.DefaultMinAssurance.
	MinAssurance report.AssuranceLevel
	// Network says what the launcher did with connections; empty: Sinkhole.
	Network report.Network
	// Transport is how the server is talked to, Auto if empty; Port (1 to 65535)
	// and Path ("/mcp", "/sse") are where it listens, for those other than Stdio.
	Transport report.Transport
	Port      uint16
	Path      string
	// Probe says how it is exercised.
	Probe plan.Probe
	// Timeout bounds the whole audit; what is running then is Inconclusive.
	Timeout time.Duration
	// Baseline is an earlier report whose manifest must not have changed.
	Baseline *report.Report
	// Scope lists what the operator allows; nil: what the manifest declares. ServerJSON
	// is the server's entry for the MCP registry, where it has one.
	Scope      *report.DeclaredScope
	ServerJSON json.RawMessage
	// Suppressions are findings that are known and accepted.
	Suppressions []report.Suppression
	// ShowNoise adds samples of what was left out of the profile to the report.
	ShowNoise bool
	// Progress, when set, is told what happens, in a few words. It must not block.
	Progress func(step string)

	// resolvers are how the machine looks names up.
	resolvers resolving
	// installs has a run for each install script of Package.
	installs []observation
}

// From returns what the manager asks for. Everything else of a Plan is the runner's own.
func From(p plan.Plan) Plan {
	return Plan{
		Command: p.Command, FailOn: p.FailOn, MinAssurance: p.MinAssurance, Network: p.Network, Transport: p.Transport, Port: p.Port, Path: p.Path,
		Probe: p.Probe, Timeout: p.Timeout.Duration, Scope: p.Scope, Suppressions: p.Suppressions,
	}
}

// transportAuto is plan.TransportAuto, for functions that have a Plan of that name.
const transportAuto = plan.TransportAuto

// named is the server's command as the user can give it.
func (p Plan) named() []string {
	if p.Package != nil {
		return p.Named
	}
	return p.Command
}

// installed describes the package that was installed; nil if none was.
func (p Plan) installed() *report.Package {
	if p.Package == nil {
		return nil
	}
	return &p.Package.Report
}

// listens reports whether the server is talked to over HTTP.
func (p Plan) listens() bool { return plan.ByName(p.Transport).Listens }

// enter says in a report how the server was exercised.
func enter(r *report.ProbeRun, p plan.Probe) {
	p = p.WithDefaults()
	r.Seed, r.Rounds, r.Calls, r.Depth = p.Seed, p.Rounds, p.Calls, p.Depth
}

// Start is how the server is started.
type Start struct {
	// Clock is the time that the server sees.
	Clock trace.Clock
	// Env is set in the server's environment ("NAME=value"), in place of what has
	// that name there.
	Env []string
	// Parent is the path of the program that starts it, as far as that can be made to seem so; "" for
	// none in particular.
	Parent string
	// Person has it be somebody who works at the machine, with a home of theirs, as far as it would be root.
	Person bool
	// Sockets has stdin, stdout and stderr be socket pairs, as they are for whom Node starts, in place of pipes.
	Sockets bool
	// Dirs are absolute directories that the server is started for: files are put there
	// that arguments name.
	Dirs []string
	// Lures are directories that get a link that leads out of them, and a sibling with the
	// same beginning of its name; with any, there are files where these lead, Outside the names
	// of more (inputs.OutsideFilesOf).
	Lures, Outside []string
	// Project has its working directory be a repository that somebody works on, as far as that
	// can be written to, and another be there that the client has open.
	Project bool
	// Listens: it is talked to over HTTP. What it writes to stdout is no part of the
	// conversation.
	Listens bool
	// Refuse has every connection refused, and every name unknown, in place of the
	// sinkhole's answers.
	Refuse bool
	// Untold leaves out the variables that name the sinkhole's certificate: a server could recognize an audit by them.
	Untold bool
	// Decoys are planted in place of those that the launcher has; nil: these.
	Decoys *decoy.Set
	// StandIns are the names of programs that have a stand-in, at the end of PATH.
	StandIns []string
	// Script is run in place of the server; nil: the server. Only a plan with a Package has any.
	Script *packages.Script
}

// ErrSupervisorKilled says that the process that starts and stops the server was killed
// after the server had run. The server could do that, so it is no failure of the sandbox.
var ErrSupervisorKilled = errors.New("the process that supervises the server was killed")

// Launcher starts the server that is under audit, traced from its own execve.
type Launcher interface {
	// Launch is called again for each launch of an audit, when the one before has
	// been stopped.
	// The error wraps trace.ErrUnavailable when the tracer could not be had, and
	// ErrSupervisorKilled when nothing can start the server again; any other says in
	// words why the server could not be started.
	Launch(ctx context.Context, how Start) (Process, error)
}

// Process is a server that runs.
type Process interface {
	// Streams are our ends of stdin, stdout and stderr.
	Streams() (stdin io.WriteCloser, stdout, stderr io.ReadCloser)
	// Trace returns what is seen of it.
	Trace() *trace.Session
	// Dial connects to a TCP port of the server's, where the server runs: what
	// listens there on the machine of the audit is another.
	Dial(ctx context.Context, at netip.AddrPort) (net.Conn, error)
	// Exited is closed when the server's own process has ended, or when there
	// is no way to know any more.
	Exited() <-chan struct{}
	// Status is how it ended; false when that is not known.
	Status() (syscall.WaitStatus, bool)
	// Stop kills all that is left of the server and ends the trace. It takes
	// some seconds at most and is called once.
	Stop(ctx context.Context)
	// Captures brings what the server sent to the sinkhole; nil where there is none.
	// They have to be taken as they come, for the server waits while they are
	// not. The channel is closed by Stop.
	Captures() <-chan sinkhole.Capture
	// Call tells the sinkhole of a call, so that it learns which answers the server
	// has a use for.
	Call(c sinkhole.Call)
	// Opened are the planted files that were opened, by whatever name, as the
	// kernel has it. It is called once, after Stop.
	Opened() []string
	// Notes returns what the launcher could not do as well as it should have.
	Notes() []string
}

// component names the tracer of the last run that had one: our own has our
// version.
func component(ctx context.Context, runs []observation) report.Component {
	for _, o := range slices.Backward(runs) {
		switch o.tracer {
		case plan.TracerPtrace:
			return report.Component{Name: "ptrace", Version: Build()}
		case plan.TracerStrace:
			version, _ := trace.Version(ctx) // it has worked: whoever removed it meanwhile
			return report.Component{Name: "strace", Version: version}
		}
	}
	return report.Component{}
}

// Run audits one server. It returns a report whatever the server does; an error
// only when ctx was cancelled. Nothing outlasts plan.Timeout by more than the
// time that it takes to kill the server.
func Run(ctx context.Context, plan Plan, launcher Launcher) (report.Report, error) {
	started := time.Now()
	if plan.Progress == nil {
		plan.Progress = func(string) {}
	}
	plan.Network, plan.Transport = cmp.Or(plan.Network, report.NetworkSinkhole), cmp.Or(plan.Transport, transportAuto)
	plan.resolvers = resolvers()
	limited, cancel := context.WithTimeout(ctx, plan.Timeout)
	defer cancel()

	if plan.Package != nil {
		plan.installs = runScripts(limited, plan, launcher)
	}
	runs := launchAll(limited, plan, func(ctx context.Context, how launch) observation {
		return observe(ctx, plan, launcher, how)
	})
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return report.Report{}, fmt.Errorf("audit: %w", err)
	}
	plan.Progress("judge")
	ended := time.Now()
	r := conclude(plan, runs, ended)
	// The decoys are worth nothing, but whoever searches reports for secrets cannot know that.
	r.Redact(decoy.NewMatcher(plan.Decoys.With(given(runs))).Redact)
	if _, _, o := apart(runs); len(o.dependences) > 0 {
		r.Redact(decoy.NewMatcher(o.varied).Redact)
	}
	r.StartTime, r.EndTime = report.At(started), report.At(ended)
	r.Tracer = component(context.WithoutCancel(ctx), runs)
	r.Normalise()
	r.Cap()
	return r, nil
}
