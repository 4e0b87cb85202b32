package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ownCommand is the CommandDigest of an image that is started as it starts by itself.
var ownCommand = v1alpha1.CommandDigest(nil, nil)

// held is a verdict and what it is to a policy.
type held struct {
	standing
	verdict *Verdict
	// rank is the greater, the more the verdict decides beside others.
	rank int
}

func hold(s standing, v *Verdict) held {
	return held{s, v, s.precedence()*100 + weight(s.action)*len(reasons) + slices.Index(reasons, s.reason)}
}

// precedence orders what several verdicts on the same say: an observation against the
// server wins, then one that passed is enough, then what says least comes last.
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
		return 3 + weight(s.action) // where it is allowed, it is as good as passed
	case v1alpha1.GateInconclusive:
		return 1
	}
	return 0
}

// over is the one of two that decides. It is the same in whatever order verdicts come: of
// equal ones it is the latest, then the first by name.
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

// answer holds what a policy knows of one command of an image.
type answer struct {
	// best decides of what was audited with this command, on a platform that
	// the container runs on; elsewhere of what was audited on another.
	best, elsewhere held
	// verdicts counts those with this command, admitting those that do not deny.
	verdicts, admitting int
}

// evidence holds what a policy knows of one image: the verdicts are read once, however many
// containers run it.
type evidence struct {
	answers map[v1alpha1.Digest]*answer // by the CommandDigest of the container
	argv    map[v1alpha1.Digest]*answer // by the digest of its whole command line
	// against is the worst that is held against the image as it starts by itself.
	against held
	// any says most of all.
	any                 held
	verdicts, admitting int

	// environments has what is known of the image with environments that containers have;
	// other says most of all that was audited with an environment. Verdicts of
	// audits that set none are about any environment, and are in none of these.
	environments   map[fingerprint]*evidence
	other          held
	otherAdmitting bool
}

func newEvidence() *evidence {
	return &evidence{answers: map[v1alpha1.Digest]*answer{}, argv: map[v1alpha1.Digest]*answer{}}
}

// want prepares the answer for the command of a container; nil for one that cannot be
// compared with any.
func (e *evidence) want(container Container) *answer {
	if !isComparable(container) {
		return nil
	}
	digest := v1alpha1.CommandDigest(container.Command, container.Args)
	if known := e.answers[digest]; known != nil {
		return known
	}
	wanted := &answer{}
	if len(container.Command) > 0 { // else the image has a part of it, which is not known
		argv := v1alpha1.CommandDigest(slices.Concat(container.Command, container.Args), nil)
		if e.argv[argv] != nil {
			wanted = e.argv[argv] // the same words, in another place
		}
		e.argv[argv] = wanted
	}
	e.answers[digest] = wanted
	return wanted
}

// isComparable reports whether a container is run by the words that it has. The kubelet
// replaces "$(NAME)", an audit does not.
func isComparable(container Container) bool {
	replaced := func(word string) bool { return strings.Contains(word, "$(") }
	return container.Unclear == "" && !slices.ContainsFunc(container.Command, replaced) && !slices.ContainsFunc(container.Args, replaced)
}

// place says how a verdict is about where an object runs.
type place int

const (
	samePlace  place = iota // what runs is what was audited
	maybePlace              // it may be
	otherPlace              // it is not
)

// placeOf compares platforms. The digest of a platform's own manifest or config settles it; empty for an image by name.
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

// placeAmong compares an architecture with the nodes that a Pod may come to.
func placeAmong(audited string, subject Subject, facts Facts) place {
	there, others := subject.Architecture != "", subject.Architecture == "" && len(facts.Architectures) == 0
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

// linux is the operating system that audits run on.
const linux = "linux"

// mayRunOn reports whether an object may come to nodes of an architecture of Facts.
func (s Subject) mayRunOn(architecture string) bool {
	os, bare, other := strings.Cut(architecture, "/")
	if !other {
		os, bare = linux, architecture
	}
	return (s.OS == "" || s.OS == os) && (s.Architecture == "" || s.Architecture == bare)
}

// add takes a verdict into account.
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

// conclude returns what a policy holds of a container's image. Where nothing was audited as the
// container runs it, the worst of what is known instead counts: what is said against
// something else never admits.
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
		if e.admitting == a.admitting { // none of them would admit what it is about
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
