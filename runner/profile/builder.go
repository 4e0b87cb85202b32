package profile

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/noise"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// DefaultEffects bounds the distinct effects that a Builder keeps by default. A
// hostile server can make one take about 8 KiB: a path, the arguments of a program,
// and the details of two calls. All take less than 128 MiB.
const DefaultEffects = 16384

// placesOfFact is the cost of a fact's texts, in places where it is seen: a file that is read by a program which every
// call starts is one fact in many places, and costs in each of them a quarter of a new file.
const placesOfFact = 3

// Limits bound a Builder.
type Limits struct {
	// Effects bounds the kept effects that share no fact; 0 means DefaultEffects.
	Effects int
	// Home is the server's home directory: effects below it are dropped late
	// when there are too many.
	Home string
	// Sensitive selects paths that are dropped last, and are never noise; nil
	// for only the usual paths of secrets.
	Sensitive func(path string) bool
}

// Builder collects effects from events. Only Active may be called from another goroutine.
type Builder struct {
	limits Limits
	filter *noise.Filter
	facts  map[Fact]*fact
	kept   map[key]*record
	// ranks has the same records by rank and kind, to drop the least valuable first.
	ranks   [ranks]map[Kind][]*record
	noise   tally
	dropped int
	cut     Cut
	active  atomic.Int64 // nanoseconds since the Unix epoch; 0 for never
}

// New makes an empty Builder.
func New(limits Limits) *Builder {
	if limits.Effects <= 0 {
		limits.Effects = DefaultEffects
	}
	return &Builder{limits: limits, facts: map[Fact]*fact{}, kept: map[key]*record{}, noise: tally{},
		filter: noise.New(limits.Home, limits.Sensitive)}
}

// fact is a kept fact, with the number of records that have it.
type fact struct {
	Fact
	places int
}

// key identifies effects before the ledger is known. Requests are sent one at a
// time, so one value of At.In has at most three places: before the response, soon
// after it, and later. A record's first and last sighting show the earliest and the
// latest of them. Its moment is without At.Out and Time.
type key struct {
	moment ledger.Moment
	*fact
}

// sighting is one call. at and time belong to its moment, which shares the rest
// with its record's key.
type sighting struct {
	seq    uint64
	at     trace.Position
	time   time.Time
	pid    int
	detail string
	bytes  int64
}

// before orders sightings of one key by their place in the session.
func (s sighting) before(other sighting) bool {
	return s.at.Out < other.at.Out || s.at.Out == other.at.Out && s.time.Before(other.time)
}

type record struct {
	key
	rank        rank
	count       int
	bytes       int64
	first, last sighting
}

// where returns the place of a sighting in the session.
func (r *record) where(l ledger.Ledger, s sighting) ledger.Where {
	m := r.moment
	m.At, m.Time = s.at, s.time
	return l.At(m)
}

// Add adds one event.
func (b *Builder) Add(e trace.Event) {
	if e.Op == trace.OpExec && e.Errno == "" {
		b.filter.Executed(e.Path, e.Argv)
	}
	b.missing(e)
	facts := factsOf(e)
	if len(facts) == 0 {
		return
	}
	seen := sighting{seq: e.Seq, at: e.At, time: e.Time, pid: e.PID, detail: e.Detail, bytes: e.Size}
	moment := ledger.MomentOf(e)
	moment.At.Out, moment.Time = 0, time.Time{}
	for _, f := range facts {
		if reason, ok := b.filtered(f, e.Op); ok {
			if f.Kind != KindStore && f.Kind != KindLoad { // its open was counted
				b.noise.count(reason, f)
			}
			continue
		}
		if f.Kind != KindStore && f.Kind != KindLoad { // or a log would keep the probe waiting
			b.active.Store(time.Now().UnixNano())
		}
		b.add(moment, f, seen)
	}
}

// missing counts the bytes of a payload that are not in the trace.
func (b *Builder) missing(e trace.Event) {
	n := e.Size - int64(len(e.Data))
	switch {
	case n <= 0 || e.From != "": // the read of that file is a separate effect
	case e.Op == trace.OpStore:
		if _, ok := b.filter.Reason(noise.Access{Path: e.Path, Change: true}); !ok {
			b.cut.Here += n
		}
	case e.Op == trace.OpSend && e.Socket != nil:
		if remote := e.Socket.Remote.Addr(); remote.IsValid() && !remote.IsLoopback() {
			b.cut.Sent += n
			return
		}
		b.cut.Here += n
	}
}

