package audit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// gaps returns what the runs could not observe. Gaps that a rule could depend on also make the audit Inconclusive:
// see overflow.
func gaps(installs, runs []observation, attacked, varied observation, network report.Network) []report.Gap {
	var all collection
	all.browsers(runs) // first, for it is the one that the reader can mend
	all.omitted(installs)
	all.untried(attacked)
	all.unendured(runs)
	all.untold(varied)
	all.unanswered(exercised(runs).result.Exercise)
	all.unread(runs)
	all.credentials(runs)
	for _, o := range runs {
		all.stats(o.stats)
		all.add("DroppedEffects", o.profile.Dropped, "effects that there was no room for in the profile")
		all.effects(o.profile.Effects, network)
		all.cut(o.profile.Cut, network)
		all.caught(o.caught)
		all.clock(o)
		all.unmade(o)
		all.uncalled(o, exercised(runs))
		all.unheard(o)
		all.standIns(o)
		all.add("UnsearchedData", o.unsearched, "places that were not searched for decoy secrets to the end, such as compressed data that grow too large")
	}
	return all.gaps()
}

// collection sums gaps by kind.
type collection struct {
	list []report.Gap
	text map[string]string
}

// add counts a gap. The first one of a kind sets the sentence that follows the number.
func (c *collection) add(what string, n int, sentence string) {
	if n <= 0 {
		return
	}
	if c.text == nil {
		c.text = map[string]string{}
	}
	i := slices.IndexFunc(c.list, func(g report.Gap) bool { return g.What == what })
	if i < 0 {
		i = len(c.list)
		c.list = append(c.list, report.Gap{What: what})
		c.text[what] = sentence
	}
	c.list[i].Count += n
}

func (c *collection) gaps() []report.Gap {
	for i := range c.list {
		c.list[i].Detail = fmt.Sprintf("%s (%d)", c.text[c.list[i].What], c.list[i].Count)
	}
	return c.list
}

// untried adds the capabilities whose guards were not tried.
func (c *collection) untried(o observation) {
	if o.how.attack != nil && o.how.impossible == nil && o.unwatched().Reason != "" {
		c.add(report.GapUntriedGuards, 1, "the launch in which guards were to be tried: "+o.unwatched().Message)
		return
	}
	for _, of := range o.result.Attacks.Untried {
		c.add(report.GapUntriedGuards, 1, "what ended or was too slow before its guards were tried, such as the "+of.String())
	}
}

// unendured adds the capabilities that were called less often than it may take a server to change its behavior.
func (c *collection) unendured(runs []observation) {
	for _, o := range runs {
		for _, of := range o.result.Unendured {
			c.add("FewRepeats", 1, "what was too slow to be called again and again, such as the "+of.String()+": what it does after many calls is not known")
		}
	}
}

// unmade adds a launch in other surroundings that failed, or that there was no time for: slow calls leave none, and files
// of an earlier launch may leave no room.
func (c *collection) unmade(o observation) {
	elsewhere := []report.Moment{report.LaunchDisguise, report.LaunchStandIns, report.LaunchRefused}
	if o.launched != nil && o.how.impossible == nil && slices.Contains(elsewhere, o.how.moment) {
		c.add("UnmadeLaunches", 1, "launches that were not made, such as the one "+o.how.row().how+": "+o.launched.Error())
	}
}

// untold adds that data left the server which may depend on a secret.
func (c *collection) untold(o observation) {
	if o.how.vary && o.how.impossible == nil && o.launched != nil {
		c.add("UntestedSecrets", 1, "the launches with other decoys, which tell whether what leaves depends on a secret: "+o.launched.Error())
	}
	for _, what := range o.undecided {
		c.add("OpaqueData", 1, what)
	}
}

