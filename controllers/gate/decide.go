package gate

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Decide decides about an object, independently of the order of facts and containers. Its cost
// is linear in the containers and in the verdicts on their images, which each policy reads
// once.
func Decide(subject Subject, facts Facts) Decision {
	d := decider{subject: subject, facts: facts}
	d.read()
	for _, policy := range facts.Policies {
		if policy.Selects(subject.Namespace, facts) && policy.selectsObject(subject) {
			d.ask(policy)
		}
	}
	return d.conclude()
}

type decider struct {
	subject Subject
	facts   Facts
	images  []image
	// exceptions by policy; nil until needed.
	exceptions map[v1alpha1.PolicyReference]*exceptions
	// alterations that were found so far.
	alterations map[altering]*Alteration
	opinions    []Opinion
}

// image is a container's parsed image.
type image struct {
	name
	full string
	err  error
	// digests has the digests of its manifests, id that of its config; neither if only its name is
	// known.
	digests []v1alpha1.Digest
	id      v1alpha1.Digest
	// key is equal for images with the same verdicts.
	key string
	// start describes how the container is started; place is its position among all containers.
	start start
	place int
}

// read prepares everything that does not depend on a policy, because there may be many policies and large objects.
func (d *decider) read() {
	d.images = make([]image, len(d.subject.Containers))
	order := make([]int, len(d.images))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareContainers(&d.subject.Containers[a], &d.subject.Containers[b]) })
	for place, i := range order {
		d.images[i].place = place
	}
	for i, container := range d.subject.Containers {
		read := &d.images[i]
		read.start = startOf(container, d.facts.EnvironmentKey)
		read.name, read.err = parse(container.Image)
		read.full = read.String()
		read.id = container.ImageID
		switch {
		case read.isID():
			read.id = read.digest
		case read.digest != "":
			read.digests = append(read.digests, read.digest)
		}
		read.digests = append(read.digests, container.Digests...)
		slices.Sort(read.digests)
		read.digests = slices.Compact(read.digests)
		switch {
		case len(read.digests) > 0 || read.id != "":
			var key strings.Builder
			key.WriteString(string(read.id))
			for _, digest := range read.digests {
				key.WriteString(string(digest))
				key.WriteByte(' ')
			}
			read.key = key.String()
		case read.err == nil:
			read.key = read.full
		}
	}
}

// ask collects the opinions of a policy.
func (d *decider) ask(policy *Policy) {
	all, answers := map[string]*evidence{}, make([]wanted, len(d.images))
	about := make([]bool, len(d.images))
	var asked []int // the first container of each key
	for i, container := range d.subject.Containers {
		read := &d.images[i]
		if about[i] = policy.selectsContainer(container, read.name); !about[i] {
			continue
		}
		if all[read.key] == nil {
			all[read.key] = newEvidence()
			asked = append(asked, i)
		}
		answers[i] = all[read.key].wantIn(&read.start)
	}
	if policy.Invalid == "" {
		for _, i := range asked {
			d.gather(policy, &d.images[i], all[d.images[i].key])
		}
	}
	for i := range d.images {
		if about[i] {
			d.opinions = append(d.opinions, d.opinion(policy, i, all[d.images[i].key], answers[i]))
		}
	}
}

func (d *decider) gather(policy *Policy, of *image, into *evidence) {
	if d.facts.Verdicts == nil || of.key == "" {
		return
	}
	for digest, verdicts := range of.verdicts(d.facts.Verdicts) {
		for _, v := range verdicts {
			if policy.Trusts(v, d.subject.Namespace, d.facts) {
				into.add(hold(policy.standing(v, d.facts.Now), v), placeOf(v, digest, d.subject, d.facts))
			}
		}
	}
}

// verdicts yields the verdicts on an image with the digest that they are found by, which is
// empty for its name.
func (i *image) verdicts(known Verdicts) iter.Seq2[v1alpha1.Digest, []*Verdict] {
	return func(yield func(v1alpha1.Digest, []*Verdict) bool) {
		for _, digest := range i.digests {
			if !yield(digest, known.ByDigest(digest)) {
				return
			}
		}
		switch {
		case i.id != "":
			yield(i.id, known.ByImageID(i.id))
		case len(i.digests) == 0:
			yield("", known.ByImage(i.full))
		}
	}
}

