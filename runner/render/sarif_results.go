package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// sarifResults returns the findings, and other results that keep the audit from looking
// like a success.
func sarifResults(r report.Report, book *ruleBook) []sarifResult {
	s := sarifSource{report: r, artifact: artifact(r.Server), seen: map[string]int{}}
	all := []sarifResult{}
	server := report.Capability{Kind: report.CapabilityServer}
	if why := unseen(r); why != nil {
		text := fmt.Sprintf("The audit of %s is inconclusive (%s): %s", serverName(r), why.Reason, why.Message)
		all = append(all, s.result(ruleInconclusive, book.index(ruleInconclusive, inconclusiveRule), "error", text, server, string(why.Reason)))
	}
	if unexplained(r) {
		text := fmt.Sprintf("The audit of %s failed (%s): %s", serverName(r), r.Reason, r.Message)
		all = append(all, s.result(ruleFailed, book.index(ruleFailed, failedRule), "error", text, server, string(r.Reason)))
	}
	for _, f := range r.Findings {
		all = append(all, s.finding(f, book))
	}
	return append(all, s.exposures(book)...)
}

// sarifSource holds what the results of one report have in common.
type sarifSource struct {
	report   report.Report
	artifact string
	// seen counts the results of each fingerprint.
	seen map[string]int
}

func (s *sarifSource) finding(f report.Finding, book *ruleBook) sarifResult {
	id := ruleName(f)
	index := book.index(id, func() sarifRule { return ofFinding(f) })
	level := cmp.Or(levels[f.Severity], "error")
	if fails(f, s.report.FailOn) {
		level = "error" // whoever asked for that threshold calls it one
	}
	made := s.result(id, index, level, cmp.Or(f.Message, f.Title, f.Rule), f.Capability, steady(f.Message))
	made.CodeFlows = s.evidence(f)
	made.Properties = &sarifFinding{
		Severity: sarifPlain(string(f.Severity)), Phase: sarifPlain(string(f.Phase)), ExceedsScope: f.ExceedsScope, Mitigation: sarifPlain(f.Mitigation),
	}
	if f.Suppressed != nil {
		status := "accepted"
		if f.Suppressed.Expired {
			status = "rejected" // it is shown, and suppresses nothing
		}
		made.Suppressions = []sarifSuppression{{Kind: "external", Status: status, Justification: sarifPlain(suppressed(*f.Suppressed))}}
	}
	return made
}

// result returns one result; what is a text that tells it from others of the same rule and
// capability, and is the same in each run.
func (s *sarifSource) result(id string, index int, level, text string, of report.Capability, what string) sarifResult {
	return sarifResult{
		RuleID: id, RuleIndex: index, Level: level, Message: sarifText{Text: cmp.Or(sarifPlain(text), "There is no message.")},
		Locations: []sarifLocation{s.location(of)}, PartialFingerprints: s.fingerprints(id, of, what),
	}
}

// fingerprints identify the result in other runs. GitHub reads only primaryLocationLineHash,
// a hash and the number of the result among those of the same hash.
func (s *sarifSource) fingerprints(id string, of report.Capability, what string) map[string]string {
	sum := sha256.Sum256([]byte(strings.Join([]string{id, string(of.Kind), of.Name, what}, "\x00")))
	hash := hex.EncodeToString(sum[:16])
	s.seen[hash]++
	mark := fmt.Sprintf("%s:%d", hash, s.seen[hash])
	return map[string]string{"primaryLocationLineHash": mark, "mcpaudit/v1": mark}
}

var (
	processes = lazyregexp.New(`/proc/[0-9]+|\bpid [0-9]+`)
	// sunk are the addresses that the sinkhole gives to names (sinkhole.Fake).
	sunk = lazyregexp.New(`\b28(?:\.[0-9]+){3}`)
	// numbers are ephemeral ports, sizes and times; madeUp are words of letters and digits, as
	// in the names of temporary files.
	numbers = lazyregexp.New(`[0-9]{4,}`)
	temp    = lazyregexp.New(`/(tmp|var/tmp|dev/shm)/[^ ,;:)"]*`)
)

// steady returns a message without what differs between runs: pids, the sinkhole's
// addresses, long numbers, the names of temporary files. A fingerprint has the rule and the
// capability as well, so little is lost.
func steady(message string) string {
	message = processes.ReplaceAllString(message, "PID")
	message = sunk.ReplaceAllString(message, "SINKHOLE")
	message = temp.ReplaceAllString(message, "/$1/*")
	return numbers.ReplaceAllString(message, "#")
}

// evidence returns the system calls of a finding, in order.
func (s *sarifSource) evidence(f report.Finding) []sarifCodeFlow {
	var steps []sarifFlowLocation
	for _, e := range f.Evidence {
		at := s.location(f.Capability)
		text := report.Cut(e.Detail, 512)
		if e.PID != 0 {
			text = fmt.Sprintf("pid %d: %s", e.PID, text)
		}
		at.Message = &sarifText{Text: cmp.Or(sarifPlain(text), "There is no detail.")}
		steps = append(steps, sarifFlowLocation{Location: at, ExecutionTime: sarifTime(e.Time)})
	}
	if len(steps) == 0 {
		return nil
	}
	return []sarifCodeFlow{{ThreadFlows: []sarifThreadFlow{{Locations: steps}}}}
}

// location returns the location of a capability. GitHub shows no result without a file and
// a line, so it is the first line of the server's program.
func (s *sarifSource) location(of report.Capability) sarifLocation {
	name := sarifPlain(serverName(s.report))
	logical := sarifLogical{Name: name, FullyQualifiedName: name, Kind: "server"}
	if of.Kind != report.CapabilityServer {
		logical = sarifLogical{Name: cmp.Or(sarifPlain(of.Name), "unnamed"), FullyQualifiedName: name + "/" + sarifPlain(of.String()), Kind: kinds[of.Kind]}
		logical.Kind = cmp.Or(logical.Kind, sarifPlain(string(of.Kind)), "unknown")
	}
	return sarifLocation{
		PhysicalLocation: sarifPhysical{ArtifactLocation: sarifArtifact{URI: s.artifact}, Region: sarifRegion{1, 1, 1, 1}},
		LogicalLocations: []sarifLogical{logical},
	}
}

var kinds = map[report.CapabilityKind]string{
	report.CapabilityTool: "tool", report.CapabilityPrompt: "prompt",
	report.CapabilityResource: "resource", report.CapabilityResourceTemplate: "resourceTemplate",
}

// sarifPlain returns a text that SARIF readers show as it is: on one line, and without the
// [text](target) of a link (3.11.6), which a hostile server could choose.
func sarifPlain(text string) string {
	return strings.ReplaceAll(Escape(text), "](", "] (")
}
