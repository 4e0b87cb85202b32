package audit

import "sync"

// perNamespace is how many audits of one namespace have a registry asked at a time:
// half of what package imageref does for all. Who names registries that take their
// time, ever others, would else have all questions wait for them, and nobody else's
// audit would begin.
const perNamespace = 3

// askers counts the audits that wait for a registry. The zero value is ready for use.
type askers struct {
	mutex       sync.Mutex
	byNamespace map[string]int
}

// enter tells whether an audit of the namespace may ask. Whoever entered leaves.
func (a *askers) enter(namespace string) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.byNamespace[namespace] >= perNamespace {
		return false
	}
	if a.byNamespace == nil {
		a.byNamespace = map[string]int{}
	}
	a.byNamespace[namespace]++
	return true
}

func (a *askers) leave(namespace string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.byNamespace[namespace]--; a.byNamespace[namespace] == 0 {
		delete(a.byNamespace, namespace)
	}
}
