package gate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ownCommand is the CommandDigest of an image that runs its default command.
var ownCommand = v1alpha1.CommandDigest(nil, nil)

// held is a verdict and its standing with a policy.
type held struct {
	standing
	verdict *Verdict
	// rank orders verdicts; the highest decides.
	rank int
}

func hold(s standing, v *Verdict) held {
	return held{s, v, s.precedence()*100 + weight(s.action)*len(reasons) + slices.Index(reasons, s.reason)}
}

// precedence ranks conflicting verdicts on one subject: an observation against the server wins,
// then a pass, then the least informative last.
func (s standing) precedence() int {
	switch s.reason {
	case v1alpha1.GatePassed:
		if s.action == v1alpha1.ActionAllow {
			return 3
		}
		return 2 // by the last verdict
	case v1alpha1.GateFailed:
		return 6
	case v1alpha1.GateExposed:
		return 5
	case v1alpha1.GateDrifted:
		return 3 + weight(s.action) // allowed is as good as passed
	case v1alpha1.GateInconclusive:
		return 1
	}
	return 0
}

// over reports whether h takes precedence over other, in any order: of equal ones the latest
// wins, then the first by name.
func (h held) over(other held) bool {
	switch {
	case other.verdict == nil:
		return true
	case h.rank != other.rank:
		return h.rank > other.rank
	case !h.verdict.Time.Equal(other.verdict.Time):
		return h.verdict.Time.After(other.verdict.Time)
	}
	return before(h.verdict, other.verdict)
}

func before(a, b *Verdict) bool {
	return cmp.Or(strings.Compare(a.Audit.Namespace, b.Audit.Namespace), strings.Compare(a.Audit.Name, b.Audit.Name)) < 0
}

// answer has the verdicts that a policy trusts on one command of an image.
type answer struct {
	// best decides among verdicts on this command for a platform that the container runs on;
	// elsewhere has the best for other platforms.
	best, elsewhere held
	// verdicts counts those with this command, admitting those that do not deny.
	verdicts, admitting int
}

// evidence has the verdicts that a policy trusts on one image. The verdicts are read once, however many
// containers run it.
type evidence struct {
	answers map[v1alpha1.Digest]*answer // by the CommandDigest of the container
	argv    map[v1alpha1.Digest]*answer // by the digest of its whole command line
	// against is the worst verdict on the image's default command.
	against held
	// any is the highest verdict of all.
	any                 held
	verdicts, admitting int

	// environments has the evidence by environments of containers; other is the highest verdict
	// with any environment. Verdicts of audits without one apply to every environment and are
	// in neither.
	environments   map[fingerprint]*evidence
	other          held
	otherAdmitting bool
}

func newEvidence() *evidence {
	return &evidence{answers: map[v1alpha1.Digest]*answer{}, argv: map[v1alpha1.Digest]*answer{}}
}

// start describes how a container is started: the digest of its command and args; the digest of all words, empty if
// the image supplies an unknown part; and the fingerprint of its environment.
type start struct {
	comparable    bool
	command, argv v1alpha1.Digest
	environment   *fingerprint
}

func startOf(c Container, key []byte) start {
	s := start{comparable: isComparable(c), environment: c.Environment.fingerprint(key)}
	if !s.comparable {
		return s
	}
	s.command = v1alpha1.CommandDigest(c.Command, c.Args)
	if len(c.Command) > 0 {
		s.argv = v1alpha1.CommandDigest(slices.Concat(c.Command, c.Args), nil)
	}
	return s
}

// want prepares the answer for a container's command; nil if it cannot be compared.
func (e *evidence) want(s *start) *answer {
	if !s.comparable {
		return nil
	}
	if known := e.answers[s.command]; known != nil {
		return known
	}
	wanted := &answer{}
	if s.argv != "" {
		if e.argv[s.argv] != nil {
			wanted = e.argv[s.argv] // the same words, split differently
		}
		e.argv[s.argv] = wanted
	}
	e.answers[s.command] = wanted
	return wanted
}

// isComparable reports whether a container runs its command literally, as an audit does.
func isComparable(container Container) bool {
	return container.Unclear == "" && !slices.ContainsFunc(container.Command, Expands) && !slices.ContainsFunc(container.Args, Expands)
}

// Expands reports whether a kubelet may run another word: it expands "$(NAME)", and some
// versions misread a character after "$" that is not ASCII.
func Expands(word string) bool { return expanded.MatchString(word) }

var expanded = regexp.MustCompile(`\$(\(|[^\x00-\x7F])`)