// Active returns when the last effect was added; the zero time before the first.
func (b *Builder) Active() time.Time {
	if at := b.active.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

func (b *Builder) add(moment ledger.Moment, f Fact, seen sighting) {
	if r := b.kept[key{moment, b.facts[f]}]; r != nil {
		r.count++
		r.bytes += seen.bytes
		if seen.before(r.first) {
			r.first = seen
		}
		if r.last.before(seen) {
			r.last = seen
		}
		return
	}
	worth := b.rank(f)
	for b.full(f) {
		if !b.makeRoom(worth, f.Kind) {
			b.dropped++
			return
		}
	}
	known := b.facts[f]
	if known == nil {
		known = &fact{Fact: f}
		b.facts[f] = known
	}
	known.places++
	r := &record{key: key{moment, known}, rank: worth, count: 1, bytes: seen.bytes, first: seen, last: seen}
	b.kept[r.key] = r
	if b.ranks[worth] == nil {
		b.ranks[worth] = map[Kind][]*record{}
	}
	b.ranks[worth][f.Kind] = append(b.ranks[worth][f.Kind], r)
}

// full reports whether there is no room for another place of a fact.
func (b *Builder) full(f Fact) bool {
	need := 1
	if b.facts[f] == nil {
		need += placesOfFact
	}
	return len(b.facts)*placesOfFact+len(b.kept)+need > b.limits.Effects*(placesOfFact+1)
}

// makeRoom drops the latest effect of the lowest rank, up to the new one's. Within the new
// one's own rank it drops only from a more frequent kind: many programs leave room for a connection.
func (b *Builder) makeRoom(worth rank, kind Kind) bool {
	for cheaper := range worth + 1 {
		most := largest(b.ranks[cheaper])
		records := b.ranks[cheaper][most]
		n := len(records)
		if n == 0 || cheaper == worth && n <= len(b.ranks[worth][kind])+1 {
			continue
		}
		victim := records[n-1]
		records[n-1] = nil
		b.ranks[cheaper][most] = records[:n-1]
		delete(b.kept, victim.key)
		if victim.places--; victim.places == 0 {
			delete(b.facts, victim.Fact)
		}
		b.dropped += victim.count
		return true
	}
	return false
}

func largest(of map[Kind][]*record) Kind {
	var most Kind
	for kind, records := range of {
		if n := len(records); n > len(of[most]) || n == len(of[most]) && kind < most {
			most = kind
		}
	}
	return most
}

// Build joins the effects with the requests to the server. More events may follow,
// and another Build.
func (b *Builder) Build(l ledger.Ledger) Profile {
	type place struct {
		Fact
		ledger.Where
	}
	type found struct {
		Effect
		seq uint64
	}
	places := map[place]*found{}
	note := func(r *record, where ledger.Where, seen sighting, count int, bytes int64) {
		p := place{r.Fact, where}
		f := places[p]
		if f == nil {
			f = &found{Effect: Effect{Fact: r.Fact, Where: where}, seq: seen.seq}
			places[p] = f
		}
		f.Count += count
		f.Bytes += bytes
		if seen.seq <= f.seq {
			f.seq, f.Time, f.PID, f.Detail = seen.seq, seen.time, seen.pid, seen.detail
		}
	}
	for _, r := range b.kept {
		first := r.where(l, r.first)
		last := first
		if r.count > 1 {
			last = r.where(l, r.last)
		}
		if first == last {
			note(r, first, r.first, r.count, r.bytes)
			continue
		}
		// Seen on both sides of a response; how often on each is not known.
		note(r, first, r.first, r.count-1, r.bytes-r.last.bytes)
		note(r, last, r.last, 1, r.last.bytes)
	}
	all := make([]*found, 0, len(places))
	for _, f := range places {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *found) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Path, b.Path))
	})
	p := Profile{Effects: make([]Effect, len(all)), Noise: b.noise.report(), Dropped: b.dropped, Cut: b.cut}
	for i, f := range all {
		p.Effects[i] = f.Effect
	}
	return p
}