// unanswered adds the capabilities with a call without an answer.
func (c *collection) unanswered(rows []report.CapabilityCoverage) {
	for _, row := range rows {
		name := report.Capability{Kind: row.Kind, Name: row.Name}.String()
		switch row.Skipped {
		case report.SkippedTimeout, report.SkippedUnanswered:
			c.add("UnansweredCalls", 1, "what had no answer to a call, such as the "+name)
		case report.SkippedTooLong:
			c.add("LongAnswers", 1, "what answered a call with more than is read, such as the "+name)
		}
	}
}

// unheard adds the lists without an answer.
func (c *collection) unheard(o observation) {
	for _, kind := range o.result.Silent {
		c.add("UnansweredLists", 1, "lists without an answer in time, such as of the kind "+string(kind)+": what the server advertises there is not known")
	}
}

// unread adds the capabilities with texts that exceed the bounds or that no rule can read.
func (c *collection) unread(runs []observation) {
	_, unread := outputsOf(runs)
	for _, of := range slices.SortedFunc(maps.Keys(unread), func(a, b report.Capability) int { return cmp.Compare(a.String(), b.String()) }) {
		c.add("LongTexts", 1, "what said more than is read, such as the "+of.String()+": what the rest tells a model is not known")
	}
	for _, of := range rules.Unread(exercised(runs).result.Manifest) {
		c.add("UnreadTexts", 1, "texts in a language that the rules cannot read, such as that of the "+of.String()+": what they tell a model is not known")
	}
}

// stats adds the gaps of the trace itself.
func (c *collection) stats(s trace.Stats) {
	if s.Overflow {
		c.add("TraceOverflow", 1, "the trace became too long: what came after is not known")
	}
	c.add("UnparsedLines", s.Unparsed, "lines of the trace that were not understood")
	c.add("DroppedCalls", s.Cut+s.Dropped, "calls of the trace that did not fit")
	c.add("UnplacedChanges", s.Unplaced, "changes to files by names that could not be followed")
	c.add("KilledDaemons", s.KilledDaemons, "processes that the server left running and that were killed in the end: what they would have done later is not known")
	c.add("BlindedCalls", s.Blinded, "calls with arguments that the tracer could not read")
}

// cut adds the truncated payloads. The sinkhole sees data that is sent to other machines.
func (c *collection) cut(by profile.Cut, network report.Network) {
	missing := by.Here
	if network != report.NetworkSinkhole {
		missing += by.Sent
	}
	c.add("CutPayloads", count(missing), fmt.Sprintf("bytes that were sent or stored and are not in the trace, "+
		"which has the first %d of each call", trace.MaxData))
}

// effects adds the gaps that show in the server's behavior.
func (c *collection) effects(effects []profile.Effect, network report.Network) {
	for _, e := range effects {
		switch {
		case e.Operation == trace.Forbidden:
			c.add("ForbiddenCalls", e.Count, "system calls that the sandbox kills for, which are not known by name")
		case e.Kind == profile.KindWrite && e.Operation == "mmap":
			c.add("MappedFiles", e.Count, "files that were mapped for writing: what was stored in them so is not in the trace")
		case network == report.NetworkAllow && e.Kind == profile.KindSend && e.Protocol == "tcp" && e.Port == portTLS:
			c.add("EncryptedTraffic", e.Count, "writes to port 443, where what they carried is encrypted for the other end")
		}
	}
}

// caught adds the gaps of the sinkhole's captures.
func (c *collection) caught(all caught) {
	c.add("OpaqueTLS", all.opaque, "TLS connections that could not be ended, such as one to "+all.opaqueTo+": what was sent is not known")
	c.add("DroppedCaptures", all.dropped, "parts of what was sent that there was no room for among the captures")
	if all.remote != "" {
		c.add("RemoteServer", 1, "the MCP server at "+all.remote+", whose client the server is: what it advertises and answers")
	}
	c.add("LostCaptures", count(all.lost), "bytes that were sent and are in no capture")
}

// count converts a number of bytes to what fits a Gap.
func count(n int64) int { return int(min(n, math.MaxInt32)) }

// portTLS is the port of HTTPS (RFC 9110, 4.2.2).
const portTLS = 443
