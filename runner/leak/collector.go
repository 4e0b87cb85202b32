package leak

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The bounds of a Collector, by number.
const (
	// maxSightings bounds the sightings, of less than 2 KiB each.
	maxSightings = 4096
	// maxAsked bounds the requests whose times are kept.
	maxAsked = 8192
)

// Collector searches the server's output for secrets. Event, Capture and Response may each be called from one
// goroutine, the others from any.
type Collector struct {
	set     decoy.Set
	matcher *decoy.Matcher
	sent    *streams // of the trace
	stored  *streams // of the trace, in files
	caught  *streams // of the sinkhole
	said    *streams
	flows   flows
	sockets sockets
	// datagrams were sent and received.
	datagrams datagrams
	// filed has the asked-for variables whose value was looked for as a file.
	filed map[string]bool

	mu         sync.Mutex
	found      []*sighting
	index      map[identity]*sighting
	asked      []sentRequest
	dropped    int
	unsearched int
}

// New makes a collector for the decoys of one run.
func New(set decoy.Set) *Collector {
	c := &Collector{set: set, matcher: decoy.NewMatcher(set), index: map[identity]*sighting{}, filed: map[string]bool{}}
	c.sent, c.caught, c.said = newStreams(c, true), newStreams(c, true), newStreams(c, true)
	c.stored = newStreams(c, false) // stored bytes have not left the server
	c.sockets, c.flows = sockets{}, flows{}
	return c
}

// Undigested is [decoy.Set.Undigested].
func (c *Collector) Undigested() func(name string) string { return c.set.Undigested() }

// Holds reports whether a value contains a secret, in any form.
func (c *Collector) Holds(value string) bool {
	found, _ := c.matcher.Find([]byte(value))
	return len(found) > 0
}

// identity tells sightings apart before the ledger is known.
type identity struct {
	decoy                 decoy.ID
	channel               Channel
	encoding, destination string
	from                  socket
	flow                  uint64
	at                    moment
}

// moment is the time of a sighting in the session: by the trace, by the number of bytes that the server had sent, by
// a flow of the sinkhole, or by time.
type moment struct {
	trace ledger.Moment // without its time, so that it can tell sightings apart
	end   int64
	asked int
}

// sighting is a secret that was seen once or more often.
type sighting struct {
	identity
	request string
	excerpt string
	count   int
	time    time.Time
	pid     int
	syscall string
	offset  int64 // in the flow
}

// note enters the secrets that were found.
func (c *Collector) note(s sighting, m decoy.Match) {
	s.decoy, s.encoding, s.excerpt, s.count = m.Decoy, m.Encoding, m.Excerpt, 1
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.index[s.identity]; known != nil {
		known.count++
		return
	}
	if len(c.found) >= maxSightings {
		c.dropped++
		return
	}
	c.found = append(c.found, &s)
	c.index[s.identity] = &s
}

// miss counts places that could not be searched.
func (c *Collector) miss(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsearched += n
}

// Event searches an event of the trace.
func (c *Collector) Event(e trace.Event) {
	switch e.Op {
	case trace.OpSend:
		c.send(e)
	case trace.OpStore:
		c.store(e)
	case trace.OpExec:
		c.exec(e)
	case trace.OpRead, trace.OpLook:
		c.lookFor(e)
	}
}

// seen returns the sighting for a secret in an event.
func seen(e trace.Event, channel Channel, destination string) sighting {
	m := ledger.MomentOf(e)
	m.Time = time.Time{}
	return sighting{
		identity: identity{channel: channel, destination: destination, at: moment{trace: m}},
		time:     e.Time, pid: e.PID, syscall: e.Syscall,
	}
}

// whole notes a decoy file that was moved without a look at its bytes.
func (c *Collector) whole(s sighting, from string) bool {
	f, ok := c.set.Find(from)
	if !ok {
		return false
	}
	c.note(s, decoy.Match{Decoy: decoy.ID{Name: f.Path}, Encoding: "plain", Excerpt: "the whole file"})
	return true
}

