package audit

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/counters"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/exposure"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/sources"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// stopDeadline bounds how long stopping a server takes, and drainDeadline how long
	// reading the rest of its trace takes.
	stopDeadline  = 20 * time.Second
	drainDeadline = 60 * time.Second
	// endurance bounds the repeated calls at the end of the exercise, which take a second or
	// two on an idle machine.
	endurance = 8 * time.Second
	// maxStderr bounds how much of the end of stderr is kept, in bytes.
	maxStderr = report.MaxStderrBytes
	// scratch is the directory that arguments and roots name. Every server has it, and keeps
	// its own files elsewhere.
	scratch = "/tmp"
)

// observation holds everything observed in one run of the server, from launch to the end
// of its trace.
type observation struct {
	how launch
	// launched is why there was no run; the other fields are then empty.
	launched error
	// took is the time from the launch to its end.
	took time.Duration
	// untraced is set if the server runs elsewhere. Only result is then valid.
	untraced bool
	// programs are the paths of the programs that the server consists of.
	programs []string
	// tracer is the backend that was used.
	tracer plan.Tracer
	// detected is where a server listens that did not answer on stdout; nil if that was
	// not searched for, or not found.
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
	// opened are the planted files that were opened by any name.
	opened []string
	// unshown is a file that other programs run or obey and that changed by a name that the trace does not show; unlooked
	// is why there was no comparison.
	unshown  string
	unlooked error
	// unmatched says where something was sent that the trace does not show; "" for nowhere.
	unmatched string
	// filed are variables that the server asked for and whose value it used as a file name.
	filed []string
	// unsearched counts the places that could not be searched for decoys.
	unsearched int
	// lost is set if the tracer ended before the server, and stopping if that happened only
	// while the server was being stopped. drained is why the trace could not be read to its end.
	lost, stopping bool
	drained        error
	// exited is set if the server ended before it was stopped, and known if its status is
	// known; otherwise the shim was lost.
	exited, known bool
	// starved is set if the kernel killed one of its processes for lack of memory.
	starved bool
	// withheld returns why the launcher hides a file from the server; nil if it hides none.
	withheld func(path string) string
	status   syscall.WaitStatus
	stderr   string
	notes    []string
	// sought are the loopback addresses where the server looked for a service.
	sought []netip.AddrPort
	// searched are programs that it looked for in vain, without executing them.
	searched []string
	// variables are read by the server's code; set only if it lacks a credential. keys are those for secrets; set
	// only if it was exercised.
	variables, keys []string
	// tools are possible names of tools in its code, and moments the times that it may act at; set only if it was
	// exercised.
	tools   []string
	moments sources.Moments
	caught  caught
	// shown are the captures for the report.
	shown []report.Capture
	// sent are the captures during calls.
	sent []exposure.Sent
	// recipients of messages that were captured during calls.
	recipients []rules.Recipient
	// passed are arguments that left in calls of other capabilities.
	passed []rules.PassedOn
	// left is the data that left the server. If decoys were varied, varied is the other set,
	// dependences are the parts of the data that depend on a decoy, and undecided the decoys
	// for which that is unknown.
	left        *depend.Record
	dependences []rules.Dependence
	varied      decoy.Set
	undecided   []string
	// kept is what the server wrote into files.
	kept *counters.Launch
	// statements with marks that were captured while guards were tried.
	statements []attack.Statement
	// requests with marks, by HTTP and SMTP, from the same time.
	requests []attack.Asking
}

// launch describes one start of the server and its purpose. The zero value is the first,
// which exercises it.
type launch struct {
	// moment names the row of the table afterwards; "" if the server is exercised. again is
	// set for the second launch of a row, which shows what differs by itself.
	moment report.Moment
	again  bool
	// impossible is why there can be no such launch.
	impossible error
	// clock is the time that the server sees.
	clock trace.Clock
	// detected is the endpoint that an earlier launch found; nil for the plan's.
	detected *detected
	// discover speaks the stateless revision.
	discover bool
	// listOnly lists everything and calls nothing.
	listOnly bool
	// once calls everything once, or tools as often as calls says.
	once  bool
	calls int
	// identity is the client, with its environment.
	identity persona
	// revision of MCP to ask for first; "" for the newest.
	revision string
	// unhurried is probe.Options.Unhurried.
	unhurried map[report.Capability]bool
	// skip are tools that are not called.
	skip []string
	// favourite is probe.Options.Favourite.
	favourite int
	// wait is the pause between the lists and listing again.
	wait time.Duration
	// refuse refuses every connection.
	refuse bool
	// untold is Start.Untold.
	untold bool
	// vary compares what leaves the server over several launches with different decoys.
	// decoys are those of one of these launches; nil for the plan's.
	vary   bool
	decoys *decoy.Set
	// attack tries guards; nil for none.
	attack *attack.Plan
	// lures, outside and project are those of Start.
	lures, outside []string
	project        bool
	// aged are files that the server counts in, as they would be after long use.
	aged []counters.File
	// root is the directory that the client has open; "" for the one that arguments name.
	root string
	// abrupt is set if the client terminates the server during the session.
	abrupt bool
	// incapable: the client declares no capabilities.
	incapable bool
	// standIns are programs that a stand-in answers for.
	standIns []string
	// neighbours are loopback addresses where the sinkhole replaces a service.
	neighbours []netip.AddrPort
	// given are arguments that were accepted, for tools without arguments in the plan.
	given map[string]json.RawMessage
	// refused is probe.Options.Refused.
	refused map[string]json.RawMessage
	// goesOn continues an exercise in which the server exited during a call.
	goesOn bool
	// prompt are the capabilities that answered at once during the exercise.
	prompt map[report.Capability]bool
	// silent are the kinds whose lists had no answer during the exercise.
	silent []report.CapabilityKind
	// asked are variables that the server asked for. excluded are those that it must not have beside them.
	asked    []decoy.Var
	excluded []string
	// arguments are those that the server demands besides its command.
	arguments []string
	// values is probe.Options.Values.
	values func() sources.Values
	// script runs instead of the server.
	script *packages.Script
}

