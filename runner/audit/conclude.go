package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/behavior"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/score"
)

// conclude makes the report of all runs. The conversation comes from the run that exercised the server, and the
// behavior from all runs except those that tried guards or varied decoys.
func conclude(plan Plan, all []observation, now time.Time) report.Report {
	runs, attacked, varied := apart(all)
	plan = plan.of(exercised(runs).how)
	demand := report.Demand{FailOn: plan.FailOn, MinAssurance: plan.MinAssurance}
	in := inputOf(plan, runs, attacked, varied, now)
	r := unjudged(plan, all, runs, in)
	r.Findings = slices.Concat(rules.Judge(in), judgeInstalls(plan, now))
	r.Findings = append(r.Findings, judgeAttacked(in, attacked, r.Findings)...)
	r.Exposure = exposed(plan, runs, attacked, in, r.Exercise)
	r.Unobserved = append(gaps(plan.installs, runs, attacked, varied, r.Network), plan.supplied(runs)...)
	unseen := assure(&r, plan, runs, demand)
	compare(&r, plan, runs, unseen)
	withoutCarried(&r, in)
	suppress(&r, plan.Suppressions, now)
	r.Risk = score.Of(r.Findings)
	r.Verdict, r.Reason, r.Message = report.Judge(r.Findings, demand, unseen, r.Assurance)
	return r
}

// unjudged returns a report of what ran, with its manifest and behavior, but without any judgement.
func unjudged(plan Plan, all, runs []observation, in rules.Input) report.Report {
	first := exercised(runs)
	covered, exercise := coverage(runs)
	r := report.Report{
		SchemaVersion: report.SchemaVersion,
		Server: report.ServerRun{
			Name: first.result.ServerName, Version: first.result.ServerVersion,
			ProtocolVersion: first.result.ProtocolVersion, Transport: plan.Transport, Command: plan.named(), Package: plan.installed(),
			Environment: environmentOf(plan.Env), Exit: first.exit(), Stderr: first.stderr,
		},
		FailOn:        plan.FailOn,
		EndTime:       report.At(in.End),
		Runner:        report.Component{Name: "mcpaudit", Version: Build()},
		RulesetDigest: rules.Digest(),
		Network:       plan.Network,
		Profile:       withInstalls(in.Profile, plan.installs).Report(),
		Privileges:    privileges(plan, runs, in.Profile),
		CodePaths:     codePaths(runs),
		Manifest:      first.result.Manifest.Report(),
		Scope:         in.Scope.Clauses(),
		DeclaredScope: plan.Scope,
		Coverage:      covered,
		Exercise:      exercise,
		Outputs:       first.result.Outputs,
		Noise:         in.Profile.Noise,
	}
	enter(&r.Probe, plan.Probe)
	r.Probe.Launches, r.Probe.Runs = launches(all), launched(all)
	if to := first.how.detected; to != nil {
		r.Server.Detected = &to.Endpoint
	}
	if first.result.Listed && len(first.result.Silent) == 0 {
		r.ManifestDigest = r.Manifest.Digest
	} else {
		r.Manifest.Digest = ""
	}
	for _, d := range drifts(runs) {
		r.Drifts = append(r.Drifts, report.ManifestDrift{Moment: d.Moment, Announced: d.Announced, Drift: d.Drift})
	}
	if !plan.ShowNoise {
		for i := range r.Noise {
			r.Noise[i].Samples = nil
		}
	}
	if err := scope.Check(plan.Scope); err != nil {
		r.Errors = append(r.Errors, "declared scope: "+err.Error()+"; it allows nothing")
	}
	for _, o := range slices.Concat(plan.installs, runs) {
		r.Captures = append(r.Captures, o.shown...)
		r.Errors = append(r.Errors, o.problems()...)
	}
	return r
}

// assure sets how much was observed, and returns why that is not enough for a verdict.
func assure(r *report.Report, plan Plan, runs []observation, demand report.Demand) report.Incomplete {
	unseen := cmp.Or(uninstalled(plan.installs), incomplete(runs), fetched(plan, runs), misled(plan.Env))
	r.Incomplete = pointer(unseen)
	r.Assurance = report.AssuranceOf(*r)
	unseen = demand.Unmet(unseen, r.Assurance)
	r.Incomplete = pointer(unseen)
	return unseen
}

// compare sets the behavior of the server and the changes since the baseline.
func compare(r *report.Report, plan Plan, runs []observation, unseen report.Incomplete) {
	server := behavior.Server{Home: plan.Decoys.Home, Command: plan.Command, Search: plan.resolvers.search}
	repeated, _ := merge(repeatable(runs))
	r.Behavior = behavior.Of(repeated, server, unseen.Reason != "")
	r.Redact(shortener(plan.Env)) // the baseline was shortened, too
	if plan.Baseline != nil {
		var changed []report.Finding
		r.Baseline, changed = report.Compare(*plan.Baseline, *r)
		r.Findings = append(r.Findings, changed...)
	}
}

