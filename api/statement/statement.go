// Package statement turns a report into an in-toto statement about the audited image,
// signs it in a DSSE envelope, and verifies such envelopes. The manager makes and signs a
// statement for each report that it stores; the command line does all three.
//
// Formats: in-toto Statement v1
// (https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md), DSSE v1
// (https://github.com/secure-systems-lab/dsse/blob/master/protocol.md).
package statement

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The types of a statement and its envelope.
const (
	// Type of an in-toto statement.
	Type = "https://in-toto.io/Statement/v1"
	// PredicateType is our own. Fields may be added; none changes its meaning.
	PredicateType = "https://mcpaudit.dev/attestation/audit/v1"
	// PayloadType of an in-toto statement in a DSSE envelope.
	PayloadType = "application/vnd.in-toto+json"
)

// The bounds of a command line, which has to be compared whole, and of a statement.
const (
	maxCommandBytes   = 8 << 10
	maxStatementBytes = 128 << 10
)

// Statement is an in-toto statement with our predicate.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is an image: its repository, and the digest of a manifest or an index.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate has the verdict of the audit, and what it rests on.
type Predicate struct {
	Verdict report.Verdict `json:"verdict"`
	Reason  report.Reason  `json:"reason"`
	Message string         `json:"message"`
	// Complete: everything was observed. It is never false beside a Pass.
	Complete   bool               `json:"complete"`
	Incomplete *report.Incomplete `json:"incomplete,omitempty"`
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn   report.Severity `json:"failOn,omitempty"`
	Findings report.Counts   `json:"findings"`

	// Audit that asked for it; nil if no operator ran it.
	Audit  *Audit  `json:"audit,omitempty"`
	Image  Audited `json:"image"`
	Server Server  `json:"server"`

	ManifestDigest string          `json:"manifestDigest,omitempty"`
	BehaviorDigest string          `json:"behaviorDigest,omitempty"`
	RulesetDigest  string          `json:"rulesetDigest,omitempty"`
	Coverage       report.Coverage `json:"coverage"`
	// Assurance says how much of the server the verdict rests on. It is nil in statements of
	// earlier versions, which is below every level that a policy can ask for.
	Assurance *report.Assurance `json:"assurance,omitempty"`
	// Exposure says what the server enables; nil, in statements of earlier versions, if unknown.
	Exposure *Exposure `json:"exposure,omitempty"`

	Runner  report.Component `json:"runner"`
	Tracer  report.Component `json:"tracer"`
	Network report.Network   `json:"network"`
	// Probe records how the server was exercised.
	Probe report.ProbeRun `json:"probe"`
	// DeclaredScope is the digest of spec.declaredScope; empty if the audit declared none.
	DeclaredScope string `json:"declaredScope,omitempty"`
	// Suppressed lists the rules with suppressed findings, sorted, each once.
	Suppressed []string `json:"suppressed,omitempty"`

	StartedOn  time.Time `json:"startedOn"`
	FinishedOn time.Time `json:"finishedOn"`
}

// Exposure sums up report.Exposure.
type Exposure struct {
	Score int              `json:"score"`
	Level report.RiskLevel `json:"level"`
	// Kinds that were seen, each with its furthest reach; empty for a server that enables nothing.
	Kinds        []report.Exposed         `json:"kinds"`
	Combinations []report.CombinationName `json:"combinations,omitempty"`
}

// Server describes the server that ran in the image.
type Server struct {
	Name            string           `json:"name,omitempty"`
	Version         string           `json:"version,omitempty"`
	ProtocolVersion string           `json:"protocolVersion,omitempty"`
	Transport       report.Transport `json:"transport,omitempty"`
	// Command is the whole command line. The verdict holds for no other.
	Command []string `json:"command"`
	// Environment names the variables and the directory that the audit set; nil if none.
	Environment *report.Environment `json:"environment,omitempty"`
	// CodePaths are the places that its code came from, as in a report; absent if unknown.
	CodePaths []string `json:"codePaths,omitempty"`
}

