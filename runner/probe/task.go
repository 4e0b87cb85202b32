package probe

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// taskLife is the requested lifetime of a task.
const taskLife = 10 * time.Minute

// hasTasks reports whether tools that can only be called as tasks can be called:
// with the one revision that has tasks of this kind, from a server that takes them.
func (s *session) hasTasks() bool {
	requests := manifest.Object(manifest.Object(s.advertised["tasks"])["requests"])
	return transport.RevisionOf(s.result.ProtocolVersion).Tasks && manifest.Object(requests["tools"])["call"] != nil
}

// awaitTask returns the result of the task that a call created (specification
// 2025-11-25, basic/utilities/tasks): tasks/result is answered at the end of the task,
// so there is nothing to poll for. It requests the status once.
func (s *session) awaitTask(ctx context.Context, q query, created json.RawMessage) (json.RawMessage, error) {
	id := manifest.Object(manifest.Object(created)["task"])["taskId"]
	if manifest.Text(id) == "" {
		return created, nil // it has answered at once
	}
	q.params = map[string]any{"taskId": id}
	q.method = "tasks/get"
	if _, err := s.ask(ctx, q); err != nil {
		return nil, err
	}
	q.method = "tasks/result"
	return s.ask(ctx, q)
}
