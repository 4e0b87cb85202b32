package gate

import (
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxOpinions, maxReads and maxMatched bound the opinions formed, the verdicts read and the bytes
// of patterns for each byte of an image for a subject, by memory and by a fraction of the API
// server's timeout, as several requests may be decided at a time.
const (
	maxOpinions = 20_000
	maxReads    = 1_000_000
	maxMatched  = 10_000_000
)

// Smaller says what to do about an object that is not Judgeable.
const Smaller = "make several objects of it, or have fewer policies"

// Judgeable keeps namespace admins, who may write policies, from making a decision so costly
// that the API server times out and failurePolicy admits what a cluster policy denies, or that
// running Pods are not compared in time.
func Judgeable(subject Subject, facts Facts) error {
	policies, patterns, images := 0, 0, 0
	for _, policy := range facts.Policies {
		if policy.Selects(subject.Namespace, facts) {
			policies++
			patterns += policy.match.patterns
		}
	}
	if policies == 0 {
		return nil
	}
	for _, container := range subject.Containers {
		images += len(container.Image)
	}
	if images*patterns > maxMatched {
		return fmt.Errorf("its images have %d bytes to compare with %d bytes of patterns, which are too many", images, patterns)
	}
	if containers := len(subject.Containers); containers*policies > maxOpinions {
		return fmt.Errorf("it has %d containers for %d policies to judge, which are too many", containers, policies)
	}
	if verdicts := cost(subject, facts); verdicts*policies > maxReads {
		return fmt.Errorf("its images have %d audits for %d policies to read, which are too many", verdicts, policies)
	}
	return nil
}

// Denying returns the policies that deny what cannot be judged. It might be anything, so these
// are all of its namespace with such targets.
func Denying(namespace string, target v1alpha1.GateTarget, facts Facts) []*Policy {
	return slices.DeleteFunc(slices.Clone(facts.Policies), func(p *Policy) bool {
		return !p.Selects(namespace, facts) || !p.targets(target)
	})
}

// cost returns how many verdicts all policies together read to decide about a subject.
func cost(subject Subject, facts Facts) (verdicts int) {
	if facts.Verdicts == nil {
		return 0
	}
	d := decider{subject: subject, facts: facts}
	d.read()
	counted := map[string]bool{}
	for i := range d.images {
		of := &d.images[i]
		if of.key == "" || counted[of.key] {
			continue
		}
		counted[of.key] = true
		for _, found := range of.verdicts(facts.Verdicts) {
			verdicts += len(found)
		}
	}
	return verdicts
}
