package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/exposure"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// stopDeadline bounds the end of a server, drainDeadline that of its trace:
	// a server that made more calls than can be read is cut off there.
	stopDeadline  = 20 * time.Second
	drainDeadline = 60 * time.Second
	// endurance bounds for how long everything is asked again and again. It takes a second or
	// two, by the number of requests; more only beside a busy machine.
	endurance = 8 * time.Second
	// maxStderr is how much of the end of stderr is kept, in bytes.
	maxStderr = report.MaxStderrBytes
	// scratch is the directory that arguments and roots name: every server has
	// it, and its own files are elsewhere.
	scratch = "/tmp"
)

// observation is one run of the server, from launch to the end of its trace.
type observation struct {
	how launch
	// launched is why there was no run; all else is empty then.
	launched error
	// took is how long it was from the launch to its end.
	took time.Duration
	// untraced: the server runs elsewhere, and only result counts.
	untraced bool
	// programs has those that the server was made of, by path.
	programs []string
	// tracer is the backend that was used.
	tracer plan.Tracer
	// detected is where the server listens that did not answer on stdout; nil where
	// that was not looked for, or not found.
	detected *detected
	result   probe.Result
	profile  profile.Profile
	needs    profile.Needs
	code     profile.Code
	made     trace.Made
	uid      int
	gid      int
	stats    trace.Stats
	leaks    []leak.Leak
	// opened are the planted files that were opened, by whatever name.
	opened []string
	// unsearched counts the places that could not be searched for decoys.
	unsearched int
	// lost: the tracer went before the server did; stopping: it did so only when the server was
	// being stopped. drained: why the trace could not be read to its end.
	lost, stopping bool
	drained        error
	// exited and known say whether, and how, the server ended before it was
	// stopped: exited without known means that the shim was lost.
	exited, known bool
	// starved: the kernel ended one of its processes for want of memory.
	starved bool
	// withheld is why the launcher keeps a file from the server; nil where it keeps none.
	withheld func(path string) string
	status   syscall.WaitStatus
	stderr   string
	notes    []string
	// sought are the addresses on the loopback where the server looked for a service.
	sought []netip.AddrPort
	// searched are the programs that it looked for in vain, without executing them.
	searched []string
	// variables are those that the server's code reads, where it lacks a credential.
	variables []string
	// tools are what its code may name tools by, where it was exercised.
	tools  []string
	caught caught
	// shown has what was caught, for the report.
	shown []report.Capture
	// sent has what was caught during calls.
	sent []exposure.Sent
	// recipients are those of the messages that were caught during calls.
	recipients []rules.Recipient
	// left has what left the server, and dependences what of that depends on a decoy, where
	// decoys are varied. varied is the other set, undecided what could not be told.
	left        *depend.Record
	dependences []rules.Dependence
	varied      decoy.Set
	undecided   []string
	// statements are those with marks that were caught where guards were tried.
	statements []attack.Statement
	// requests are the same by HTTP and SMTP.
	requests []attack.Asking
}

// launch is one start of the server and what it is to show. The zero value is
// the first.
type launch struct {
	// moment says what it is for: a row of the table afterwards; "" where the server is
	// exercised. again: it is a second such launch, to tell what differs by itself.
	moment report.Moment
	again  bool
	// impossible is why there can be no such launch.
	impossible error
	// clock is the time that the server sees.
	clock trace.Clock
	// detected is where the server is talked to, as an earlier launch has found; nil:
	// as the plan says.
	detected *detected
	// discover speaks the stateless revision.
	discover bool
	// listOnly: nothing is exercised.
	listOnly bool
	// once: everything is exercised with one call each.
	once bool
	// identity is the client that it is started by, and what that sets.
	identity persona
	// revision is the one of MCP that is asked for first; "" for the newest.
	revision string
	// unhurried is probe.Options.Unhurried.
	unhurried map[report.Capability]bool
	// calls is how often each tool is called at most where once is set; 0: once.
	calls int
	// skip are the tools that are not called.
	skip []string
	// wait is how long nothing is asked after the lists; they are asked for again then.
	wait time.Duration
	// refuse has every connection refused.
	refuse bool
	// untold is Start.Untold.
	untold bool
	// vary has what leaves compared with what leaves with other decoys, in several launches;
	// decoys are those of one of them, nil: the plan's.
	vary   bool
	decoys *decoy.Set
	// attack has guards tried; nil for none.
	attack *attack.Plan
	// lures, outside and project are those of Start.
	lures, outside []string
	project        bool
	// standIns are programs that a stand-in answers for.
	standIns []string
	// neighbours are addresses on the loopback where the sinkhole is in place of a service.
	neighbours []netip.AddrPort
	// given are arguments for tools that the plan has none for: those that were accepted.
	given map[string]json.RawMessage
	// goesOn: it does what the exercise did not, for the server had ended in a call.
	goesOn bool
	// prompt are the capabilities that answered at once when the server was exercised.
	prompt map[report.Capability]bool
	// silent are the kinds whose lists had no answer in the exercise.
	silent []report.CapabilityKind
	// asked are variables that the server has asked for.
	asked []decoy.Var
	// script is run in place of the server.
	script *packages.Script
}

