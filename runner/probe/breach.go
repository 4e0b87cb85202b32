package probe

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// breach records what is wrong with the last answer that came.
func (s *session) breach(kind breach.Kind, what string) {
	var at int64
	for _, e := range s.result.Ledger {
		at = max(at, e.Received)
	}
	s.breaches.Add(kind, what, at)
}

// inspect looks for names that are missing from the lists, and for tools that have
// the same. It is for the first lists, when they are whole: what is listed again, or
// led back to, would count again.
func (s *session) inspect(m manifest.Manifest) {
	for _, k := range kinds {
		digests := map[string]string{}
		for _, item := range manifest.Items(k.of, *k.into(&m)) {
			switch first, twice := digests[item.Name]; {
			case item.Name == "":
				s.breach(breach.Nameless, k.method)
			case k.of != report.CapabilityTool:
			case !twice:
				digests[item.Name] = item.Digest
			case first == item.Digest:
				s.breach(breach.SameTool, item.Name)
			default:
				s.breach(breach.SameName, item.Name)
			}
		}
	}
}
