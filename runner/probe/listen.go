package probe

import (
	"context"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// methodListen opens the stream by which a server of the stateless revision
// announces what has changed (specification 2026-07-28, basic/utilities/subscriptions).
const methodListen = "subscriptions/listen"

// listen asks for all announcements. The request is answered when the stream ends,
// so that nothing waits for it; a server that refuses it announces nothing.
func (s *session) listen(ctx context.Context) error {
	filter := s.announcements()
	if !s.options.Discover || len(filter) == 0 {
		return nil
	}
	s.lastID++
	_, err := s.wire.beside(s.lastID, map[string]any{
		"jsonrpc": "2.0", "id": s.lastID, "method": methodListen, "params": s.withMeta(map[string]any{"notifications": filter}),
	})
	if err != nil {
		s.fail(report.ReasonTimeout, "%s: %v", methodListen, err)
		return err
	}
	return s.awaitQuiet(ctx)
}

// announcements returns those that the server says that it makes.
func (s *session) announcements() map[string]any {
	filter := map[string]any{}
	for capability, name := range map[string]string{
		"tools": "toolsListChanged", "resources": "resourcesListChanged", "prompts": "promptsListChanged",
	} {
		if string(manifest.Object(s.advertised[capability])["listChanged"]) == "true" {
			filter[name] = true
		}
	}
	if string(manifest.Object(s.advertised["resources"])["subscribe"]) == "true" {
		var uris []string
		for _, t := range s.targets {
			if t.of.Kind == report.CapabilityResource && len(uris) < maxSubscriptions {
				uris = append(uris, t.of.Name)
			}
		}
		if len(uris) > 0 {
			filter["resourceSubscriptions"] = uris
		}
	}
	return filter
}
