package leak

import (
	"container/list"
	"slices"
	"sort"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// The bounds of a stream, by number.
const (
	// maxMarks bounds the places of a stream whose moment is known.
	maxMarks = 256
	// maxRepeats is the number of last pieces that are compared with the next one,
	// in streams whose pieces may be repeated.
	maxRepeats = 8
)

// The bounds of all streams of one kind.
const (
	// maxHeld bounds their memory in bytes; streamBytes and markBytes are the
	// approximate cost of a stream and of a mark.
	maxHeld     = 32 << 20
	streamBytes = 1024
	markBytes   = 512
	// maxGone bounds the number of remembered streams that had to make room.
	maxGone = 65536
)

// key tells streams apart.
type key struct {
	kind Channel
	name string
	from socket
	pid  int // or another number, where several streams have the same name
}

// streams are the scanners of bytes that come in pieces. They hold at most maxHeld
// bytes; the stream that was silent longest makes room for others.
type streams struct {
	of *Collector
	// whole: a stream that goes on after it had to make room counts as one that
	// was not searched, for a secret may lie where it was cut.
	whole bool

	mu    sync.Mutex
	open  map[key]*stream
	order *list.List // the one that was silent longest comes first
	held  int
	gone  map[key]struct{}
}

func newStreams(of *Collector, whole bool) *streams {
	return &streams{of: of, whole: whole, open: map[key]*stream{}, order: list.New(), gone: map[key]struct{}{}}
}

type stream struct {
	key
	scanner *decoy.Scanner
	length  int64
	marks   []mark
	last    []string // pieces, where repeats are left out
	at      *list.Element
	cost    int // as last counted
}

// mark has the sighting for secrets from an offset on.
type mark struct {
	offset int64
	sighting
}

// write searches the next piece of a stream, and records each secret in it by the
// sighting. If cut is set, bytes after the piece are missing.
func (s *streams) write(k key, piece []byte, cut bool, gives sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.get(k, (*decoy.Matcher).Stream)
	st.write(s.of, piece, cut, gives)
	s.weigh(st)
}

// once writes a piece of a stream whose pieces may change case, unless it repeats one of the last.
func (s *streams) once(k key, piece string, gives sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.get(k, (*decoy.Matcher).FoldedStream)
	if slices.Contains(st.last, piece) {
		return
	}
	st.last = append(st.last[max(0, len(st.last)+1-maxRepeats):], piece)
	st.write(s.of, []byte(piece), false, gives)
	s.weigh(st)
}

func (s *streams) get(k key, open func(*decoy.Matcher) *decoy.Scanner) *stream {
	if st := s.open[k]; st != nil {
		s.order.MoveToBack(st.at)
		return st
	}
	if _, ok := s.gone[k]; ok && s.whole {
		s.of.miss(1)
	}
	st := &stream{key: k, scanner: open(s.of.matcher)}
	st.at = s.order.PushBack(st)
	s.open[k] = st
	return st
}

// weigh updates the cost of a stream that was written to, and makes room.
func (s *streams) weigh(st *stream) {
	cost := streamBytes + len(st.marks)*markBytes + st.scanner.Held()
	s.held += cost - st.cost
	st.cost = cost
	for s.held > maxHeld {
		s.evict()
	}
}

// evict ends the stream that was silent longest.
func (s *streams) evict() {
	st, ok := s.order.Remove(s.order.Front()).(*stream)
	if !ok {
		return
	}
	st.flush(s.of)
	delete(s.open, st.key)
	s.held -= st.cost
	if len(s.gone) < maxGone {
		s.gone[st.key] = struct{}{}
	} else if s.whole {
		s.of.miss(1) // it may go on unseen
	}
}

// end ends a stream that will not go on.
func (s *streams) end(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.open[k]; st != nil {
		st.flush(s.of)
		s.order.Remove(st.at)
		delete(s.open, k)
		s.held -= st.cost
	}
}

func (s *streams) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.order.Len() > 0 {
		s.evict()
	}
}

// same reports whether a piece gives the mark's sighting. In a sinkhole's flow the time counts: it tells the call.
func (m mark) same(gives sighting) bool {
	return m.identity == gives.identity && m.request == gives.request && (gives.flow == 0 || m.time.Equal(gives.time))
}

func (st *stream) write(c *Collector, piece []byte, cut bool, gives sighting) {
	if n := len(st.marks); n == 0 || !st.marks[n-1].same(gives) {
		if n == maxMarks {
			st.marks = slices.Delete(st.marks, 0, n/2)
		}
		st.marks = append(st.marks, mark{st.length, gives})
	}
	found := st.scanner.Write(piece)
	st.length += int64(len(piece))
	st.note(c, found)
	if cut {
		st.flush(c)
	}
}

func (st *stream) flush(c *Collector) {
	st.note(c, st.scanner.Flush())
	c.miss(st.scanner.Unsearched)
	st.scanner.Unsearched = 0
}

// note records the secrets that were found, each by the sighting of the piece in which it begins.
func (st *stream) note(c *Collector, found []decoy.Match) {
	for _, m := range found {
		i := sort.Search(len(st.marks), func(i int) bool { return st.marks[i].offset > m.Offset })
		from := st.marks[max(0, i-1)]
		from.sighting.offset += m.Offset - from.offset
		c.note(from.sighting, m)
	}
}
