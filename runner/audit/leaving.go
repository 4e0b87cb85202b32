package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// leaving keeps the data that leaves the server in one launch, for comparison with other launches.
type leaving struct {
	on   bool
	said []said
	size int
	// attributes are those of files in shared directories.
	attributes []attribute
	// unsaid and others count the messages and attributes beyond the bounds.
	unsaid, others depend.Rest
}

// attribute is an attribute that a file was given, such as its mode or times.
type attribute struct {
	moment ledger.Moment
	path   string
	value  string
	time   time.Time
}

// maxAttributes bounds their number.
const maxAttributes = 1024

// event keeps attributes of files in shared directories.
func (l *leaving) event(e trace.Event) {
	switch {
	case !l.on || e.Op != trace.OpAttribute || e.Failed() || e.Value == "" || !everybodys(e.Path):
	case len(l.attributes) == maxAttributes:
		l.others.Add([]byte(e.Path + " " + e.Value))
	default:
		l.attributes = append(l.attributes, attribute{ledger.MomentOf(e), e.Path, e.Value, e.Time})
	}
}

// said is a message, with the number of bytes received by then, and when that was. answer is set if it answers a
// request.
type said struct {
	line   []byte
	end    int64
	time   time.Time
	answer bool
}

// maxLeaving bounds the kept messages, in bytes.
const maxLeaving = 512 << 10

// tee keeps messages and passes them on.
func (l *leaving) tee(next func(line []byte, end int64)) func([]byte, int64) {
	if !l.on {
		return next
	}
	return func(line []byte, end int64) {
		message, answer := content(line)
		if l.size += len(line); l.size <= maxLeaving {
			l.said = append(l.said, said{message, end, time.Now(), answer})
		} else {
			l.unsaid.Add(message)
		}
		next(line, end)
	}
}

// content returns a message without the id of an answer, which is ours and differs in each launch. The id of a
// request is the server's choice, and so are the order of members, unknown ones, and white space.
func content(line []byte) (message []byte, answer bool) {
	var m struct{ ID, Method json.RawMessage }
	if json.Unmarshal(line, &m) != nil {
		return slices.Clone(line), false
	}
	if answer = m.Method == nil; !answer || m.ID == nil {
		return slices.Clone(line), answer
	}
	members := json.NewDecoder(bytes.NewReader(line))
	_, _ = members.Token() // the brace
	for members.More() {
		var value json.RawMessage
		name, err := members.Token()
		if err != nil || members.Decode(&value) != nil {
			break
		}
		if end := int(members.InputOffset()); name == "id" {
			return slices.Concat(line[:end-len(value)], line[end:]), true
		}
	}
	return slices.Clone(line), true
}

// delay returns how long the server took for an answer; false where that is unknown, as by HTTP or for calls at once.
func (s said) delay(sessions ledger.Ledger) (took time.Duration, known bool) {
	i, found := slices.BinarySearchFunc(sessions, s.end, func(e ledger.Exchange, end int64) int { return cmp.Compare(e.Received, end) })
	if !found || !s.answer || sessions[i].Sent.IsZero() {
		return 0, false
	}
	return s.time.Sub(sessions[i].Sent), true
}

// record adds a message: its bytes, its length, how long an answer took, and its place among the others.
func (s said) record(r *depend.Record, sessions ledger.Ledger) {
	p := depend.Piece{Way: depend.Way{Where: leak.Answered(sessions, s.end), Channel: leak.Answer}, Data: s.line, Time: time.Now()}
	r.Add(p)
	r.Number(p, "length", len(s.line))
	if took, known := s.delay(sessions); known {
		r.Delay(p, took)
	}
	r.Turn(p, s.answer)
}

