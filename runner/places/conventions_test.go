package places_test

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// TestConventions: files that are run or obeyed are known by how such files are named; a program's own data are not.
func TestConventions(t *testing.T) {
	for name, obeyed := range map[string]bool{
		"/home/ada/shop/yarn.lock": true, "/home/ada/shop/Cargo.lock": true, "/home/ada/shop/packages.lock.json": true, "/home/ada/shop/.terraform.lock.hcl": true,
		"/home/ada/shop/requirements-dev.txt": true, "/home/ada/shop/go.work": true, "/home/ada/.local/state/notes/server.lock": false, "/home/ada/shop/requirements.md": false,
		"/home/ada/shop/.cursor/hooks.json": true, "/home/ada/.codex/prompts/review.md": true, "/home/ada/shop/.qwen/settings.json": true, "/home/ada/shop/.github/agents/tester.md": true,
		"/home/ada/.claude/output-styles/short.md": true, "/home/ada/shop/team.code-workspace": true, "/home/ada/shop/.trae/mcp.json": true,
		"/home/ada/shop/mcp_config.json": true, "/home/ada/.config/notes/mcp.json": false, "/home/ada/.claude/todos/1.json": false, "/home/ada/.config/notes-mcp/notes-mcp.json": false, "/home/ada/.codex/history.jsonl": false,
		"/home/ada/shop/.drone.yml": true, "/home/ada/shop/bitbucket-pipelines.yml": true, "/home/ada/shop/.buildkite/pipeline.yml": true, "/home/ada/shop/data-pipeline.yml": false,
		"/home/ada/shop/Dockerfile.dev": true, "/home/ada/shop/docker-compose.override.yml": true, "/home/ada/shop/.devcontainer.json": true, "/home/ada/shop/.mvn/jvm.config": true,
		"/home/ada/shop/notes.yml": false,
	} {
		if o, ok := places.ObeyedAt(name); ok != obeyed {
			t.Errorf("%s: %t, %s", name, ok, o.What)
		}
	}
}
