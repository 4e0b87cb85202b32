// Package audit is the engine: it starts a server under the tracer, exercises it, and
// makes a report of the observations. The runner in the Pod and the command line both
// call Run, each with its own Launcher.
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
	"github.com/mcpaudit/mcpaudit/runner/counters"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Plan says what to audit, and how to judge it.
type Plan struct {
	// Command of the server, for the report; the launcher runs it.
	Command []string
	// Shipped is how many words of Command, from the first on, come with the server: see plan.Plan.
	Shipped int
	// Exact forbids further arguments, and older libraries: somebody else starts the server by this command.
	Exact bool
	// Older has the requirements of an older library that the server was installed with; "" for none.
	Older string
	// Package was installed for the command; nil if none was. Named is the reference that the user gave for it.
	Package *packages.Installed
	Named   []string
	// Dir is the working directory of the server; "" if unknown.
	Dir string
	// Env are the variables ("NAME=value") that the user sets; the launcher sets them.
	Env []string
	// Secrets names variables for which the server gets decoys instead of the user's secrets.
	Secrets []string
	// Decoys were planted by the launcher.
	Decoys decoy.Set
	// FailOn is the lowest severity that makes the verdict Fail; with "", no finding does.
	FailOn report.Severity
	// MinAssurance is the lowest assurance of a Pass; report.DefaultMinAssurance by default.
	MinAssurance report.AssuranceLevel
	// Network says what the launcher does with connections; Sinkhole by default.
	Network report.Network
	// Transport is Auto by default. Port (1 to 65535) and Path ("/mcp", "/sse") locate
	// the endpoint of a server that listens.
	Transport report.Transport
	Port      uint16
	Path      string
	// Probe says how to exercise it.
	Probe plan.Probe
	// Timeout bounds the whole audit. An audit that it cuts short is Inconclusive.
	Timeout time.Duration
	// Baseline is an earlier report that the manifest is compared with.
	Baseline *report.Report
	// Scope lists what the operator allows; if nil, the manifest's declarations count. ServerJSON
	// is the server's entry for the MCP registry, if it has one.
	Scope      *report.DeclaredScope
	ServerJSON json.RawMessage
	// Suppressions are known and accepted findings.
	Suppressions []report.Suppression
	// ShowNoise adds samples of the events that the profile omits to the report.
	ShowNoise bool
	// Names are what the server sees in place of the audit's own names; nil for those.
	Names *pseudonym.Names
	// Progress, if set, gets a few words about each step. It must not block.
	Progress func(step string)

	// resolvers has the machine's name servers and search domains.
	resolvers resolving
	// installs has a run for each install script of Package.
	installs []observation
}

// chosen returns the words of the command that whoever asked for the audit chose.
func (p Plan) chosen() []string { return p.Command[min(max(p.Shipped, 0), len(p.Command)):] }

