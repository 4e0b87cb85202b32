package leak

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// Finish searches what is held back, and returns the leaks, each with its part of the
// session. Call it when the trace and the sinkhole have ended.
func (c *Collector) Finish(l ledger.Ledger) []Leak {
	c.sent.flush()
	c.stored.flush()
	c.caught.flush()
	c.said.flush()
	if c.datagrams.missed() {
		c.miss(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bySocket := map[socket]*flow{}
	for _, f := range c.flows {
		bySocket[f.from] = f
	}
	traced := map[identity]bool{}
	for _, s := range c.found {
		if s.from != (socket{}) {
			traced[identity{decoy: s.decoy, from: s.from}] = true
		}
	}
	all := map[Leak]*Leak{}
	var order []*Leak
	for _, s := range c.found {
		if f := c.flows[s.flow]; f != nil && traced[identity{decoy: s.decoy, from: f.from}] {
			continue // the trace knows the time more exactly
		}
		leak := c.leak(s, bySocket, l)
		same := leak
		same.Excerpt, same.Request, same.Count, same.Time, same.PID, same.Syscall = "", "", 0, time.Time{}, 0, ""
		known := all[same]
		if known == nil {
			known = &leak
			all[same] = known
			order = append(order, known)
			continue
		}
		known.Count += leak.Count
		if leak.Time.Before(known.Time) {
			known.Time, known.PID, known.Syscall = leak.Time, leak.PID, leak.Syscall
		}
	}
	slices.SortStableFunc(order, func(a, b *Leak) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Decoy.Name, b.Decoy.Name))
	})
	leaks := make([]Leak, len(order))
	for i, known := range order {
		leaks[i] = *known
	}
	c.settleAsked(leaks)
	return leaks
}

// Unsearched counts the places that could not be searched, because a bound ended
// the search there, and the sightings that there was no room for.
func (c *Collector) Unsearched() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsearched + c.dropped
}

// leak makes a Leak of a sighting.
func (c *Collector) leak(s *sighting, bySocket map[socket]*flow, l ledger.Ledger) Leak {
	seen := *s
	out := Leak{
		Decoy: s.decoy, Channel: s.channel, Encoding: s.encoding, Destination: s.destination,
		Request: s.request, Excerpt: s.excerpt, Count: s.count,
	}
	f := c.flows[s.flow]
	if f == nil {
		f = bySocket[s.from]
	}
	from := s.from
	if f != nil {
		from = f.from
		out.Channel, out.Destination = f.channel(), destination(f.host, f.destination)
		out.Request = cmp.Or(out.Request, f.request)
	}
	talk := c.sockets[from]
	if s.flow != 0 && f != nil && talk != nil {
		at := talk.atOffset(s.offset)
		if encrypted(f.protocol) {
			at = talk.atTime(s.time)
		}
		seen.at, seen.time, seen.pid, seen.syscall = at.at, at.time, at.pid, at.syscall
	}
	if f != nil {
		out.Home, out.local = c.sentToOwner(s, f), f.destination.Addr().IsLoopback()
		if f.owned() {
			out.named = f.named
		}
	}
	out.Time, out.PID, out.Syscall = seen.time, seen.pid, seen.syscall
	out.Where = c.where(&seen, l)
	return out
}

// sentToOwner reports whether the other end is a service that the secret is for: the sinkhole has handed out the
// address for its name. What the server says of the other end, or learned from another name server, does not count.
// A service on the machine itself may get what the user has set: it stands in for the real one, as LocalStack and
// proxies of models do.
func (c *Collector) sentToOwner(s *sighting, f *flow) bool {
	if f.destination.Addr().IsLoopback() && s.decoy.Variable && (s.encoding == decoy.Plain || s.encoding == decoy.Base64) {
		return true
	}
	return f.owned() && ForService(c.set.Hosts(s.decoy), f.named)
}

// ForService reports whether a name is one of some services, or below one.
func ForService(services []string, name string) bool {
	return slices.ContainsFunc(services, func(service string) bool { return name == service || strings.HasSuffix(name, "."+service) })
}

// owned reports whether a flow went to the address that its name has.
func (f *flow) owned() bool { return sinkhole.Gave(f.named, f.destination.Addr()) }

// where returns the part of the session that a sighting belongs to.
func (c *Collector) where(s *sighting, l ledger.Ledger) ledger.Where {
	switch {
	case s.channel == Answer:
		return Answered(l, s.at.end)
	case s.syscall != "":
		m := s.at.trace
		m.Time = s.time
		return l.At(m)
	case s.channel == Stderr, s.channel == Stdout:
		return c.during(s.at.asked)
	}
	return c.during(c.askedBefore(s.time))
}

// Answered returns the exchange whose answer contains a byte, or that waited for an answer when
// the byte came. A byte after a timed-out exchange belongs to the next answered one.
func Answered(l ledger.Ledger, end int64) ledger.Where {
	in := func(e ledger.Exchange) ledger.Where {
		return ledger.Where{Phase: e.Phase, Capability: e.Capability, Attribution: report.AttributionInFlight}
	}
	for _, e := range l {
		if e.Received != 0 && end <= e.Received {
			return in(e)
		}
	}
	if n := len(l); n > 0 && l[n-1].Received == 0 {
		return in(l[n-1])
	}
	return server(report.PhaseIdle)
}

// during returns the part of the session in which so many requests had been sent.
func (c *Collector) during(asked int) ledger.Where {
	if asked == 0 {
		return server(report.PhaseStartup)
	}
	return c.asked[asked-1].where
}

// askedBefore returns how many requests had been sent by a time.
func (c *Collector) askedBefore(t time.Time) int {
	n := 0
	for n < len(c.asked) && c.asked[n].time.Before(t) {
		n++
	}
	return n
}

func server(phase report.Phase) ledger.Where {
	return ledger.Where{Phase: phase, Capability: report.Capability{Kind: report.CapabilityServer}, Attribution: report.AttributionPhase}
}