// store searches bytes that were written to a file. A decoy's own bytes may be
// written to it again.
func (c *Collector) store(e trace.Event) {
	if _, own := c.set.Find(e.Path); own {
		return
	}
	s := seen(e, File, e.Path)
	if !c.whole(s, e.From) {
		c.stored.write(key{kind: File, name: e.Path}, e.Data, e.Cut, s)
	}
}

// exec searches the arguments and the environment of a program that was started.
func (c *Collector) exec(e trace.Event) {
	if e.Errno != "" {
		return
	}
	for channel, words := range map[Channel][]string{Argv: e.Argv, Environment: e.Env} {
		for _, between := range []string{"\x00", ""} { // together and apart
			found, missed := c.matcher.Find([]byte(strings.Join(words, between)))
			c.miss(missed)
			for _, m := range found {
				c.note(seen(e, channel, e.Path), m)
			}
			if len(found) > 0 {
				break
			}
		}
	}
	if e.Cut {
		c.miss(1)
	}
}

// Response searches one line of stdout; end is the number of bytes received up to
// and including its end.
func (c *Collector) Response(line []byte, end int64) {
	found, missed := c.matcher.Find(line)
	c.miss(missed)
	for _, m := range found {
		c.note(sighting{identity: identity{channel: Answer, at: moment{end: end}}, time: time.Now()}, m)
	}
}

// Wire searches a piece of what the server wrote to a connection of the session, as
// it is on the wire; an empty piece ends the connection. Response gets its messages
// as well: there a secret may be in the escapes of a JSON text.
func (c *Collector) Wire(conn int, piece []byte, end int64) {
	k := key{kind: Answer, pid: conn}
	if len(piece) == 0 {
		c.said.end(k)
		return
	}
	c.said.write(k, piece, false, sighting{identity: identity{channel: Answer, at: moment{end: end}}, time: time.Now()})
}

// Log returns a writer that searches the server's other output: Stderr, or Stdout
// where that carries no answers. The output belongs to the request that is in flight
// when it comes.
func (c *Collector) Log(channel Channel) io.Writer { return log{c, channel} }

type log struct {
	*Collector
	channel Channel
}

// Write never fails.
func (c log) Write(p []byte) (int, error) {
	c.mu.Lock()
	at := len(c.asked)
	c.mu.Unlock()
	c.said.write(key{kind: c.channel}, p, false,
		sighting{identity: identity{channel: c.channel, at: moment{asked: at}}, time: time.Now()})
	return len(p), nil
}

// sentRequest is a request with the time at which it was sent.
type sentRequest struct {
	where ledger.Where
	time  time.Time
}

// Asked records that a request was sent.
func (c *Collector) Asked(phase report.Phase, of report.Capability) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) < maxAsked {
		c.asked = append(c.asked, sentRequest{ledger.Where{Phase: phase, Capability: of, Attribution: report.AttributionInFlight}, time.Now()})
	}
}

// Capture searches what the sinkhole received. The trace has the questions to name
// servers.
func (c *Collector) Capture(s sinkhole.Capture) {
	c.datagrams.caught(s)
	if s.Protocol == "dns" || s.Opaque {
		return
	}
	c.flows.add(s)
	gives := sighting{
		identity: identity{channel: Channel(strings.ToUpper(s.Protocol)), destination: destination(s.Host, s.Destination), flow: s.Flow},
		request:  s.Request, time: s.Time, offset: s.Offset,
	}
	c.caught.write(key{kind: "flow", name: strconv.FormatUint(s.Flow, 10)}, s.Data, s.Lost() > 0, gives)
	// Questions to a name server over TLS (RFC 7858) or in a request (RFC 8484).
	_, names := asks(s.Data, true)
	if _, body, ok := bytes.Cut(s.Data, []byte("\r\n\r\n")); ok {
		_, names = asks(body, false)
	}
	for _, name := range names {
		c.caught.names(name, gives)
	}
}
