// Package audit is the engine: it starts a server under the tracer, talks to it,
// and turns what was seen into a report. The in-Pod runner and the command line
// are two shells over Run that differ in the Launcher.
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

// Plan says what to audit, and how to judge it.
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
	// Secrets names variables that the user sets to secrets: the server gets decoys in their place.
	Secrets []string
	// Decoys were planted by the launcher.
	Decoys decoy.Set
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn report.Severity
	// MinAssurance is the lowest assurance of a Pass; empty: report.DefaultMinAssurance.
	MinAssurance report.AssuranceLevel
	// Network says what the launcher does with connections; empty: Sinkhole.
	Network report.Network
	// Transport is how to talk to the server, Auto if empty; Port (1 to 65535)
	// and Path ("/mcp", "/sse") are where it listens, unless that is Stdio.
	Transport report.Transport
	Port      uint16
	Path      string
	// Probe says how to exercise it.
	Probe plan.Probe
	// Timeout bounds the whole audit, which is Inconclusive if it is cut short.
	Timeout time.Duration
	// Baseline is an earlier report that the manifest is compared with.
	Baseline *report.Report
	// Scope lists what the operator allows; nil: what the manifest declares. ServerJSON
	// is the server's entry for the MCP registry, where it has one.
	Scope      *report.DeclaredScope
	ServerJSON json.RawMessage
	// Suppressions are known and accepted findings.
	Suppressions []report.Suppression
	// ShowNoise adds samples of what was left out of the profile to the report.
	ShowNoise bool
	// Progress, if set, gets a few words about each step. It must not block.
	Progress func(step string)

	// resolvers has the machine's name servers and search domains.
	resolvers resolving
	// installs has a run for each install script of Package.
	installs []observation
}

// From returns a Plan with what the manager asks for. The runner sets the rest.
func From(p plan.Plan) Plan {
	return Plan{
		Command: p.Command, FailOn: p.FailOn, MinAssurance: p.MinAssurance, Network: p.Network, Transport: p.Transport, Port: p.Port, Path: p.Path,
		Probe: p.Probe, Timeout: p.Timeout.Duration, Scope: p.Scope, Suppressions: p.Suppressions,
	}
}

// transportAuto is plan.TransportAuto, for functions that have a Plan of that name.
const transportAuto = plan.TransportAuto

// named returns the server's command as the user can give it.
func (p Plan) named() []string {
	if p.Package != nil {
		return p.Named
	}
	return p.Command
}

// installed describes the installed package; nil for none.
func (p Plan) installed() *report.Package {
	if p.Package == nil {
		return nil
	}
	return &p.Package.Report
}

// listens reports whether the server speaks HTTP.
func (p Plan) listens() bool { return plan.ByName(p.Transport).Listens }

// enter enters in a report how the server was exercised.
func enter(r *report.ProbeRun, p plan.Probe) {
	p = p.WithDefaults()
	r.Seed, r.Rounds, r.Calls, r.Depth = p.Seed, p.Rounds, p.Calls, p.Depth
}

// Start is how the server is started.
type Start struct {
	// Clock is the time that the server sees.
	Clock trace.Clock
	// Env is set in the server's environment ("NAME=value"), in place of variables
	// with the same names.
	Env []string
	// Parent is the path of the program that seems to start it, where that can be made to seem so; "" for
	// any.
	Parent string
	// Person has the server run as a user with a home of their own, in place of root.
	Person bool
	// Sockets makes stdin, stdout and stderr socket pairs in place of pipes, as Node does for its children.
	Sockets bool
	// Dirs are absolute directories that the server is started for: they get the files
	// that arguments name.
	Dirs []string
	// Lures are directories that get a link out of them, and a sibling whose name begins with theirs. If
	// there are any, so are the files that these lead to; Outside has the names of more
	// (inputs.OutsideFilesOf).
	Lures, Outside []string
	// Project makes the working directory a repository in use, if it can be written to, and adds another
	// that the client has open.
	Project bool
	// Listens: it speaks HTTP. Its stdout is not part of the conversation.
	Listens bool
	// Refuse refuses every connection, and knows no name, in place of the sinkhole's
	// answers.
	Refuse bool
	// Untold leaves out the variables that name the sinkhole's certificate: a server could recognize an audit by them.
	Untold bool
	// Decoys are planted in place of the launcher's; nil: the launcher's.
	Decoys *decoy.Set
	// StandIns names the programs that get a stand-in, at the end of PATH.
	StandIns []string
	// Script is an install script of the package to run in place of the server; nil: the server.
	Script *packages.Script
}

// ErrSupervisorKilled says that the process that starts and stops the server was killed
// after the server had run. The server could do that, so the sandbox has not failed.
var ErrSupervisorKilled = errors.New("the process that supervises the server was killed")

// Launcher starts the server that is under audit, traced from its own execve.
type Launcher interface {
	// Launch is called for each launch of an audit, after the previous one has
	// been stopped.
	// The error wraps trace.ErrUnavailable if the tracer could not be started, and
	// ErrSupervisorKilled if nothing can start the server again; any other says why
	// the server could not be started.
	Launch(ctx context.Context, how Start) (Process, error)
}

// Process is a running server.
type Process interface {
	// Streams are our ends of stdin, stdout and stderr.
	Streams() (stdin io.WriteCloser, stdout, stderr io.ReadCloser)
	// Trace returns its trace.
	Trace() *trace.Session
	// Dial connects to a TCP port in the server's network namespace.
	Dial(ctx context.Context, at netip.AddrPort) (net.Conn, error)
	// Exited is closed when the server's own process has ended, or when that can
	// no longer be known.
	Exited() <-chan struct{}
	// Status returns how it ended; false if that is not known.
	Status() (syscall.WaitStatus, bool)
	// Stop kills what is left of the server and ends the trace. It takes a few
	// seconds at most, and is called once.
	Stop(ctx context.Context)
	// Captures brings what the server sent to the sinkhole; nil without one. The
	// server waits until they are received. Stop closes the channel.
	Captures() <-chan sinkhole.Capture
	// Call tells the sinkhole about a call, so that it learns which answers the server
	// can use.
	Call(c sinkhole.Call)
	// Opened returns the planted files that were opened by any name, according to the
	// kernel. It is called once, after Stop.
	Opened() []string
	// Notes returns what the launcher could not do fully.
	Notes() []string
}

// component describes the tracer of the last run that had one: our own has our
// version.
func component(ctx context.Context, runs []observation) report.Component {
	for _, o := range slices.Backward(runs) {
		switch o.tracer {
		case plan.TracerPtrace:
			return report.Component{Name: "ptrace", Version: Build()}
		case plan.TracerStrace:
			version, _ := trace.Version(ctx) // it has worked, so it is there
			return report.Component{Name: "strace", Version: version}
		}
	}
	return report.Component{}
}

// Run audits one server. It returns a report whatever the server does, and an error
// only if ctx was cancelled. It exceeds plan.Timeout at most by the time that it
// takes to kill the server and to judge it.
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
	// The decoys are worthless, but a scanner that searches reports for secrets cannot know that.
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