// Audit names the MCPServerAudit that was made. Its author chose the scope, the
// suppressions and the environment.
type Audit struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Audited names the image as the audit knew it, and who vouches for its digest.
type Audited struct {
	// Reference in the spec. Its tag may name another image by now.
	Reference string `json:"reference,omitempty"`
	// Platform that was run, if the image is for several.
	Platform string `json:"platform,omitempty"`
	// KnownBy is Operator (it ran the image by the digest) or Claim (the author of the
	// statement names the image; the audit did not run one).
	KnownBy KnownBy `json:"knownBy"`
}

// KnownBy says who vouches for the digest.
type KnownBy string

// The ways to know it.
const (
	KnownByOperator KnownBy = "Operator"
	KnownByClaim    KnownBy = "Claim"
)

// Image is the subject of a statement.
type Image struct {
	Audited
	// Audit that asked for it; nil if no operator ran it.
	Audit *Audit
	// Digests of manifests or indexes, "sha256:" and 64 hex digits each; at least one.
	Digests []string
}

// ErrNoImage says that the audit knows no digest for a statement to be about.
var ErrNoImage = errors.New("the audit has no image")

// New makes a statement about an image from a report. It refuses the Pass of an audit that
// was not complete.
func New(r report.Report, of Image) (Statement, error) {
	if r.Server.URL != "" {
		return Statement{}, fmt.Errorf("%w: the server of %s was not run", ErrNoImage, r.Server.URL)
	}
	if len(of.Digests) == 0 {
		return Statement{}, ErrNoImage
	}
	s := Statement{Type: Type, PredicateType: PredicateType, Predicate: Predicate{
		Verdict: r.Verdict, Reason: r.Reason, Message: r.Message, Complete: r.Incomplete == nil && len(r.Truncated) == 0,
		Incomplete: r.Incomplete, FailOn: r.FailOn, Findings: report.Count(r.Findings), Image: of.Audited,
		Server: Server{
			Name: r.Server.Name, Version: r.Server.Version, ProtocolVersion: r.Server.ProtocolVersion,
			Transport: r.Server.Transport, Command: r.Server.Command, Environment: r.Server.Environment, CodePaths: r.CodePaths,
		},
		Audit: of.Audit, Probe: r.Probe, DeclaredScope: scopeDigest(r.DeclaredScope), Suppressed: suppressed(r.Findings),
		ManifestDigest: r.ManifestDigest, BehaviorDigest: r.Behavior.Digest, RulesetDigest: r.RulesetDigest,
		Coverage: r.Coverage, Exposure: exposure(r.Exposure), Runner: r.Runner, Tracer: r.Tracer, Network: r.Network,
		StartedOn: r.StartTime.UTC(), FinishedOn: r.EndTime.UTC(),
	}}
	if r.Assurance.Level != "" {
		s.Predicate.Assurance = &r.Assurance
	}
	for _, digest := range slices.Compact(slices.Clone(of.Digests)) {
		s.Subject = append(s.Subject, Subject{Repository(of.Reference), map[string]string{"sha256": strings.TrimPrefix(digest, "sha256:")}})
	}
	return s, s.check()
}

func exposure(of *report.Exposure) *Exposure {
	if of == nil {
		return nil
	}
	e := &Exposure{Score: of.Score, Level: of.Level, Kinds: append([]report.Exposed{}, of.Kinds()...)}
	for _, c := range of.Combinations {
		e.Combinations = append(e.Combinations, c.Name)
	}
	return e
}

// scopeDigest returns the digest of a scope's JSON; empty for no scope.
func scopeDigest(scope *report.DeclaredScope) string {
	if scope == nil {
		return ""
	}
	encoded, err := json.Marshal(scope)
	if err != nil {
		panic(err) // strings always encode
	}
	return "sha256:" + report.Sum(encoded)
}