// opinion returns a policy's opinion of a container.
func (d *decider) opinion(policy *Policy, i int, known *evidence, a wanted) Opinion {
	container, read := d.subject.Containers[i], &d.images[i]
	found := held{standing: standing{v1alpha1.GateNotAudited, v1alpha1.ActionDeny}}
	var altered *Alteration
	if policy.Invalid == "" {
		found = known.concludeIn(policy, a)
		found, altered = d.strict(policy, found, a, i)
		if read.digest == "" { // a tag may name another image later
			found.standing = worse(found.standing, standing{v1alpha1.GateNoDigest, policy.Gate.OnMissing})
			if found.reason == v1alpha1.GatePassed { // by an earlier audit, with a warning
				found.reason = v1alpha1.GateNoDigest
			}
		}
	}
	opinion := Opinion{Policy: policy, Container: container, Reason: found.reason, Action: found.action, Verdict: found.verdict, Place: read.place}
	if found.reason == v1alpha1.GateAltered {
		opinion.Alteration = altered
	}
	if found.action == v1alpha1.ActionDeny && !policy.Trust.IgnoreExceptions {
		opinion.Exception = d.exception(policy, container, read.name)
	}
	if opinion.Exception != nil {
		opinion.Reason, opinion.Action = v1alpha1.GateExcepted, v1alpha1.ActionAllow
	}
	opinion.Sentence, opinion.Finding = d.sentence(opinion, read, maxSentence)
	return opinion
}

func (d *decider) exception(policy *Policy, container Container, read name) *Exception {
	if len(d.facts.Exceptions) == 0 {
		return nil
	}
	if d.exceptions == nil {
		d.exceptions = exceptionsFor(d.subject, d.facts)
	}
	return d.exceptions[policy.Ref].admits(container, read)
}

// conclude combines the opinions.
func (d *decider) conclude() Decision {
	slices.SortFunc(d.opinions, inOrder)
	decision := Decision{Allowed: true, Opinions: d.opinions}
	var denied, warned []*Opinion
	for i := range d.opinions {
		o := &d.opinions[i]
		switch {
		case o.Action == v1alpha1.ActionDeny && o.Policy.Gate.Mode == v1alpha1.GateEnforce:
			denied = append(denied, o)
		case o.Action != v1alpha1.ActionAllow && o.Policy.Gate.Mode != v1alpha1.GateAudit:
			warned = append(warned, o)
		}
	}
	decision.Allowed = len(denied) == 0
	decision.Message = d.message(denied)
	decision.Warnings = d.warnings(warned)
	return decision
}

// inOrder orders by policy, then by container.
func inOrder(a, b Opinion) int {
	return cmp.Or(
		strings.Compare(a.Policy.Ref.Kind, b.Policy.Ref.Kind), strings.Compare(a.Policy.Namespace, b.Policy.Namespace),
		strings.Compare(a.Policy.Ref.Name, b.Policy.Ref.Name), cmp.Compare(a.Place, b.Place),
	)
}

// compareContainers orders by name and image; the rest, which may be large, makes the order
// stable.
func compareContainers(a, b *Container) int {
	for _, compare := range []func(a, b *Container) int{
		func(a, b *Container) int { return strings.Compare(a.Name, b.Name) },
		func(a, b *Container) int { return strings.Compare(a.Image, b.Image) },
		func(a, b *Container) int { return strings.Compare(string(a.Role), string(b.Role)) },
		func(a, b *Container) int { return slices.Compare(a.Command, b.Command) },
		func(a, b *Container) int { return slices.Compare(a.Args, b.Args) },
		func(a, b *Container) int { return slices.Compare(a.Digests, b.Digests) },
		func(a, b *Container) int { return compareEnvironments(a.Environment, b.Environment) },
		func(a, b *Container) int { return compareAdditions(a.Additions, b.Additions) },
	} {
		if order := compare(a, b); order != 0 {
			return order
		}
	}
	return strings.Compare(a.Unclear, b.Unclear)
}

// worst orders opinions, worst first.
func worst(a, b *Opinion) int {
	return cmp.Or(
		cmp.Compare(weight(b.Action), weight(a.Action)),
		cmp.Compare(slices.Index(reasons, b.Reason), slices.Index(reasons, a.Reason)),
		inOrder(*a, *b),
	)
}
