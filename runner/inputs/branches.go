package inputs

import "math/bits"

// maxBranches bounds the branches of one schema.
const maxBranches = 256

// registry numbers branches by name, so that a property of two alternatives counts once.
type registry struct {
	ids map[string]int
	// cut: the schema was not walked completely.
	cut bool
}

// add returns the number of a branch; -1 if there are too many.
func (r *registry) add(name string) int {
	if id, known := r.ids[name]; known {
		return id
	}
	if len(r.ids) >= maxBranches {
		r.cut = true
		return -1
	}
	if r.ids == nil {
		r.ids = map[string]int{}
	}
	r.ids[name] = len(r.ids)
	return len(r.ids) - 1
}

// set is a set of branches.
type set [maxBranches / 64]uint64

func (s *set) add(branch int) {
	if branch >= 0 {
		s[branch/64] |= 1 << (branch % 64)
	}
}

// only returns the set of one branch.
func only(branch int) (s set) {
	s.add(branch)
	return s
}

func (s *set) join(other set) {
	for i := range s {
		s[i] |= other[i]
	}
}

func (s set) has(branch int) bool {
	return branch >= 0 && s[branch/64]&(1<<(branch%64)) != 0
}

func (s set) without(other set) set {
	for i := range s {
		s[i] &^= other[i]
	}
	return s
}

func (s set) and(other set) set {
	for i := range s {
		s[i] &= other[i]
	}
	return s
}

func (s set) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// first returns the lowest branch; -1 if there is none.
func (s set) first() int {
	for i, word := range s {
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