// record collects what left the server in a launch: its answers and logs, captures of the sinkhole, destinations, and
// files in shared directories. Other local effects do not count.
func (l *leaving) record(o observation, secrets *leak.Collector) *depend.Record {
	if !l.on {
		return nil
	}
	r, sessions := &depend.Record{Rest: l.unsaid + l.others}, o.result.Ledger
	for _, s := range l.said {
		s.record(r, sessions)
	}
	r.Add(depend.Piece{Way: depend.Way{Where: ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityServer}}, Channel: leak.Stderr},
		Data: []byte(o.stderr), Time: time.Now()})
	for _, c := range o.caught.captures {
		p := sentPiece(c, sessions, secrets)
		r.Add(p)
		r.Follow(p)
		if c.Protocol != "dns" {
			r.Number(p, "size", int(c.Size))
		}
		if port := int(c.Source.Port()); port < places.FirstEphemeral || port > places.LastEphemeral { // the server chose it
			r.Number(p, "source port", port)
		}
	}
	undigested := secrets.Undigested()
	for _, a := range l.attributes {
		where := sessions.At(a.moment)
		if where.Phase != report.PhaseCall {
			continue
		}
		p := depend.Piece{Way: depend.Way{Where: where, Channel: leak.File, Destination: path.Dir(a.path)}, Data: []byte(undigested(path.Base(a.path)) + " " + a.value), Time: a.time}
		r.Add(p)
		r.Follow(p)
	}
	for _, e := range o.profile.Effects {
		dropped(r, e, undigested)
		if e.Kind != profile.KindConnect || !leavesHere(e) || e.Port == places.PortDNS {
			continue
		}
		p := depend.Piece{Way: depend.Way{Where: e.Where, Channel: "connection", Destination: e.Host}, Named: e.Host, Time: e.Time}
		r.Number(p, "port", e.Port)
		if at, err := netip.ParseAddr(e.Address); err == nil && !sinkhole.Gave(e.Host, at) {
			p.Data = []byte(e.Address)
			r.Add(p)
		}
	}
	return r
}

// shared are the directories that every program of the machine reads and writes.
var shared = []string{"/tmp", "/var/tmp", "/dev/shm"}

// everybodys reports whether a file is in a shared directory.
func everybodys(name string) bool {
	return slices.ContainsFunc(shared, func(dir string) bool { return places.Below(name, dir) })
}

// dropped adds the name of a file, or the size of a write, in a shared directory during a call.
func dropped(r *depend.Record, e profile.Effect, undigested func(string) string) {
	if e.Phase != report.PhaseCall || e.Kind != profile.KindWrite && e.Kind != profile.KindStore ||
		!everybodys(e.Path) {
		return
	}
	p := depend.Piece{Way: depend.Way{Where: e.Where, Channel: leak.File, Destination: path.Dir(e.Path)}, Data: []byte(undigested(path.Base(e.Path))), Time: e.Time}
	if e.Kind == profile.KindStore {
		r.Number(p, "stored", int(e.Bytes))
		return
	}
	r.Add(p)
}

// sentPiece converts a capture.
func sentPiece(c sinkhole.Capture, l ledger.Ledger, secrets *leak.Collector) depend.Piece {
	p := depend.Piece{Way: depend.Way{Where: secrets.Place(c, l), Channel: leak.Channel(strings.ToUpper(c.Protocol))}, Time: c.Time}
	if sinkhole.Gave(c.Named, c.Destination.Addr()) {
		p.Named = strings.ToLower(c.Named)
	}
	if c.Protocol == "dns" {
		labels := strings.Split(strings.ToLower(c.Host), ".") // DNS ignores case
		p.Destination, p.Data = strings.Join(labels[max(0, len(labels)-2):], "."), []byte(c.Host)
		return p
	}
	p.Destination = c.Destination.String()
	if p.Named != "" {
		p.Destination = p.Named + ":" + strconv.Itoa(int(c.Destination.Port()))
	}
	if c.Host != "" && !strings.EqualFold(c.Host, p.Named) {
		p.Data = []byte(c.Host + "\n") // the server chooses the name, in TLS or in a header
	}
	if c.Hello != "" {
		p.Data = append(p.Data, c.Hello+"\n"...)
	}
	if !c.Opaque {
		p.Data = append(p.Data, c.Data...)
	}
	return p
}

// outlet reports whether secrets of the environment, whose reads no trace shows, could have left in some launches:
// the server answered something, or sent something to another machine. An answer may hide one in any form, such as
// spaces, colors or the choice of a word.
func outlet(runs []observation) bool {
	return slices.ContainsFunc(runs, func(o observation) bool {
		return o.stderr != "" || len(o.result.Outputs) > 0 || slices.ContainsFunc(o.profile.Effects, leavesHere)
	})
}
