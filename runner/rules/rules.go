// Package rules judges what a server did by what its manifest declares.
//
// The directory catalogue has the rules as people read them, find.go the function that
// decides each: a pure one, from the Input to findings. A finding states what was seen and that
// the declaration does not cover it, never what was meant by it. The audit
// calls Judge once, when the session is over.
package rules

import (
	"cmp"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// Input holds everything that rules judge by.
type Input struct {
	Profile profile.Profile
	// Occasion is that of the launches in the profile.
	Occasion Occasion
	Scope    scope.Scope
	// Decoys are the planted files, Belongings those without a secret that only the user changes.
	Decoys     []Decoy
	Belongings []string
	// Opened are directories in the home that a client named as its roots.
	Opened []string
	// Leaks are the secrets that left the server.
	Leaks []leak.Leak
	// Carried are credentials in answers that the server has brought along.
	Carried []Carried
	// PassedOn are arguments that left in calls of other capabilities.
	PassedOn []PassedOn
	// Recipients are those to whom messages were sent.
	Recipients []Recipient
	// Dependences are data that left the server and vary with a secret.
	Dependences []Dependence
	// Drifts are the differences of the manifest within the audit.
	Drifts    []Drift
	Pollution Pollution
	// Breaches are other ways in which the server broke the protocol.
	Breaches []breach.Breach
	// Manifest is read by the rules about texts, and Outputs are the server's
	// answers.
	Manifest manifest.Manifest
	Outputs  []Output
	// Others are manifests that the server advertised in other surroundings.
	Others []Advertised
	// Command started the server; nil where it runs elsewhere.
	Command []string
	// Chosen are the words of Command that whoever asked for the audit chose, and not the publisher.
	Chosen []string
	// Env are the variables ("NAME=value") that the operator has set, Asked those that the
	// server asked for, with values of the audit.
	Env, Asked []string
	// Missing are programs that the server looked for in vain.
	Missing []string
	// Arguments are the values that a capability was called with.
	Arguments map[report.Capability][]Argument
	// Home is the server's home directory: absolute and clean; "" if not known.
	Home string
	// Dir is its working directory; "" if not known.
	Dir string
	// Baseline is an earlier report; nil if there is none.
	Baseline *report.Report
	// Resolvers are the machine's name servers (resolv.conf(5)); none: not known.
	Resolvers []netip.Addr
	// Complete: the server was watched to its end, and everything that it advertises was
	// exercised with success. Only then is the absence of an effect evidence.
	Complete bool
	// directives are the orders in the manifest's texts; Judge reads them once.
	directives []directive
	// Transport carries the conversation with the server. Port is the one that it was told to listen on; 0 for none.
	Transport report.Transport
	Port      uint16
	// Identity holds the metadata services of clouds, by name or address, that were only asked which machine this is.
	Identity map[string]bool
	// Versions holds the registries of packages that were only asked for the versions of one, as a server or its
	// framework does to check for an update.
	Versions map[string]bool
	// Attack holds the calls that tried the server's guards, and their effects.
	Attack Attack
	// Search are the domains that the machine puts behind names that it looks up.
	Search []string
	// End is the time of evidence without a system call.
	End time.Time

	// texts are those of Manifest, read once; so are toolNames.
	texts     []text
	toolNames toolNames
	// explained is made of Arguments, once.
	explained map[report.Capability]*explained
	// named are the hosts in each declaration's URLs, made of Manifest, once.
	named map[report.Capability]map[string]bool
	// chosen are the hosts that the operator has named, made of Chosen and Env, once; invented
	// those that the audit has, made of Asked and of arguments that are settings.
	chosen, invented hostSet
	// ran is made of Profile and Arguments, once, and layout of Profile.
	ran    ran
	layout layout
}

// Output is a text that the server sent. When names the surroundings in which alone it said so, for the end of
// a sentence: "for a client of another name"; "" for the exercise.
type Output struct {
	report.Output
	When string
	// own are its ownWords, read once.
	own string
}

// Said returns outputs of the same surroundings.
func Said(when string, outputs ...report.Output) []Output {
	all := make([]Output, len(outputs))
	for i, out := range outputs {
		all[i] = Output{Output: out, When: when}
	}
	return all
}

// Advertised is a manifest, and the surroundings in which the server sent it: see Output.
type Advertised struct {
	manifest.Manifest
	When string
}

// Argument is one value that a capability was called with.
type Argument struct {
	// Field is the path in the arguments: "url", "options.paths[0]"; "uri" for what is
	// read.
	Field string
	// Value is a text, or a number as it was written; at most 4 KiB.
	Value string
	// Given: the operator has chosen it.
	Given bool
}

// Decoy is one planted file.
type Decoy struct {
	// Path is as the server sees it, absolute and clean.
	Path string
	// Routine: ordinary tools open it unasked.
	Routine bool
}

// Drift is the difference of the manifest at one moment.
type Drift struct {
	Moment report.Moment
	report.Drift
	// Announced: the server had sent a list_changed notification of each kind that
	// differs.
	Announced bool
	// Words holds the differences that are more than times, numbers and ids in texts.
	Words report.Drift
}

// Pollution counts lines on stdout that are not messages; see probe.Pollution.
type Pollution struct {
	Lines      int
	Sample     string
	Phase      report.Phase
	Capability report.Capability
}

// maxEvidence bounds the evidence of a finding.
const maxEvidence = 4

// draft is a finding in the making.
type draft struct {
	severity   report.Severity
	phase      report.Phase
	capability report.Capability
	// object of the finding: a path, an address, a program. One
	// rule makes one finding for each object of a capability.
	object  string
	message string
	// exceeded: the operator's scope has a list of this kind without it.
	exceeded bool
	// mitigation replaces that of the rule.
	mitigation string
	// behind is the other capability that may have done it.
	behind   report.Capability
	evidence report.Evidence
	// order is the place of the effect in the profile, from 1; findings without an effect have 0 and come last.
	order int
}

// whileInstalling are the rules for effects that no install script needs.
var whileInstalling = map[string]bool{
	"MCPA-SECRET-001": true, "MCPA-SECRET-002": true, "MCPA-SECRET-004": true, "MCPA-FILE-001": true, "MCPA-FILE-006": true,
	"MCPA-PERSIST-001": true, "MCPA-EGRESS-002": true, "MCPA-EVADE-001": true,
}

// Occasion is the situation in which effects are judged. Some leave only rules for effects without an honest reason.
type Occasion string

// The occasions. "" is an ordinary one.
const (
	Installing Occasion = "Installing" // install scripts, which download, build and write
	Attacking  Occasion = "Attacking"  // calls that attack guards, which lead only to files, programs and hosts of the audit
)

var onlyWhen = map[Occasion]map[string]bool{Installing: whileInstalling, Attacking: whileAttacking}

// whileAttacking are the rules for effects that no attempt asks for.
var whileAttacking = map[string]bool{"MCPA-SECRET-001": true, "MCPA-PERSIST-001": true}

// Judge applies all rules. The findings are sorted by severity and then by
// when they were first seen.
func Judge(in Input) []report.Finding {
	in.Profile = in.Profile.Canonical(in.Search)
	in.texts = textsOf(in.Manifest)
	in.toolNames = namesIn(in.texts)
	in.Outputs = slices.Clone(in.Outputs)
	told := in.told()
	for i := range in.Outputs {
		in.Outputs[i].own = told.Replace(ownWords(in.Outputs[i].Output))
	}
	only := onlyWhen[in.Occasion]
	if only == nil { // no other occasion judges texts
		in.directives = directives(in)
	}
	type key struct {
		rule       string
		capability report.Capability
		object     string
	}
	type entry struct {
		report.Finding
		order int
	}
	in = in.Reading()
	in.named = namedHosts(in.Manifest)
	in.chosen, in.invented = chosenHosts(in.Chosen, in.Env), inventedHosts(in.Asked)
	maps.Copy(in.invented, in.settingHosts())
	in.ran, in.layout = in.programs(), layoutOf(in.Profile.Effects)
	in.ran.installs = in.installers()
	in.Attack.sight()
	var all []*entry
	found := map[key]*entry{}
	for _, r := range All() {
		find := finders[r.ID]
		if find == nil || only != nil && !only[r.ID] {
			continue
		}
		for _, d := range find(in) {
			k := key{r.ID, d.capability, d.object}
			own := key{r.ID, d.behind, d.object}
			if d.behind.Kind == report.CapabilityServer && found[own] != nil && d.severity.Rank() <= found[own].Severity.Rank() {
				k = own // the server goes on with what it did before any call
			}
			e := found[k]
			if e == nil {
				e = &entry{order: cmp.Or(d.order, math.MaxInt), Finding: report.Finding{
					Rule: r.ID, Severity: d.severity, Title: r.Title, Message: d.message,
					Mitigation: mitigation(r, d), ExceedsScope: d.exceeded,
					Phase: d.phase, Capability: d.capability,
				}}
				found[k] = e
				all = append(all, e)
			}
			if d.severity.Rank() > e.Severity.Rank() {
				e.Severity, e.Message, e.Phase = d.severity, d.message, d.phase
			}
			if len(e.Evidence) < maxEvidence {
				e.Evidence = append(e.Evidence, d.evidence)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.order, b.order))
	})
	findings := make([]report.Finding, 0, len(all))
	for _, e := range all {
		findings = append(findings, e.Finding)
	}
	return findings
}

// mitigation returns the advice for one finding.
func mitigation(r Rule, d draft) string {
	text := cmp.Or(d.mitigation, r.Mitigation)
	return strings.ReplaceAll(text, "{object}", clean(d.object, 128))
}

// evidenceAt returns evidence without a system call.
func evidenceAt(at time.Time, detail string) report.Evidence {
	return report.Evidence{Time: report.At(at), Attribution: report.AttributionPhase, Detail: detail}
}

// each makes drafts from the effects of some kinds for which judge returns true.
func each(in Input, judge func(e profile.Effect, d *draft) bool, kinds ...profile.Kind) []draft {
	var all []draft
	for i, e := range in.Profile.Effects {
		if !slices.Contains(kinds, e.Kind) {
			continue
		}
		d := draft{phase: e.Phase, capability: e.Capability, behind: e.AlternativeCause, evidence: e.Evidence(), order: i + 1}
		if judge(e, &d) {
			all = append(all, d)
		}
	}
	return all
}