// pointer returns nil for an audit that observed everything.
func pointer(unseen report.Incomplete) *report.Incomplete {
	if unseen.Reason == "" {
		return nil
	}
	return &unseen
}

// merge joins the observations of all runs.
func merge(runs []observation) (seen profile.Profile, leaks []leak.Leak) {
	before := namesOf(given(connected(runs)))
	for _, o := range runs {
		if o.how.refuse {
			asked := namesOf(o.how.asked)
			o.profile.Effects = unreused(o.profile.Effects, repeatable(runs))
			for i := range o.leaks {
				name := o.leaks[i].Decoy.Name
				o.leaks[i].Refused, o.leaks[i].Unsent = true, slices.Contains(asked, name) && !slices.Contains(before, name)
			}
		}
		seen.Join(o.profile)
		leaks = append(leaks, o.leaks...)
	}
	return seen, leaks
}

// repeatable returns the runs that every audit makes. There may be no time for those that refuse connections, let a
// week pass, or change the surroundings or programs.
func repeatable(runs []observation) []observation {
	return slices.DeleteFunc(slices.Clone(runs), func(o observation) bool {
		return slices.Contains([]report.Moment{report.LaunchRefused, report.LaunchWeek, report.LaunchDisguise, report.LaunchStandIns}, o.how.moment)
	})
}

// launches counts the runs in which the server started.
func launches(runs []observation) int {
	n := 0
	for _, o := range runs {
		if o.launched == nil && !o.untraced {
			n++
		}
	}
	return n
}

// incomplete returns the first reason, in causal order, why the audit could not observe everything. A first run that
// only showed that the server speaks another transport must have been traced, but need not have answered.
func incomplete(runs []observation) report.Incomplete {
	first := exercised(runs)
	reason := first.unanswered()
	for _, o := range runs {
		switch why := o.unwatched(); {
		case why.Reason == "", o.dispensable():
		case why.Reason == report.ReasonTimeout && reason.Reason == why.Reason: // the first run used up the time
		default:
			return o.during(why)
		}
	}
	if reason.Reason != "" {
		if _, ok := goesOn(runs); !ok {
			return reason
		}
	}
	for _, o := range runs {
		if reason := o.overflow(); reason.Reason != "" {
			return o.during(reason)
		}
	}
	if first.untraced {
		return report.Incomplete{Reason: report.ReasonNotTraced, Message: "nothing was traced: the server runs elsewhere"}
	}
	covered, _ := coverage(runs)
	if covered.Nothing() {
		return report.Incomplete{Reason: report.ReasonNothingAdvertised,
			Message: cmp.Or(first.passesOn(), "the server advertises no tool, resource or prompt: there was nothing to exercise")}
	}
	if tools := covered.Tools; tools.Called > 0 && tools.Accepted == 0 {
		return report.Incomplete{Reason: report.ReasonNotExercised, Message: first.refused(tools)}
	}
	return unlisted(runs)
}

// refused says that no tool accepted a call, and quotes the server: often it lacks a key, or an argument cannot be
// guessed.
func (o observation) refused(tools report.Exercised) string {
	message := "the only tool refused every call"
	if tools.Listed > 1 {
		message = fmt.Sprintf("each of the %d tools refused every call", tools.Called)
	}
	for _, said := range o.result.Outputs {
		if said.Kind == report.OutputError && said.Capability.Kind == report.CapabilityTool {
			return fmt.Sprintf("%s: %q", message, report.Cut(said.Text, 200))
		}
	}
	return message
}

// dispensable reports whether the audit does not need a run that failed. The run is then a gap.
func (o observation) dispensable() bool {
	return o.launched != nil && o.how.moment != "" && !o.how.row().needed
}

// during adds the launch to a reason, unless it was the first.
func (o observation) during(reason report.Incomplete) report.Incomplete {
	if o.how.moment != "" {
		reason.Message = "when the server was started again, " + o.how.row().how + ": " + reason.Message
	}
	return reason
}

// passesOn says that the server is a client of another MCP server, which is all that there is to audit; "" if it is none.
func (o observation) passesOn() string {
	if o.caught.remote == "" {
		return ""
	}
	return "the server is a client of the MCP server at " + o.caught.remote + " and advertises nothing of its own: audit that server (mcpaudit connect, spec.server.url)"
}

// unanswered returns why the session was incomplete.
func (o observation) unanswered() report.Incomplete {
	reason, bad := o.result.Incomplete, o.result.Pollution
	switch {
	case reason.Reason != "" && !o.result.Listed && o.caught.remote != "":
		reason.Message = o.passesOn()
	case reason.Reason == report.ReasonServerExited:
		reason.Message = o.explainExit(reason.Message)
	case reason.Reason == report.ReasonTimeout && o.result.ProtocolVersion == "" && bad.Lines > 0:
		return report.Incomplete{Reason: report.ReasonProtocolError,
			Message: fmt.Sprintf("what the server writes to stdout is not MCP: %q", bad.Sample)}
	}
	return reason
}

