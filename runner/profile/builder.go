package profile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// DefaultEffects is how many distinct effects a Builder keeps by default. One
// takes at most about 7.5 KiB, when a hostile server makes it so: a path, the
// arguments of a program, and two calls as people read them. All take less than
// 128 MiB.
const DefaultEffects = 16384

// Limits bound a Builder.
type Limits struct {
	// Effects is how many distinct effects are kept; 0 means DefaultEffects.
	Effects int
	// Home is the server's home directory: what happens below it is kept
	// longest when there is too much.
	Home string
}

// Builder takes in events. It is not safe for concurrent use.
type Builder struct {
	limits Limits
	kept   map[key]*record
	// ranks holds the same records by worth, so that the cheapest go first.
	ranks    [ranks][]*record
	ordinary int
	dropped  int
}

// New makes an empty Builder.
func New(limits Limits) *Builder {
	if limits.Effects <= 0 {
		limits.Effects = DefaultEffects
	}
	return &Builder{limits: limits, kept: map[key]*record{}}
}

// key tells effects apart before the ledger is known. Requests are sent one at
// a time, so for one value of In there are two places at most: before and
// behind the response. A record's first and last position show both.
type key struct {
	in  int64
	eof bool
	identity
}

// identity is what makes two effects the same, wherever they happen. It is
// that of an Effect, made comparable.
type identity struct {
	kind                         Kind
	path, operation, errno, argv string
	refused, blinded             bool
	address                      string
	port                         int
	protocol, host               string
}

// sighting is one call.
type sighting struct {
	seq    uint64
	at     trace.Position
	time   time.Time
	pid    int
	detail string
}

type record struct {
	key
	rank        rank
	count       int
	first, last sighting
}

// Add takes in one event.
func (b *Builder) Add(e trace.Event) {
	effects := identities(e)
	if len(effects) == 0 {
		return
	}
	seen := sighting{seq: e.Seq, at: e.At, time: e.Time, pid: e.PID, detail: e.Detail}
	for _, id := range effects {
		worth := id.rank(b.limits.Home)
		if worth == rankOrdinary {
			b.ordinary++
			continue
		}
		b.add(key{e.At.In, e.At.EOF, id}, worth, seen)
	}
}

func (b *Builder) add(k key, worth rank, seen sighting) {
	if r := b.kept[k]; r != nil {
		r.count++
		if seen.at.Out < r.first.at.Out {
			r.first = seen
		}
		if seen.at.Out > r.last.at.Out {
			r.last = seen
		}
		return
	}
	if len(b.kept) >= b.limits.Effects && !b.makeRoom(worth) {
		b.dropped++
		return
	}
	r := &record{key: k, rank: worth, count: 1, first: seen, last: seen}
	b.kept[k] = r
	b.ranks[worth] = append(b.ranks[worth], r)
}

// makeRoom drops the latest of the effects that are worth the least, unless
// even those are worth as much as the new one.
func (b *Builder) makeRoom(worth rank) bool {
	for cheaper := range worth {
		n := len(b.ranks[cheaper])
		if n == 0 {
			continue
		}
		victim := b.ranks[cheaper][n-1]
		b.ranks[cheaper] = b.ranks[cheaper][:n-1]
		delete(b.kept, victim.key)
		b.dropped += victim.count
		return true
	}
	return false
}

// Build joins what was seen with what the server was asked. The Builder may be
// added to and built again.
func (b *Builder) Build(l ledger.Ledger) Profile {
	type place struct {
		ledger.Where
		identity
	}
	type found struct {
		Effect
		seq uint64
	}
	places := map[place]*found{}
	note := func(r *record, seen sighting, count int) {
		where := l.At(seen.at)
		p := place{where, r.identity}
		f := places[p]
		if f == nil {
			f = &found{Effect: r.effect(where), seq: seen.seq}
			places[p] = f
		}
		f.Count += count
		if seen.seq <= f.seq {
			f.seq, f.Time, f.PID, f.Detail = seen.seq, seen.time, seen.pid, seen.detail
		}
	}
	for _, r := range b.kept {
		if l.At(r.first.at) == l.At(r.last.at) {
			note(r, r.first, r.count)
			continue
		}
		// Seen on both sides of a response; how often on each is not known.
		note(r, r.first, r.count-1)
		note(r, r.last, 1)
	}
	all := make([]*found, 0, len(places))
	for _, f := range places {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *found) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Path, b.Path))
	})
	p := Profile{Effects: make([]Effect, len(all)), Ordinary: b.ordinary, Dropped: b.dropped}
	for i, f := range all {
		p.Effects[i] = f.Effect
	}
	return p
}

// effect is the Effect of an identity, without its evidence.
func (id identity) effect(where ledger.Where) Effect {
	e := Effect{
		Kind: id.kind, Where: where, Path: id.path, Operation: id.operation, Error: id.errno,
		Refused: id.refused, Blinded: id.blinded,
		Address: id.address, Port: id.port, Protocol: id.protocol, Host: id.host,
	}
	if id.argv != "" {
		e.Argv = strings.Split(id.argv, separator)
	}
	return e
}

// identity is the inverse of identity.effect.
func (e Effect) identity() identity {
	return identity{
		kind: e.Kind, path: e.Path, operation: e.Operation, errno: e.Error, argv: strings.Join(e.Argv, separator),
		refused: e.Refused, blinded: e.Blinded,
		address: e.Address, port: e.Port, protocol: e.Protocol, host: e.Host,
	}
}
