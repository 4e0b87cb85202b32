package decoy

// window is the length of a stream that is searched at once, and overlap how much of it
// is searched again with the next: a secret or compressed text across the end of a
// window is whole in the next one if it is not longer than overlap.
const (
	window  = 64 << 10
	overlap = 8 << 10
)

// Scanner searches a stream that comes in pieces. It holds at most 64 KiB. It is
// not safe for concurrent use.
type Scanner struct {
	find func([]byte) ([]Match, int)
	held []byte
	// start is the offset of held in the stream; seen is how much of held was
	// also in the last window.
	start int64
	seen  int
	// Unsearched counts the places where a search reached its bounds.
	Unsearched int
}

// Stream makes a scanner for one stream.
func (m *Matcher) Stream() *Scanner { return &Scanner{find: m.Find} }

// FoldedStream makes a scanner for a stream whose case may have been changed.
func (m *Matcher) FoldedStream() *Scanner { return &Scanner{find: m.FindFolded} }

// Write searches the next bytes, and returns the matches. It holds some bytes
// back until more come, or Flush.
func (s *Scanner) Write(p []byte) []Match {
	var all []Match
	for len(p) > 0 {
		n := min(window-len(s.held), len(p))
		s.held = append(s.held, p[:n]...)
		p = p[n:]
		if len(s.held) == window {
			all = append(all, s.search()...)
			s.held = append(s.held[:0], s.held[window-overlap:]...)
			s.start += window - overlap
			s.seen = overlap
		}
	}
	return all
}

// Held returns how many bytes of memory are held.
func (s *Scanner) Held() int { return cap(s.held) }

// Flush searches what is held back. The next bytes do not continue the ones
// before: call it where bytes of the stream are missing.
func (s *Scanner) Flush() []Match {
	all := s.search()
	s.start += int64(len(s.held))
	s.held, s.seen = nil, 0
	return all
}

func (s *Scanner) search() []Match {
	if len(s.held) == s.seen {
		return nil
	}
	found, unsearched := s.find(s.held)
	s.Unsearched += unsearched
	fresh := found[:0]
	for _, m := range found {
		if m.to <= s.seen { // found in the last window
			continue
		}
		m.Offset += s.start
		fresh = append(fresh, m)
	}
	return fresh
}