// observe runs the server once.
func observe(ctx context.Context, plan Plan, launcher Launcher, how launch) observation {
	detecting := plan.Transport == transportAuto && how.detected == nil
	plan = plan.of(how)
	process, err := launcher.Launch(ctx, Start{Clock: how.clock, Env: how.environment(plan), Parent: how.identity.parent, Sockets: how.sockets(plan), Person: how.person(), Dirs: plan.bound(), Lures: how.lures, Outside: how.outside, Project: how.project, Listens: plan.listens(), Refuse: how.refuse, Untold: how.untold, StandIns: how.standIns, Decoys: how.decoys, Script: how.script})
	if err != nil {
		return observation{launched: err}
	}
	o := observation{tracer: process.Trace().Backend()}
	builder := profile.New(profile.Limits{Home: plan.Decoys.Home, Sensitive: plan.sensitive})
	traceCtx, endTrace := context.WithCancel(context.WithoutCancel(ctx))
	defer endTrace()
	drained := make(chan error, 1)
	secrets, listens, proof := leak.New(plan.Decoys), newListening(), how.witness()
	var made programs
	var needs profile.Needs
	var code profile.Code
	var reads reading
	programsSought, left := searched{}, leaving{on: how.vary}
	lonely := sought{at: slices.Clone(how.neighbours)}
	go func() {
		drained <- process.Trace().Run(traceCtx, func(e trace.Event) {
			made.event(e)
			programsSought.event(e)
			builder.Add(e)
			code.Add(e)
			needs.Add(e)
			proof.event(e)
			secrets.Event(e)
			listens.event(e)
			reads.event(e)
			lonely.event(e)
			left.event(e)
		})
	}()

	catching := make(chan caught, 1)
	var heard overheard
	go func() {
		catching <- catch(process.Captures(), func(c sinkhole.Capture) {
			secrets.Capture(c)
			if how.attack != nil {
				heard.capture(c)
			}
		})
	}()
	if len(how.neighbours) > 0 {
		process.Call(sinkhole.Call{Ended: true, Missed: how.neighbours})
	}
	stdin, stdout, stderr := process.Streams()
	logs := newLogs(secrets)
	logs.drain(stderr, leak.Stderr)
	conn := probe.Conn{
		Stdin: stdin, Stdout: stdout, Exited: process.Exited(), Received: left.tee(secrets.Response),
		Active: builder.Active, Pending: process.Trace().Pending,
		Calling: func(c probe.Calling) {
			told := sinkhole.Call{Arguments: string(c.Arguments), Ended: c.Ended, Refusal: c.Refusal}
			if c.Refusal != "" {
				told.Reads = reads.fields(launcher)
				if how.attack == nil { // there, what leads to the loopback is tried
					told.Missed = lonely.seen(listens)
				}
			}
			process.Call(told)
		},
		Long: func(piece []byte, end int64) { secrets.Wire(0, piece, end) },
	}
	if plan.listens() || how.script != nil {
		conn.Stdin, conn.Stdout = nil, nil
		logs.drain(stdout, leak.Stdout)
	}
	talk := talking{stdin: stdin, plan: plan, process: process, conn: conn, listens: listens, secrets: secrets, how: how}
	o.result, o.detected = talk.converse(ctx, detecting)

	select {
	case <-process.Exited():
		o.exited = true
		o.status, o.known = process.Status()
	default:
	}
	plan.Progress("stop the server")
	o.stopping = process.Trace().Why() == ""
	stopCtx, stopped := context.WithTimeout(context.WithoutCancel(ctx), stopDeadline)
	_ = stdin.Close() // the probe has closed it, unless it is of no use to it
	process.Stop(stopCtx)
	stopped()

	o.drained = await(drained, endTrace)
	logs.end()
	_, _ = stdout.Close(), stderr.Close() // ends the readers
	o.caught = <-catching
	o.profile, o.statements = builder.Build(o.result.Ledger), proof.statements(heard, o.result)
	o.requests = heard.requests
	o.leaks, o.unsearched = secrets.Finish(o.result.Ledger), secrets.Unsearched()
	o.shown, o.sent = secrets.Shown(o.caught.captures, o.result.Ledger), sentIn(o.caught.captures, o.result.Ledger, secrets)
	o.recipients = addressed(o.caught.captures, o.result.Ledger, secrets)
	o.opened, o.programs, o.sought, o.searched = process.Opened(), made, lonely.seen(listens), programsSought.inVain()
	made.interpreters(launcher, &code)
	o.needs, o.code, o.made = needs, code, process.Trace().Made()
	o.uid, o.gid = process.Trace().Owner()
	o.stats, o.stderr, o.notes = process.Trace().Stats(), logs.tail.String(), process.Notes()
	if o.lacksCredential() {
		o.variables = reads.variables(launcher)
	}
	if how.moment == "" {
		o.tools = reads.tools(launcher)
	}
	o.left = left.record(o, secrets)
	if limited, ok := process.(interface{ OutOfMemory() bool }); ok {
		o.starved = limited.OutOfMemory()
	}
	if hiding, ok := process.(interface{ Withheld(path string) string }); ok {
		o.withheld = hiding.Withheld
	}
	select {
	case <-process.Trace().Lost():
		o.lost = true
		o.notes = append(o.notes, "the tracer was lost: "+process.Trace().Why())
	default:
	}
	return o
}

