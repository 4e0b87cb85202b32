package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// Attack has the results of the launch that tried the server's guards.
type Attack struct {
	Profile  profile.Profile
	Attempts []attack.Attempt
	// Unlisted are accepted calls of tools that no list has.
	Unlisted []attack.Taken
	// Posture is how a listening server answers others than its client.
	Posture attack.Posture
	// Polluted are the prototype pollutions that worked.
	Polluted []attack.Polluted
	// Lures are directories with a link and a sibling (see inputs.OutsideNumber).
	Lures []string
	// Statements are the SQL statements that attempts caused.
	Statements []attack.Statement
	// Requests are HTTP and SMTP requests with a mark.
	Requests []attack.Asking

	sighted *sighted
}

// sighted has statements and requests by the marks in them, and by number of the attempt the commands that were run, and the
// files that a shell or a program opened because of an injection.
type sighted struct {
	statements map[string][]attack.Statement
	requests   map[string][]attack.Asking
	ran        map[int]profile.Effect
}

// sight finds what attempts led to, once for all: there may be many effects, and many attempts.
func (a *Attack) sight() {
	all := &sighted{map[string][]attack.Statement{}, map[string][]attack.Asking{}, a.ran()}
	for _, s := range a.Statements {
		for _, id := range inputs.Marks([]byte(s.Text)) { // that of an earlier call may stand in the honest value
			all.statements[id] = append(all.statements[id], s)
		}
	}
	for _, q := range a.Requests {
		for _, id := range inputs.Marks([]byte(q.Target + " " + q.Member + " " + q.Recipient + " " + strings.SplitN(q.Line, ":", 2)[0])) {
			all.requests[id] = append(all.requests[id], q)
		}
	}
	a.sighted = all
}

// controls returns the undisguised attempts at the same place.
func (a Attack) controls(of attack.Attempt) (all []attack.Attempt) {
	for _, each := range a.Attempts {
		if each.Control && each.Of == of.Of && each.Family == of.Family && each.Field == of.Field && each.Place == of.Place {
			all = append(all, each)
		}
	}
	return all
}

// left returns the files outside that were used with success, by capability and number of
// the attempt: failed tries may have been stopped by the kernel.
func (a Attack) left() map[place]profile.Effect {
	all := map[place]profile.Effect{}
	for _, e := range a.Profile.Effects {
		switch e.Kind {
		case profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete:
		default:
			continue
		}
		number, ok := inputs.OutsideNumber(e.Path, a.Lures)
		at := place{e.Capability, number}
		if _, known := all[at]; ok && !known {
			all[at] = e
		}
	}
	// A capability that used the file of an attempt on another one goes through all files,
	// whatever its arguments are.
	walks := map[report.Capability]bool{}
	for at := range all {
		walks[at.of] = walks[at.of] || !slices.ContainsFunc(a.Attempts, func(each attack.Attempt) bool { return each.Using(at.of) && each.File == at.number })
	}
	maps.DeleteFunc(all, func(at place, _ profile.Effect) bool { return walks[at.of] })
	return all
}

// to returns the effect of an attempt outside, by its own call or by one that uses what it stored.
func (a Attack) to(try attack.Attempt, left map[place]profile.Effect) (profile.Effect, bool) {
	for _, of := range append([]report.Capability{try.Of}, try.Users...) {
		if e, led := left[place{of, try.File}]; led && a.causes(try, e) {
			return e, true
		}
	}
	return profile.Effect{}, false
}

// causes reports whether an attempt, and no later one with the same file, led to an effect.
func (a Attack) causes(try attack.Attempt, e profile.Effect) bool {
	if try.Sent.After(e.Time) {
		return false
	}
	return !slices.ContainsFunc(a.Attempts, func(each attack.Attempt) bool {
		return each.File == try.File && each.Using(e.Capability) && each.Sent.After(try.Sent) && !each.Sent.After(e.Time)
	})
}

// place is the target of an attempt of family Path.
type place struct {
	of     report.Capability
	number int
}

// ran finds what sighted has by that name.
func (a Attack) ran() map[int]profile.Effect {
	all := map[int]profile.Effect{}
	for _, e := range a.Profile.Effects {
		call, ok := inputs.InjectedBy(e.Path)
		if e.Kind != profile.KindExec {
			call, ok = inputs.OpenedBy(e.Path)
			ok = ok && (isAccess(e) || e.Kind == profile.KindLoad)
		}
		if _, known := all[call]; ok && !known {
			all[call] = e
		}
	}
	return all
}