// observe runs the server once.
func observe(ctx context.Context, plan Plan, launcher Launcher, how launch) observation {
	detecting := plan.Transport == transportAuto && how.detected == nil
	plan = plan.of(how)
	process, err := launcher.Launch(ctx, Start{Names: plan.Names, Clock: how.clock, Env: how.environment(plan), Arguments: told(plan.Names, how.arguments), Parent: how.identity.parent, Sockets: how.sockets(plan), Parting: how.identity.parting, Person: how.person(), Dirs: plan.bound(), Lures: how.lures, Outside: how.outside, Project: how.project, Aged: how.aged, Listens: plan.listens(), Refuse: how.refuse, Untold: how.untold, StandIns: how.standIns, Decoys: how.decoys, Script: how.script})
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
	var changed traced
	var shown, arrived destinations
	kept := &counters.Launch{}
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
			changed.event(e)
			shown.event(e)
			kept.Event(e)
		})
	}()

	catching := make(chan caught, 1)
	var heard overheard
	go func() {
		catching <- catch(process.Captures(), plan.Names, func(c sinkhole.Capture) {
			secrets.Capture(c)
			arrived.capture(c)
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
	logs.drain(plan.Names.Reader(stderr), leak.Stderr)
	conn := probe.Conn{
		Names: plan.Names, Stdin: stdin, Stdout: stdout, Exited: process.Exited(), Received: left.tee(secrets.Response),
		Active: builder.Active, Pending: process.Trace().Pending, Logged: logs.latest(stderr),
		Calling: func(c probe.Calling) {
			told := sinkhole.Call{Arguments: string(c.Arguments), Ended: c.Ended, Refusal: c.Refusal}
			if c.Refusal != "" {
				told.Reads = reads.fields(launcher)
				if how.attack == nil { // attacks use the loopback themselves
					told.Missed = lonely.seen(listens)
				}
			}
			told.Arguments, told.Refusal = plan.Names.Out(told.Arguments), plan.Names.Out(told.Refusal)
			process.Call(told)
		},
		Long: func(piece []byte, end int64) { secrets.Wire(0, piece, end) },
	}
	if plan.listens() || how.script != nil {
		conn.Stdin, conn.Stdout = nil, nil
		logs.drain(plan.Names.Reader(stdout), leak.Stdout)
	}
	stop := sync.OnceFunc(func() {
		select {
		case <-process.Exited():
			o.exited = true
			o.status, o.known = process.Status()
		default:
		}
		plan.Progress("stop the server")
		o.stopping = process.Trace().Why() == ""
		stopCtx, stopped := context.WithTimeout(context.WithoutCancel(ctx), stopDeadline)
		defer stopped()
		process.Stop(stopCtx)
	})
	conn.Terminate = how.parting(stop)
	how.values = func() sources.Values { return reads.values(launcher) }
	talk := talking{stdin: stdin, plan: plan, process: process, conn: conn, listens: listens, secrets: secrets, how: how}
	o.result, o.detected = talk.converse(ctx, detecting)

	_ = stdin.Close() // the probe has closed it, unless it is of no use to it
	stop()

	o.drained = await(drained, endTrace)
	logs.end()
	_, _ = stdout.Close(), stderr.Close() // ends the readers
	o.caught = <-catching
	o.profile, o.statements = builder.Build(o.result.Ledger), proof.statements(heard, o.result)
	o.requests = heard.requests
	o.leaks, o.unsearched, o.filed = secrets.Finish(o.result.Ledger), secrets.Unsearched(), secrets.Filed()
	o.shown, o.sent = secrets.Shown(o.caught.captures, o.result.Ledger), sentIn(o.caught.captures, o.result.Ledger, secrets)
	o.passed = passedOn(o.caught.captures, o.result, secrets, plan.Names)
	o.recipients = addressed(o.caught.captures, o.result.Ledger, secrets)
	o.opened, o.programs, o.sought, o.searched = process.Opened(), made, lonely.seen(listens), programsSought.inVain()
	o.unshown, o.unlooked = changed.compare(process)
	o.unmatched = unmatched(arrived, shown)
	made.interpreters(launcher, &code)
	o.needs, o.code, o.made = needs, code, process.Trace().Made()
	o.uid, o.gid = process.Trace().Owner()
	o.stats, o.stderr, o.notes = process.Trace().Stats(), logs.tail.String(), process.Notes()
	if o.lacksCredential() {
		o.variables = reads.variables(launcher)
	}
	if how.moment == "" {
		o.tools, o.moments = reads.tools(launcher), reads.values(launcher).Moments
		o.keys = slices.DeleteFunc(reads.variables(launcher), func(name string) bool { return !decoy.Secret(name) })
	}
	o.left, o.kept = left.record(o, secrets), kept
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

// parting returns the function that ends the server at the end of the session; nil if closing its stdin does.
func (how launch) parting(stop func()) func() {
	if how.abrupt {
		return stop
	}
	return nil
}

// sensitive reports whether a path is planted, or one that the rules know.
func (p Plan) sensitive(path string) bool {
	return rules.Sensitive(path) ||
		slices.ContainsFunc(p.Decoys.Files, func(f decoy.File) bool { return f.Path == path })
}

// errUndrained means that the trace was too long to be read in time.
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