// place relates a verdict's platform to the object's.
type place int

const (
	samePlace  place = iota // what runs is what was audited
	maybePlace              // may be the same
	otherPlace              // is another
)

// placeOf compares platforms. The digest of a platform's own manifest or config settles it;
// digest is empty for an image by name.
func placeOf(v *Verdict, digest v1alpha1.Digest, subject Subject, facts Facts) place {
	switch {
	case digest != "" && (digest == v.ImageID || len(v.Digests) > 0 && digest == v.Digests[len(v.Digests)-1]):
		return samePlace
	case v.Ambiguous != "":
		return maybePlace
	case v.Architecture == "":
		return samePlace
	case subject.OS != "" && subject.OS != linux, subject.Architecture != "" && subject.Architecture != v.Architecture:
		return otherPlace
	}
	return placeAmong(v.Architecture, subject, facts)
}

// placeAmong compares an architecture with the nodes that may run a Pod.
func placeAmong(audited string, subject Subject, facts Facts) place {
	there, others := subject.Architecture != "", subject.NodesByLabel || subject.Architecture == "" && len(facts.Architectures) == 0
	for _, architecture := range facts.Architectures {
		if !subject.mayRunOn(architecture) {
			continue
		}
		there = there || architecture == audited
		others = others || architecture != audited
	}
	switch {
	case !others:
		return samePlace
	case there || len(facts.Architectures) == 0:
		return maybePlace
	}
	return otherPlace
}

// linux is the OS of all audits.
const linux = "linux"

// mayRunOn reports whether an object may run on nodes of an architecture of Facts.
func (s Subject) mayRunOn(architecture string) bool {
	os, bare, other := strings.Cut(architecture, "/")
	if !other {
		os, bare = linux, architecture
	}
	return (s.OS == "" || s.OS == os) && (s.Architecture == "" || s.Architecture == bare)
}

// add adds a verdict.
func (e *evidence) add(h held, where place) {
	if h.verdict.Environment != nil {
		e.addIn(h, where)
		return
	}
	e.addAny(h, where)
}

func (e *evidence) addAny(h held, where place) {
	against := h.reason == v1alpha1.GateFailed || h.reason == v1alpha1.GateExposed || h.reason == v1alpha1.GateDrifted && h.action != v1alpha1.ActionAllow
	applies := where == samePlace || where == maybePlace && against
	admitting := 0
	if h.action != v1alpha1.ActionDeny {
		admitting = 1
	}
	e.verdicts++
	e.admitting += admitting
	if h.over(e.any) {
		e.any = h
	}
	if against && where != otherPlace && h.verdict.CommandDigest == ownCommand && h.over(e.against) {
		e.against = h
	}
	same := e.answers[h.verdict.CommandDigest]
	if other := e.argv[h.verdict.ArgvDigest]; other != nil && other != same {
		other.add(h, applies, admitting)
	}
	if same != nil {
		same.add(h, applies, admitting)
	}
}

func (a *answer) add(h held, applies bool, admitting int) {
	a.verdicts++
	a.admitting += admitting
	of := &a.elsewhere
	if applies {
		of = &a.best
	}
	if h.over(*of) {
		*of = h
	}
}

// conclude returns the deciding verdict for a container. If nothing was audited as the
// container runs it, the worst related verdict counts: what is held against something else
// never admits.
func (e *evidence) conclude(p *Policy, a *answer) held {
	if a == nil {
		a = &answer{}
	}
	if a.best.verdict != nil {
		return a.best
	}
	found := held{standing: standing{v1alpha1.GateNotAudited, p.Gate.OnMissing}}
	others := e.verdicts - a.verdicts
	if others > 0 {
		found = held{standing: standing{v1alpha1.GateOtherCommand, p.Gate.OnOtherCommand}, verdict: e.any.verdict}
		if e.admitting == a.admitting { // none would admit what it is about
			found.action = worseAction(found.action, p.Gate.OnMissing)
		}
	}
	if a.verdicts > 0 {
		action := p.Gate.OnMissing
		if others > 0 {
			action = worseAction(action, found.action)
		}
		reason := v1alpha1.GateOtherPlatform
		if a.elsewhere.verdict.Ambiguous != "" {
			reason = v1alpha1.GateNoDigest
		}
		found = held{standing: standing{reason, action}, verdict: a.elsewhere.verdict}
	}
	if e.against.verdict != nil && worse(found.standing, e.against.standing) == e.against.standing {
		found = e.against
	}
	return found
}
