package audit

import (
	"sync"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// perNamespace bounds the concurrent registry requests for audits of one namespace to a third
// of the total, so two namespaces with slow registries leave room for others.
const perNamespace = imageref.MaxQuestions / 3

// registryLimiter counts audits that wait for a registry. The zero value is ready for use.
type registryLimiter struct {
	mutex       sync.Mutex
	byNamespace map[string]int
}

// enter reports whether an audit of the namespace may ask; if so, it must call leave.
func (a *registryLimiter) enter(namespace string) bool {
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

func (a *registryLimiter) leave(namespace string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.byNamespace[namespace]--; a.byNamespace[namespace] == 0 {
		delete(a.byNamespace, namespace)
	}
}
