package admission

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// errBudget means that a request was dropped to free memory for others.
var errBudget = errors.New("the gate holds too many large requests")

// bodies bounds the total bytes of requests being received or decided. Memory counts as bytes
// arrive, not as Content-Length announces, and the address holding the most is dropped first,
// so clients that send half a request cannot lock others out.
type bodies struct {
	limit int

	mu   sync.Mutex
	used int
	held []*body
}

// body is the memory held by one request.
type body struct {
	remote    string
	size      int
	receiving bool
	dropped   bool
	interrupt func()
}

// chunk is the smallest read.
const chunk = 32 << 10

// receive reads a request body. On an error it returns what was read so far. release returns
// the bytes to the budget.
func (b *bodies) receive(w http.ResponseWriter, r *http.Request) (content []byte, release func(), err error) {
	control := http.NewResponseController(w)
	held := &body{remote: host(r.RemoteAddr), receiving: true, interrupt: func() {
		_ = control.SetReadDeadline(time.Unix(1, 0)) // only a test recorder has no deadlines
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

// grow raises a request's share to size bytes, dropping the largest requests as needed.
func (b *bodies) grow(held *body, size int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if held.dropped {
		return errBudget
	}
	b.used += size - held.size
	held.size = size
	for b.used > b.limit || size > large && b.ofLarge() > b.limit/4*3 { // the rest is reserved for small requests
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

// ofLarge returns the bytes held by large requests.
func (b *bodies) ofLarge() (sum int) {
	for _, h := range b.held {
		if h.size > large {
			sum += h.size
		}
	}
	return sum
}

// largest returns the largest request still being received, from the address holding the most
// in total; with onlyLarge, among large requests. There is always one: the caller's.
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

// finish ends receiving. err is why the body could not be read, or nil.
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