// overflow returns why the rules may have missed behavior.
func (o observation) overflow() report.Incomplete {
	var what string
	switch {
	case o.stats.Overflow:
		what = fmt.Sprintf("the server made more system calls than can be kept (%d lines)", o.stats.Lines)
	case o.drained != nil:
		what = o.drained.Error()
	case o.stats.Unparsed > 0:
		what = fmt.Sprintf("%d lines of the trace were not understood", o.stats.Unparsed)
	case o.stats.Unplaced > 0:
		what = fmt.Sprintf("%d files were changed by names that could not be followed", o.stats.Unplaced)
	case o.stats.Forged > 0:
		what = "the server wrote to its own stdin or read its own stdout: it is not known what was done in which call"
	case o.stats.Cut+o.stats.Dropped > 0:
		what = fmt.Sprintf("%d calls of the trace did not fit", o.stats.Cut+o.stats.Dropped)
	case o.caught.lost > 0:
		what = fmt.Sprintf("the server sent more than can be searched; %d bytes were left out", o.caught.lost)
	case o.profile.Dropped > 0:
		what = fmt.Sprintf("the server did more different things than can be kept; %d were left out", o.profile.Dropped)
	case o.hidden() != "":
		what = fmt.Sprintf("the decoy secret %s was opened by a name that the trace does not show", o.hidden())
	case o.unshown != "":
		what = fmt.Sprintf("%s was changed by a name that the trace does not show, and is run or obeyed when the server is gone", o.unshown)
	case o.unmatched != "":
		what = o.unmatched
	case o.unlooked != nil:
		what = fmt.Sprintf("what is run or obeyed when the server is gone could not be looked at: %v", o.unlooked)
	case o.result.Manifest.TooLong(), o.result.After.TooLong():
		what = fmt.Sprintf("what the server advertises has %d bytes, and no more than %d of it are read", max(o.result.Manifest.Size(), o.result.After.Size()), manifest.MaxRead)
	case o.unsearched > 0:
		what = fmt.Sprintf("%d places in what the server said, sent or stored could not be searched for decoy secrets to the end", o.unsearched)
	default:
		return report.Incomplete{}
	}
	return report.Incomplete{Reason: report.ReasonTraceOverflow, Message: what}
}

// hidden returns a planted file that was opened although the trace shows neither that nor a move of one of its
// directories: a link that came with the server leads to it. Calls that only use the name, such as a rename to it, do
// not open it.
func (o observation) hidden() string {
	for _, file := range o.opened {
		known := slices.ContainsFunc(o.profile.Effects, func(e profile.Effect) bool {
			switch e.Kind {
			case profile.KindRead:
				return e.Path == file || strings.HasPrefix(e.Operation, "rename") && strings.HasPrefix(file, strings.TrimSuffix(e.Path, "/")+"/")
			case profile.KindWrite:
				return e.Path == file && (strings.HasPrefix(e.Operation, "open") || e.Operation == "creat")
			}
			return e.Path == file && e.Kind == profile.KindExec
		})
		if !known {
			return file
		}
	}
	return ""
}

// exit describes how the server ended.
func (o observation) exit() string {
	switch {
	case o.launched != nil, o.untraced:
		return ""
	case !o.exited:
		return "stopped after the audit"
	case !o.known:
		return "unknown"
	case o.status.Signaled():
		return "signal: " + o.status.Signal().String()
	default:
		return fmt.Sprintf("exit status %d", o.status.ExitStatus())
	}
}

// explainExit adds how the server ended to a message.
func (o observation) explainExit(message string) string {
	if o.exited {
		message += fmt.Sprintf(" (%s)", o.exit())
	}
	if said := complaint(o.stderr); said != "" {
		message += ": " + said
	}
	if why := o.missed(); why != "" {
		message += "; " + why
	}
	return message
}

// complaint returns the line of stderr that most likely explains why a server exited: the last that begins with the
// name of an error, else the last that mentions one, else the last. Stack traces are skipped.
func complaint(stderr string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(stderr), "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "Node.js v") || !strings.ContainsFunc(line, unicode.IsLetter)
	})
	for _, speaks := range []*lazyregexp.Regexp{raised, troubled} {
		for _, line := range slices.Backward(lines) {
			if speaks.MatchString(line) {
				return strings.TrimSpace(line)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

var (
	raised   = lazyregexp.New(`^\s*(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]{0,32}: `)
	troubled = lazyregexp.New(`(?i)error|exception|fatal|panic|cannot|not set|required`)
)

// problems returns the errors of a run for the report.
func (o observation) problems() []string {
	var all []string
	all = append(all, o.notes...)
	if o.stats.Unparsed > 0 {
		all = append(all, fmt.Sprintf("%d lines of the trace were not understood; the first: %q", o.stats.Unparsed, o.stats.Sample))
	}
	return all
}