// sensitive reports whether a path is planted, or one that the rules know.
func (p Plan) sensitive(path string) bool {
	return rules.Sensitive(path) ||
		slices.ContainsFunc(p.Decoys.Files, func(f decoy.File) bool { return f.Path == path })
}

// runProbe holds the session with a server.
func runProbe(ctx context.Context, plan Plan, conn probe.Conn, secrets *leak.Collector, how launch) probe.Result {
	options := plan.options(how)
	options.Refuse = secrets.Holds
	options.Progress = func(method string, phase report.Phase, of report.Capability) {
		secrets.Asked(phase, of)
		plan.Progress(describe(method, of))
	}
	result, err := probe.Run(ctx, conn, options)
	if err != nil && result.Incomplete.Reason == "" {
		result.Incomplete = report.Incomplete{Reason: report.ReasonTimeout, Message: "the session was broken off"}
	}
	return result
}

func (p Plan) options(how launch) probe.Options {
	options := probe.Options{
		Discover: how.discover, Revision: how.revision, Identity: how.identity.name, Plain: how.identity.name != "" && how.identity.name != anyClient.name, ListOnly: how.listOnly, Attack: how.attack,
		Version: cmp.Or(how.identity.version, Build()), Inputs: inputs.Options{Dir: scratch, Bound: p.bound(), Sunk: p.Network == report.NetworkSinkhole},
		Calls: p.Probe.Calls, Skip: slices.Concat(p.Probe.SkipTools, how.skip), Given: p.Probe.Inputs, Rounds: p.Probe.Rounds, Prompt: how.prompt, Silent: how.silent,
		MaxCalls: p.Probe.MaxCallsPerTool, CallTimeout: p.Probe.CallTimeout.Duration, Seed: p.Probe.Seed,
		Following: how.following(), Reserved: reserved(p.Timeout),
	}
	if len(how.given) > 0 {
		options.Given = maps.Clone(how.given)
		maps.Copy(options.Given, p.Probe.Inputs)
	}
	if how.once {
		options.Rounds, options.MaxCalls, options.CallTimeout = 1, cmp.Or(how.calls, 1), onceTimeout
		options.Wait = how.wait
		if how.clock.Again > 0 {
			options.Rounds, options.MaxCalls, options.Until = 2, 2, time.Now().Add(how.clock.Slow())
			options.Hours, options.Alone = how.clock.For/2+trace.MostTrue, trace.MostTrue+leftAlone
			options.Unhurried = how.unhurried
		}
	}
	if how.vary { // a round for each call: where there is nothing new to ask, the last is asked again
		options.CallTimeout, options.Rounds, options.Settle = variedTimeout, options.MaxCalls, variedSettle
	}
	if how.project {
		options.Inputs.Root = path.Join(scratch, inputs.ProjectDir)
	}
	options.Incapable = how.moment == report.LaunchDisguise
	options.Proper = how.goesOn
	if (how.moment == "" && !how.listOnly || how.goesOn) && p.Probe.Depth != report.DepthQuick {
		options.Endure = endurance
		if p.Probe.Depth == report.DepthDeep {
			options.Endure *= deepTime
		}
	}
	if how.attack != nil { // marks say which call an effect is of
		options.Settle, options.SettleMost = attackSettle, 5*attackSettle
	}
	if how.listOnly || how.once {
		// What it does when it is left alone, the first launch has shown.
		options.Idle, options.Grace = 100*time.Millisecond, 500*time.Millisecond
	}
	return options
}

func describe(method string, of report.Capability) string {
	if of.Name == "" {
		return method
	}
	return fmt.Sprintf("%s %s", method, of.Name)
}

// errUndrained: the trace was longer than could be read in time.
var errUndrained = errors.New("the trace could not be read to its end in time")

// await waits for the trace to be read to its end.
func await(drained <-chan error, end func()) error {
	select {
	case err := <-drained:
		return err
	case <-time.After(drainDeadline):
		end()
		return errors.Join(errUndrained, <-drained) // it ends with its context
	}
}