func suppressed(findings []report.Finding) []string {
	var rules []string
	for _, finding := range findings {
		if finding.Suppressed != nil {
			rules = append(rules, finding.Rule)
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// check returns what is wrong with a statement. New and Verify refuse it then, whoever
// signed it.
func (s Statement) check() error {
	p := s.Predicate
	switch {
	case s.Type != Type:
		return fmt.Errorf("_type is %q, want %s", s.Type, Type)
	case s.PredicateType != PredicateType:
		return fmt.Errorf("predicateType is %q, want %s", s.PredicateType, PredicateType)
	case len(s.Subject) == 0 || len(s.Subject) > 4:
		return fmt.Errorf("%d subjects, want 1 to 4", len(s.Subject))
	}
	if err := p.check(); err != nil {
		return err
	}
	for _, subject := range s.Subject {
		if len(subject.Digest) != 1 || !report.IsDigest("sha256:"+subject.Digest["sha256"]) {
			return fmt.Errorf("the digest of subject %q is not sha256: and 64 hex digits", subject.Name)
		}
	}
	return nil
}

func (p Predicate) check() error {
	switch {
	case p.Verdict != report.VerdictPass && p.Verdict != report.VerdictFail && p.Verdict != report.VerdictInconclusive:
		return fmt.Errorf("unknown verdict %q", p.Verdict)
	case p.Verdict == report.VerdictPass && (!p.Complete || p.Incomplete != nil || p.Reason != report.ReasonPassed):
		return errors.New("a Pass of an audit that was not complete: audit the server again")
	case p.Verdict == report.VerdictPass && p.FailOn != "" && p.Findings.AtOrAbove(p.FailOn) > p.Findings.Suppressed:
		return fmt.Errorf("a Pass with findings that reach the threshold %s: audit the server again", p.FailOn)
	case p.Image.KnownBy != KnownByOperator && p.Image.KnownBy != KnownByClaim:
		return fmt.Errorf("unknown image.knownBy %q (want Operator or Claim)", p.Image.KnownBy)
	}
	return checkCommand(p.Server.Command)
}

// checkCommand demands a whole command line.
func checkCommand(command []string) error {
	switch {
	case len(command) == 0:
		return errors.New("no command: a verdict is about an image and how it is started")
	// A word that was cut could be another one that begins like it.
	case slices.ContainsFunc(command, func(word string) bool { return report.WasCut(word, report.MaxPathBytes) }):
		return errors.New("the report had no room for the whole command line, and another one that begins like it was not audited: give the server its arguments in a file of the image")
	}
	length := 0
	for _, word := range command {
		length += len(word) + 1
	}
	if length > maxCommandBytes {
		return fmt.Errorf("the command line has %d bytes, more than the %d of a statement", length, maxCommandBytes)
	}
	return nil
}

// About reports whether the statement is about an image with this digest.
func (s Statement) About(digest string) bool {
	return slices.ContainsFunc(s.Subject, func(subject Subject) bool { return "sha256:"+subject.Digest["sha256"] == digest })
}

// Encode writes the statement as one line of JSON, the payload of an envelope.
func (s Statement) Encode() ([]byte, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode statement: %w", err)
	}
	if len(encoded) > maxStatementBytes {
		return nil, fmt.Errorf("encode statement: %d bytes, more than the %d allowed", len(encoded), maxStatementBytes)
	}
	return encoded, nil
}

// Repository returns the name of an image without its tag and digest.
func Repository(reference string) string {
	name, _, _ := strings.Cut(reference, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		name = name[:colon]
	}
	return name
}

// ReadImage parses NAME@sha256:DIGEST, the user's claim of what was audited.
func ReadImage(reference string) (Image, error) {
	name, digest, _ := strings.Cut(reference, "@")
	if name == "" || !report.IsDigest(digest) {
		return Image{}, fmt.Errorf("%q does not name an image by digest: give NAME@sha256: and 64 hex digits", reference)
	}
	return Image{Audited: Audited{Reference: reference, KnownBy: KnownByClaim}, Digests: []string{digest}}, nil
}
