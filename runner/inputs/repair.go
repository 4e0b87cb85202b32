package inputs

// refusal holds the parts of a refused call that were not at fault, and stay in the next one:
// the branches, and the values by place; a made-up value is nil.
type refusal struct {
	taken  set
	values map[string]candidate
}

// keeps reports whether a place keeps its value.
func (r *refusal) keeps(at string) bool {
	if r == nil {
		return false
	}
	_, kept := r.values[at]
	return kept
}

func newRefusal(c Case, blamed []placed) *refusal {
	r := &refusal{taken: c.taken, values: map[string]candidate{}}
	for _, p := range c.placed {
		r.values[p.at] = candidate{}
	}
	for _, t := range c.trials {
		r.values[t.at] = t.candidate
	}
	for _, p := range blamed {
		delete(r.values, p.at)
	}
	return r
}

// repaired makes the call that follows a refusal: no more than is required, as the
// refusals have taught, and the rest as it was.
func (f *Form) repaired(pool *Pool, mark Mark) (Case, bool) {
	if !f.repair || f.repairs >= maxRepairs || f.futile() {
		return Case{}, false
	}
	f.repair = false
	f.repairs++
	d, ok := f.aimed(ShapeRequired, -1, pool, mark)
	f.refused = nil
	if !ok {
		return Case{}, false
	}
	return f.send(d), true
}

// patience is how often a refusal may recur, whatever was repaired, before every other call takes a branch instead.
const patience = 3

// futile reports whether the refusal is rather about what the call lacks than about its values.
func (f *Form) futile() bool { return f.same >= patience && f.same%2 == 1 && f.unsent() >= 0 }

// complain counts how often the same refusal came.
func (f *Form) complain(text string) {
	if text != f.complaint {
		f.same = 0
	}
	f.complaint = text
	f.same++
}
