package imageref

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// A registry is named by whoever may create an audit, and may take its time. These
// bound how many of the manager's workers wait for registries at once, one of them
// (perHost) and all together (MaxQuestions), so that the others go on with audits that
// run. A question beyond that is not answered but put off: ErrBusy.
const (
	perHost      = 3
	MaxQuestions = 6
)

// memory is how long a registry that could not be reached is not asked again. After
// it one question goes through; the others wait for how that ends.
const memory = 20 * time.Second

// hosts admits questions to registries.
type hosts struct {
	sync.Mutex
	byName map[string]*host
	asking int
}

// host is a registry that is asked, or that could not be reached a moment ago. There
// is no other in hosts, so that it does not grow with the names that were ever tried.
type host struct {
	asking int
	// silent since failed: it did not answer the last question.
	silent bool
	failed time.Time
}

// enter admits a question to a registry, or says why not. Whoever entered leaves.
func (h *hosts) enter(name string, now time.Time) error {
	h.Lock()
	defer h.Unlock()
	h.forget(now)
	known := h.byName[name]
	switch {
	case known != nil && known.silent && (known.asking > 0 || now.Sub(known.failed) < memory):
		// No more of it: the question that failed was perhaps another tenant's.
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

// leave tells how the question ended: silent if the registry did not answer at all.
func (h *hosts) leave(name string, now time.Time, silent bool) {
	h.Lock()
	defer h.Unlock()
	known := h.byName[name]
	known.asking--
	h.asking--
	known.failed, known.silent = now, silent
	h.forget(now)
}

// forget drops what is known of registries that are not asked, and that did not fail
// lately. One that failed and may be asked again is known until it answers or until
// twice the memory has passed, so that only one question tries it.
func (h *hosts) forget(now time.Time) {
	maps.DeleteFunc(h.byName, func(_ string, known *host) bool {
		return known.asking == 0 && (!known.silent || now.Sub(known.failed) >= 2*memory)
	})
}
