package audit

import "sync"

// Tail is a writer that keeps the end of what is written to it. It is safe for
// concurrent use.
type Tail struct {
	limit int

	mu   sync.Mutex
	data []byte
	// fresh is how many bytes at the end of data Fresh has not returned yet.
	fresh int
}

// NewTail makes a Tail of at most limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := p[max(0, len(p)-t.limit):]
	if over := len(t.data) + len(kept) - t.limit; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	t.data = append(t.data, kept...)
	t.fresh = min(t.fresh+len(kept), len(t.data))
	return len(p), nil
}

// String returns the kept end.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// Fresh returns what was written since the last call, as far as it is kept.
func (t *Tail) Fresh() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := string(t.data[len(t.data)-t.fresh:])
	t.fresh = 0
	return fresh
}