// fewCommands matches declarations that only some commands are run.
var fewCommands = lazyregexp.New(`(?i)\b(?:allowed|allow-?listed|white-?listed|permitted|pre-?approved)(?: [\w-]+)? (?:commands?|programs?|binaries)\b` +
	`|\bcommands? (?:is |are )?(?:restricted|limited) to\b|\bcommands? (?:from|in|on) (?:the |an? )?(?:allow|white)-?list` +
	`|\bonly (?:the )?(?:commands? )?[\w-]+(?:,? (?:and |or )?[\w-]+){0,6}?,? (?:commands? )?(?:are|is|can be|may be) (?:allowed|permitted|supported|run|executed|started)\b` +
	`|\b(?:nothing|no) (?:else|other (?:commands?|programs?)) (?:is|are|can be|may be|will be) (?:allowed|permitted|run|executed|started)\b` +
	`|\b(?:any |all )?other (?:commands?|programs?) (?:is|are|will be) (?:refused|rejected|denied|blocked|not (?:allowed|permitted))\b` +
	`|\bonly (?:allows?|permits?)\b[^.]{0,40}\bcommands?\b` +
	`|\bonly (?:(?:runs?|executes?|supports?|allows?) )?(?:the )?(?:commands? |programs? )?` +
	`(?:ls|pwd|date|git|cat|echo|grep|find|head|tail|wc|whoami|uname|uptime|ping|npm|df|du|ps)(?:,| and\b| or\b)`)

// hardened reports whether a tool says that it runs only some commands, and quotes it.
func (in Input) hardened(of report.Capability) (quote string, said bool) {
	quote = fewCommands.FindString(in.saidOf(of))
	return quote, quote != ""
}

var (
	// noCommands matches declarations that nothing is run or evaluated.
	noCommands = lazyregexp.New(`(?i)\b(?:never|(?:does|do|will|can) ?not|(?:does|do|wo|ca)n['’]t) (?:runs?|executes?|evaluates?|spawns?|invokes?|starts?)` +
		`(?: (?:or|and) (?:runs?|executes?|evaluates?))?(?: (?:any|arbitrary|shell|system|external|other))* ` + runnable + `(?:$|[^\w ]| (?:or|and) )` +
		`|\bno (?:(?:shell|system|external|arbitrary) )*` + runnable + ` (?:is|are|will be|can be) (?:ever )?(?:run|executed|evaluated|started|spawned)\b` +
		`|\b` + runnable + ` (?:is|are) never (?:run|executed|evaluated|started)\b` +
		`|\bwithout (?:(?:using|starting|running) )?(?:a|any) (?:shell|subprocess)\b|\bno (?:shell|eval) (?:is |are )?(?:involved|used)\b`)
	// withinLimits matches conditions in such a sentence.
	withinLimits = lazyregexp.New(`(?i)\b(?:unless|except|if|when|until|by default|without (?:your|user|confirm|ask|approv|permission)\w*)`)
)

// runnable matches the words for what is run.
const runnable = `(?:commands?|programs?|shells?|code|scripts?|(?:sub)?process(?:es)?)`

// runsNothing quotes the declaration of a tool or its server that nothing is run or evaluated;
// "" if there is none.
func (in Input) runsNothing(of report.Capability) string {
	for _, text := range []string{in.saidOf(of), manifest.Text(in.Manifest.Instructions)} {
		for sentence := range strings.SplitSeq(report.Head(text, maxDescription), ".") {
			if noCommands.MatchString(sentence) && !withinLimits.MatchString(sentence) {
				return clean(strings.TrimSpace(sentence), 160)
			}
		}
	}
	return ""
}

// harmless quotes that declaration, or the one that nothing is changed.
func (in Input) harmless(of report.Capability) string {
	if said := in.runsNothing(of); said != "" {
		return said
	}
	clause, _ := in.Scope.ReadOnly(of)
	return clean(clause.Quote, 160)
}

// saidOf returns the description of a tool, and its schema as JSON.
func (in Input) saidOf(of report.Capability) string {
	if of.Kind != report.CapabilityTool {
		return ""
	}
	for _, item := range manifest.Items(of.Kind, in.Manifest.Tools) {
		if item.Name == of.Name {
			schema := item.Members["inputSchema"]
			return report.Head(item.Description, maxDescription) + "\n" + report.Head(string(schema), maxSchema)
		}
	}
	return ""
}
