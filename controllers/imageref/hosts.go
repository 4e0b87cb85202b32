package imageref

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// Tenants name registries, which may be slow. These bound how many of the manager's workers
// wait for one registry (perHost) and for all (MaxQuestions), so the others can proceed with
// running audits. Requests beyond that fail with ErrBusy.
const (
	perHost      = 3
	MaxQuestions = 6
)

// memory is the time in which an unreachable registry gets no request. Then one request goes
// through, and the others wait for its result.
const memory = 20 * time.Second

// hosts limits requests to registries.
type hosts struct {
	sync.Mutex
	byName map[string]*host
	asking int
}

// host is a registry with requests in flight, or that was unreachable a moment ago. No others
// are kept, so hosts does not grow with the names tried.
type host struct {
	asking int
	// silent means that it has not answered since failed.
	silent bool
	failed time.Time
}

// enter admits a request to a registry, or says why not. Whoever entered must call leave.
func (h *hosts) enter(name string, now time.Time) error {
	h.Lock()
	defer h.Unlock()
	h.forget(now)
	known := h.byName[name]
	switch {
	case known != nil && known.silent && (known.asking > 0 || now.Sub(known.failed) < memory):
		// Give no details: the failed request may have been another tenant's.
		return fmt.Errorf("%w: %s did not answer a moment ago, and is asked again in %s", ErrUnreachable, name, memory)
	case h.asking >= MaxQuestions:
		return fmt.Errorf("%w: %d questions to registries are waiting for an answer", ErrBusy, h.asking)
	case known != nil && known.asking >= perHost:
		return fmt.Errorf("%w: %d questions to %s are waiting for an answer", ErrBusy, known.asking, name)
	case known == nil:
		known = &host{}
		if h.byName == nil {
			h.byName = map[string]*host{}
		}
		h.byName[name] = known
	}
	known.asking++
	h.asking++
	return nil
}

// leave ends a request; silent means that the registry did not answer.
func (h *hosts) leave(name string, now time.Time, silent bool) {
	h.Lock()
	defer h.Unlock()
	known := h.byName[name]
	known.asking--
	h.asking--
	known.failed, known.silent = now, silent
	h.forget(now)
}

// forget drops registries without requests or recent failures. A failed one is kept until it
// answers, or for twice the memory, so only one request retries it.
func (h *hosts) forget(now time.Time) {
	maps.DeleteFunc(h.byName, func(_ string, known *host) bool {
		return known.asking == 0 && (!known.silent || now.Sub(known.failed) >= 2*memory)
	})
}