// From returns a Plan with what the manager asks for. The runner sets the rest.
func From(p plan.Plan) Plan {
	return Plan{
		Command: p.Command, Shipped: p.Shipped, Exact: true, FailOn: p.FailOn, MinAssurance: p.MinAssurance, Network: p.Network, Transport: p.Transport, Port: p.Port, Path: p.Path,
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

// enter sets how the server was exercised.
func enter(r *report.ProbeRun, p plan.Probe) {
	p = p.WithDefaults()
	r.Seed, r.Rounds, r.Calls, r.Depth = p.Seed, p.Rounds, p.Calls, p.Depth
}

// Start says how to start the server.
type Start struct {
	// Names are those of the Plan. Launchers replace what they make of the rest, and what they find at the server.
	Names *pseudonym.Names
	// Clock is the time that the server sees.
	Clock trace.Clock
	// Env has variables ("NAME=value") that override those of the same names.
	Env []string
	// Arguments come after those of the command.
	Arguments []string
	// Parent is the path of the program that appears as the server's parent, if the launcher
	// can arrange that; "" for any.
	Parent string
	// Person runs the server as a user with a home directory instead of root.
	Person bool
	// Sockets makes stdin, stdout and stderr socket pairs instead of pipes, as Node does for its children.
	Sockets bool
	// Parting are the signals by which the server is ended, one after the other; nil for SIGTERM.
	Parting []syscall.Signal
	// Dirs are absolute directories that the command line names. The files that arguments
	// name are planted there.
	Dirs []string
	// Lures are directories in which a link that leads out is planted, and beside which a
	// sibling whose name begins with theirs, with the files that these lead to. Outside
	// names more such files (inputs.OutsideFilesOf).
	Lures, Outside []string
	// Project makes the working directory a repository in use, if it is writable, and adds another
	// one that the client has open.
	Project bool
	// Aged are files of the server's that get other content before it starts, unless they have changed.
	Aged []counters.File
	// Listens says that the server speaks HTTP: its stdout is not part of the conversation.
	Listens bool
	// Refuse refuses every connection and resolves no name, instead of the sinkhole's answers.
	Refuse bool
	// Untold omits the variables that name the sinkhole's certificate, by which a server could recognize an audit.
	Untold bool
	// Decoys replace the launcher's; nil keeps those.
	Decoys *decoy.Set
	// StandIns names the programs that get a stand-in at the end of PATH.
	StandIns []string
	// Script is an install script of the package to run instead of the server; nil for the server.
	Script *packages.Script
}

// ErrSupervisorKilled says that the process that starts and stops the server was killed
// after the server had run. The server could do that, so the sandbox has not failed.
var ErrSupervisorKilled = errors.New("the process that supervises the server was killed")

// Launcher starts the audited server, traced from its own execve on.
type Launcher interface {
	// Launch starts the server. It is called for each launch of an audit, after the
	// previous one has stopped. The error wraps trace.ErrUnavailable if the tracer could
	// not be started, and ErrSupervisorKilled if nothing can start the server again.
	Launch(ctx context.Context, how Start) (Process, error)
}

// Process is a running server.
type Process interface {
	// Streams returns the audit's ends of stdin, stdout and stderr.
	Streams() (stdin io.WriteCloser, stdout, stderr io.ReadCloser)
	// Trace returns its trace.
	Trace() *trace.Session
	// Dial connects to a TCP port in the server's network namespace.
	Dial(ctx context.Context, at netip.AddrPort) (net.Conn, error)
	// Exited is closed when the server's main process has ended, or its end can no longer
	// be observed.
	Exited() <-chan struct{}
	// Status returns how the main process ended; false if unknown.
	Status() (syscall.WaitStatus, bool)
	// Stop kills all remaining processes of the server and ends the trace, within a few
	// seconds. It is called once.
	Stop(ctx context.Context)
	// Captures delivers the data that the server sends to the sinkhole; nil without a
	// sinkhole. The server waits until each is received. Stop closes the channel.
	Captures() <-chan sinkhole.Capture
	// Call tells the sinkhole about a call, so that it learns which answers the server
	// accepts.
	Call(c sinkhole.Call)
	// Opened returns the planted files that were opened by any name, according to the
	// kernel. It is called once, after Stop.
	Opened() []string
	// Notes describes what the launcher could only do in part.
	Notes() []string
}

// component describes the tracer of the last traced run. Our own has the version of this program.
func component(ctx context.Context, runs []observation) report.Component {
	for _, o := range slices.Backward(runs) {
		switch o.tracer {
		case plan.TracerPtrace:
			return report.Component{Name: "ptrace", Version: Build()}
		case plan.TracerStrace:
			version, _ := trace.Version(ctx) // strace ran, so it is installed
			return report.Component{Name: "strace", Version: version}
		}
	}
	return report.Component{}
}

// Run audits one server. It returns a report whatever the server does, and an error
// only if ctx is cancelled. It may exceed plan.Timeout by the time needed to kill the
// server and evaluate the observations.
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
	r.Redact(shortener(plan.Env))
	if _, _, o := apart(runs); len(o.dependences) > 0 {
		r.Redact(decoy.NewMatcher(o.varied).Redact)
	}
	r.StartTime, r.EndTime = report.At(started), report.At(ended)
	r.Tracer = component(context.WithoutCancel(ctx), runs)
	r.Normalise()
	r.Cap()
	return r, nil
}
