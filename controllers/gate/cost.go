package gate

// Cost returns how many verdicts all policies together read to decide about a subject.
func Cost(subject Subject, facts Facts) (verdicts int) {
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
