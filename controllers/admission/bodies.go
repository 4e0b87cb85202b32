package admission

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// errBudget says that a request was dropped because others need the memory.
var errBudget = errors.New("the gate holds too many large requests")

// bodies bounds the bytes of all requests that are being received or decided. Memory is
// taken as bytes arrive, not as they are announced, and an address that holds the most
// gives way first, so that clients which send half a request cannot keep others out.
type bodies struct {
	limit int

	mu   sync.Mutex
	used int
	held []*body
}

// body holds what one request takes.
type body struct {
	remote    string
	size      int
	receiving bool
	dropped   bool
	interrupt func()
}

// chunk is the least that is read at a time.
const chunk = 32 << 10

// receive reads a request, or the beginning of one that it returns an error for. release
// returns its bytes to the budget.
func (b *bodies) receive(w http.ResponseWriter, r *http.Request) (content []byte, release func(), err error) {
	control := http.NewResponseController(w)
	held := &body{remote: host(r.RemoteAddr), receiving: true, interrupt: func() {
		_ = control.SetReadDeadline(time.Unix(1, 0)) // only a recorder in a test has no deadlines
	}}
	b.mu.Lock()
	b.held = append(b.held, held)
	b.mu.Unlock()
	release = func() { b.release(held) }
	reader := http.MaxBytesReader(w, r.Body, maxBody)
	for {
		if len(content) == cap(content) {
			grown := max(chunk, 2*cap(content))
			if err := b.grow(held, grown); err != nil {
				return content, release, err
			}
			content = slices.Grow(content, grown-len(content))
		}
		n, err := reader.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return content, release, b.finish(held, err)
	}
}

// grow raises what a request holds to size bytes. Whoever holds the most gives way.
func (b *bodies) grow(held *body, size int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if held.dropped {
		return errBudget
	}
	b.used += size - held.size
	held.size = size
	for b.used > b.limit || size > large && b.ofLarge() > b.limit/4*3 { // the rest is for small ones
		largest := b.largest(size > large && b.used <= b.limit)
		b.used -= largest.size
		largest.size, largest.dropped = 0, true
		if largest == held {
			return errBudget
		}
		largest.interrupt()
	}
	return nil
}

// ofLarge returns what large requests hold.
func (b *bodies) ofLarge() (sum int) {
	for _, h := range b.held {
		if h.size > large {
			sum += h.size
		}
	}
	return sum
}

// largest is the largest request that is being received, of the address whose requests
// are the largest together; with onlyLarge, of the large ones. There is one: the caller's.
func (b *bodies) largest(onlyLarge bool) *body {
	counts := func(h *body) bool { return h.receiving && !h.dropped && (!onlyLarge || h.size > large) }
	sum := map[string]int{}
	for _, h := range b.held {
		if counts(h) {
			sum[h.remote] += h.size
		}
	}
	var most *body
	for _, h := range b.held {
		if !counts(h) {
			continue
		}
		if most == nil || sum[h.remote] > sum[most.remote] || h.remote == most.remote && h.size > most.size {
			most = h
		}
	}
	return most
}

// finish ends the receiving of a request: err is why it could not be read, nil if it could.
func (b *bodies) finish(held *body, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if held.dropped {
		return errBudget
	}
	held.receiving = err != nil
	return err
}

func (b *bodies) release(held *body) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= held.size
	b.held = slices.DeleteFunc(b.held, func(h *body) bool { return h == held })
}
