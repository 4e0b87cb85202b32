package depend

import (
	"slices"
	"strings"
	"time"
)

const (
	// least is the number of bytes or numbers of one way that must depend on a secret: fewer carry next to nothing of it, and a
	// few digits may be equal twice by chance.
	least = 4
	// maxShown bounds what is shown of each side, in bytes.
	maxShown = 96
	// maxSuspects bounds the ways that are examined.
	maxSuspects = 8
)

// Suspect is a way by which data left that differs with the secrets.
type Suspect struct {
	Way
	Named string
	Time  time.Time
	// With is the data with the original secrets, Without the data with others.
	With, Without string
	// Cores are the bytes that differ, with the original secrets.
	Cores []string

	// features are in all records with the same secrets, and in none with others.
	features []uint64
	// size is the sum of the weights of the differences.
	size int
}

// Suspects returns the ways by which data left that is in each record of launches with the same secrets and in none
// with others, and vice versa.
func Suspects(same, others []*Record) (all []Suspect) {
	with, without := differing(same, others), differing(others, same)
	for _, s := range with {
		i := slices.IndexFunc(without, func(o Suspect) bool { return o.Channel == s.Channel && o.Destination == s.Destination })
		if i >= 0 && len(all) < maxSuspects {
			s.Without = without[i].With
			all = append(all, s)
		}
	}
	return all
}

// Along reports whether a way belongs to the suspect, whatever the origin of its pieces.
func (s Suspect) Along(w Way) bool {
	return s.Channel == w.Channel && s.Destination == w.Destination && s.Capability == w.Capability
}

// In reports whether most of the differences are in a record.
func (s Suspect) In(r *Record) bool {
	r.index()
	n := 0
	for _, f := range s.features {
		if r.has(f) {
			n++
		}
	}
	return 2*n > len(s.features)
}

// differing returns the ways by which enough data left in each of some launches, as it was in the first, that left in
// none of others.
func differing(in, notIn []*Record) []Suspect {
	for _, r := range slices.Concat(in, notIn) {
		r.index()
	}
	differs := func(f uint64) bool {
		return !slices.ContainsFunc(in, func(r *Record) bool { return !r.has(f) }) &&
			!slices.ContainsFunc(notIn, func(r *Record) bool { return r.has(f) })
	}
	var all []Suspect
	get := func(w Way, named string, at time.Time) *Suspect {
		i := slices.IndexFunc(all, func(s Suspect) bool { return s.Along(w) })
		if i < 0 {
			i = len(all)
			all = append(all, Suspect{Way: w, Named: named, Time: at})
		}
		return &all[i]
	}
	for _, p := range in[0].pieces {
		cores := p.cores(differs)
		if len(cores) == 0 && differs(p.whole()) {
			cores = p.unlike(notIn[0])
		}
		for _, c := range cores {
			s := get(p.Way, p.Named, p.Time)
			s.features = append(s.features, c.features...)
			s.size += weighty * (c.to - c.from)
			s.Cores = append(s.Cores, string(p.Data[c.from:c.to]))
			if s.With == "" {
				from := max(0, c.from-maxShown/4)
				s.With = shown(p.Data[from:min(len(p.Data), from+maxShown)])
			}
		}
	}
	for _, n := range in[0].numbers {
		if !differs(n.feature) {
			continue
		}
		s := get(n.way, n.named, n.time)
		s.features = append(s.features, n.feature)
		s.size += n.weight
		if n.text != "" && len(s.With)+len(n.text) < maxShown {
			s.With += n.text + ", "
		}
	}
	for i := range all {
		all[i].With = strings.TrimSuffix(all[i].With, ", ")
	}
	return slices.DeleteFunc(all, func(s Suspect) bool { return s.size < weighty*least })
}

// core is a run of bytes that differ, with the features that show it.
type core struct {
	from, to int
	features []uint64
}

// cores returns the runs of a piece in which every window differs, without what the windows at their ends have in
// common with others.
func (p Piece) cores(differs func(feature uint64) bool) (all []core) {
	windows := p.windows()
	for at := 0; at < len(windows); at++ {
		from := at
		for at < len(windows) && differs(windows[at]) {
			at++
		}
		if to := at - (window - 1); to > from {
			all = append(all, core{from, to, windows[from:at]})
		}
	}
	return all
}

// unlike compares a whole piece with the most similar one of a record that left the same way. The difference is
// everything between their common ends.
func (p Piece) unlike(in *Record) (all []core) {
	feature := []uint64{p.whole()}
	for _, other := range in.pieces {
		if other.Channel != p.Channel || other.Destination != p.Destination || other.Capability != p.Capability {
			continue
		}
		from, shorter := 0, min(len(p.Data), len(other.Data))
		for from < shorter && p.Data[from] == other.Data[from] {
			from++
		}
		end := 0
		for end < shorter-from && p.Data[len(p.Data)-1-end] == other.Data[len(other.Data)-1-end] {
			end++
		}
		if to := len(p.Data) - end; all == nil || to-from < all[0].to-all[0].from {
			all = []core{{from, to, feature}}
		}
	}
	return all
}
