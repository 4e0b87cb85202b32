// Package statement makes a report into an in-toto statement about the image that was
// audited, signs it in a DSSE envelope, and reads such envelopes again. The manager does
// the first two for each report that it stores, the command line all of it.
//
// Formats: in-toto Statement v1
// (https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md), DSSE v1
// (https://github.com/secure-systems-lab/dsse/blob/master/protocol.md).
package statement

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// What a statement says that it is.
const (
	// Type is the one of in-toto's statements.
	Type = "https://in-toto.io/Statement/v1"
	// PredicateType is ours: fields are added to it, and none changes its meaning.
	PredicateType = "https://mcpaudit.dev/attestation/audit/v1"
	// PayloadType is in-toto's in a DSSE envelope.
	PayloadType = "application/vnd.in-toto+json"
)

// maxCommandBytes is the longest command line that is attested, in bytes: who checks a
// statement has to compare it. maxStatementBytes bounds the whole.
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

// Predicate says what the audit came to, and what one has to know to rely on it.
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

	// Audit is who asked for it; nil if no operator ran it.
	Audit  *Audit  `json:"audit,omitempty"`
	Image  Audited `json:"image"`
	Server Server  `json:"server"`

	ManifestDigest string          `json:"manifestDigest,omitempty"`
	BehaviorDigest string          `json:"behaviorDigest,omitempty"`
	RulesetDigest  string          `json:"rulesetDigest,omitempty"`
	Coverage       report.Coverage `json:"coverage"`
	// Assurance is how much of the server the verdict rests on; nil in statements of earlier
	// versions, which is less than any that somebody asks for.
	Assurance *report.Assurance `json:"assurance,omitempty"`
	// Exposure says what the server enables; nil in statements of earlier versions, which says
	// nothing about it.
	Exposure *Exposure `json:"exposure,omitempty"`

	Runner  report.Component `json:"runner"`
	Tracer  report.Component `json:"tracer"`
	Network report.Network   `json:"network"`
	// Probe is how the server was exercised.
	Probe report.ProbeRun `json:"probe"`
	// DeclaredScope is the digest of what the audit, in place of the server, declared the
	// server to be for; empty if it declared nothing.
	DeclaredScope string `json:"declaredScope,omitempty"`
	// Suppressed are the rules whose findings the audit suppressed, each once.
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

// Server says what was run in the image.
type Server struct {
	Name            string           `json:"name,omitempty"`
	Version         string           `json:"version,omitempty"`
	ProtocolVersion string           `json:"protocolVersion,omitempty"`
	Transport       report.Transport `json:"transport,omitempty"`
	// Command is the whole command line: another one of the same image was not audited.
	Command []string `json:"command"`
	// Environment names what the audit set besides; nil if nothing.
	Environment *report.Environment `json:"environment,omitempty"`
	// CodePaths are where its code came from, as in a report; absent where that is not known.
	CodePaths []string `json:"codePaths,omitempty"`
}

// Audit names the MCPServerAudit that was made. Its author chose the scope, the
// suppressions and the environment.
type Audit struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Audited says how it is known which image was audited.
type Audited struct {
	// Reference as the spec named it; it may have a tag that names another image by now.
	Reference string `json:"reference,omitempty"`
	// Platform that was run, if the image is for several.
	Platform string `json:"platform,omitempty"`
	// KnownBy is Operator (it ran the image by the digest) or Claim (who made the
	// statement says so: the audit did not run an image).
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
	// Audit is who asked for it; nil if no operator ran it.
	Audit *Audit
	// Digests of manifests or indexes, "sha256:" and 64 hex digits each; at least one.
	Digests []string
}

// ErrNoImage says that there is no digest that a statement could be about.
var ErrNoImage = errors.New("the audit has no image")

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// New makes the statement of a report about an image. A Pass of an audit that was not
// complete is refused: there is none, whatever the report says.
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
		Coverage: r.Coverage, Runner: r.Runner, Tracer: r.Tracer, Network: r.Network,
		StartedOn: r.StartTime.UTC(), FinishedOn: r.EndTime.UTC(),
	}}
	if r.Assurance.Level != "" {
		s.Predicate.Assurance = &r.Assurance
	}
	s.Predicate.Exposure = exposure(r.Exposure)
	for _, digest := range slices.Compact(of.Digests) {
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

// scopeDigest is over the JSON of a scope; empty for none.
func scopeDigest(scope *report.DeclaredScope) string {
	if scope == nil {
		return ""
	}
	encoded, err := json.Marshal(scope)
	if err != nil {
		panic(err) // it is of strings
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

// check tells what no statement of ours may say; New makes none of them, and Verify
// accepts none, whoever signed it.
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
		if len(subject.Digest) != 1 || !digestForm.MatchString("sha256:"+subject.Digest["sha256"]) {
			return fmt.Errorf("the digest of subject %q is not sha256: and 64 hex digits", subject.Name)
		}
	}
	return nil
}

func (p Predicate) check() error {
	switch {
	case p.Verdict != report.VerdictPass && p.Verdict != report.VerdictFail && p.Verdict != report.VerdictInconclusive:
		return fmt.Errorf("verdict %q is none", p.Verdict)
	case p.Verdict == report.VerdictPass && (!p.Complete || p.Incomplete != nil || p.Reason != report.ReasonPassed):
		return errors.New("a Pass of an audit that was not complete: audit the server again")
	case p.Verdict == report.VerdictPass && p.FailOn != "" && p.Findings.AtOrAbove(p.FailOn) > p.Findings.Suppressed:
		return fmt.Errorf("a Pass with findings that reach the threshold %s: audit the server again", p.FailOn)
	case p.Image.KnownBy != KnownByOperator && p.Image.KnownBy != KnownByClaim:
		return fmt.Errorf("image.knownBy %q is neither Operator nor Claim", p.Image.KnownBy)
	}
	return checkCommand(p.Server.Command)
}

// checkCommand reports whether a command line is there, and there whole.
func checkCommand(command []string) error {
	switch {
	case len(command) == 0:
		return errors.New("no command: a verdict is about an image and how it is started")
	case slices.ContainsFunc(command, cut):
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

// cut reports whether the report has no more than the beginning of a word
// (report.MaxPathBytes), and cannot tell two such words apart.
func cut(word string) bool { return report.WasCut(word, report.MaxPathBytes) }

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

// Repository is the name of an image without its tag and digest.
func Repository(reference string) string {
	name, _, _ := strings.Cut(reference, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		name = name[:colon]
	}
	return name
}

// ReadImage reads NAME@sha256:DIGEST, as somebody gives it who says what was audited.
func ReadImage(reference string) (Image, error) {
	name, digest, _ := strings.Cut(reference, "@")
	if name == "" || !digestForm.MatchString(digest) {
		return Image{}, fmt.Errorf("%q is no image by digest: give NAME@sha256: and 64 hex digits", reference)
	}
	return Image{Audited: Audited{Reference: reference, KnownBy: KnownByClaim}, Digests: []string{digest}}, nil
}
