package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// server is a published server: a package at a version, how it is started (DIR
// is where it was installed) and with which variables.
type server struct {
	runtime, source string
	command, env    []string
	// transport it is talked to over; stdio if empty.
	transport report.Transport
	// reference: it is one of the four, which have to be covered.
	reference bool
}

func npm(source, script string, args ...string) server {
	return server{runtime: "Node", source: source, command: append([]string{"node", "DIR/node_modules/" + script}, args...)}
}

func pip(source, module string, args ...string) server {
	return server{runtime: "Python", source: source, command: append([]string{"/usr/bin/python3", "-m", module}, args...), env: []string{"PYTHONPATH=DIR"}}
}

func gobin(source, program string) server {
	return server{runtime: "Go", source: source, command: []string{"DIR/bin/" + program}}
}

func (s server) with(env ...string) server {
	s.env = append(s.env, env...)
	return s
}

// over has the server listen.
func (s server) over(transport report.Transport) server {
	s.transport = transport
	return s
}

// reference is a server of npm at its scope and version, with its arguments.
func reference(name string, args ...string) server {
	name = "@modelcontextprotocol/server-" + name
	s := npm(name+"@2026.8.31", name+"/dist/index.js", args...)
	s.reference = true
	return s
}

// servers are the four reference servers of npm, and others in three runtimes.
var servers = []server{
	reference("everything"),
	reference("everything", "streamableHttp").over(report.TransportStreamableHTTP),
	reference("everything", "sse").over(report.TransportSSE),
	reference("filesystem", "/tmp"),
	reference("memory"),
	reference("sequential-thinking"),
	npm("@modelcontextprotocol/server-postgres@0.6.2", "@modelcontextprotocol/server-postgres/dist/index.js", "postgresql://u:p@db.corp.example:5432/app"),
	npm("mcp-hello-world@1.1.2", "mcp-hello-world/build/stdio.js"),
	npm("mcp-server-commands@0.5.0", "mcp-server-commands/build/index.js"),
	npm("@upstash/context7-mcp@4.1.1", "@upstash/context7-mcp/dist/index.js"),
	npm("@antv/mcp-server-chart@0.9.10", "@antv/mcp-server-chart/build/index.js"),
	npm("@brave/brave-search-mcp-server@2.1.4", "@brave/brave-search-mcp-server/dist/index.js").with("BRAVE_API_KEY=none"),
	npm("@notionhq/notion-mcp-server@2.5.2", "@notionhq/notion-mcp-server/bin/cli.mjs").with("NOTION_TOKEN=none"),
	npm("firecrawl-mcp@3.26.0", "firecrawl-mcp/dist/index.js").with("FIRECRAWL_API_KEY=none"),
	npm("tavily-mcp@0.2.22", "tavily-mcp/build/index.js").with("TAVILY_API_KEY=none"),
	npm("@allpepper/memory-bank-mcp@0.2.2", "@allpepper/memory-bank-mcp/dist/main/index.js").with("MEMORY_BANK_ROOT=/tmp"),
	npm("figma-developer-mcp@0.13.2", "figma-developer-mcp/dist/bin.js", "--stdio").with("FIGMA_API_KEY=none"),
	npm("@aashari/boilerplate-mcp-server@3.2.0", "@aashari/boilerplate-mcp-server/dist/index.js"),
	npm("exa-mcp-server@3.4.1", "exa-mcp-server/dist/stdio.cjs").with("EXA_API_KEY=none"),
	npm("mcp-server-kubernetes@4.1.7", "mcp-server-kubernetes/dist/index.js"),
	npm("mcp-fetch-server@1.1.2", "mcp-fetch-server/dist/index.js"),
	npm("@wonderwhy-er/desktop-commander@0.2.52", "@wonderwhy-er/desktop-commander/dist/index.js"),
	pip("mcp-server-time==2026.10.19", "mcp_server_time", "--local-timezone", "UTC"),
	pip("mcp-server-fetch==2026.10.24", "mcp_server_fetch"),
	pip("mcp-server-git==2026.10.19", "mcp_server_git"),
	pip("mcp-server-calculator==0.2.1", "mcp_server_calculator"),
	pip("duckduckgo-mcp-server==0.7.0", "duckduckgo_mcp_server.server"),
	gobin("github.com/mark3labs/mcp-go/examples/everything@v1.2.1", "everything"),
	gobin("github.com/mark3labs/mcp-go/examples/typed_tools@v1.2.1", "typed_tools"),
	gobin("github.com/modelcontextprotocol/go-sdk/examples/server/everything@v1.8.0", "everything"),
	gobin("github.com/modelcontextprotocol/go-sdk/examples/server/memory@v1.8.0", "memory"),
	gobin("github.com/modelcontextprotocol/go-sdk/examples/server/sequentialthinking@v1.8.0", "sequentialthinking"),
}

// install brings the server into a directory of its own, once, and returns its
// command.
func (s server) install(cache string) ([]string, error) {
	dir := filepath.Join(cache, strings.NewReplacer("/", "_", "@", "_").Replace(s.source))
	done := filepath.Join(dir, ".installed")
	if _, err := os.Stat(done); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		cmd := s.installer(dir)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", cmd.Args[0], err, said.String())
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return nil, err
		}
	}
	var command []string
	if len(s.env) > 0 {
		command = append([]string{"env"}, s.env...)
	}
	command = append(command, s.command...)
	for i, word := range command {
		command[i] = strings.ReplaceAll(word, "DIR", dir)
	}
	return command, nil
}

func (s server) installer(dir string) *exec.Cmd {
	switch s.runtime {
	case "Node":
		return exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", s.source)
	case "Python":
		return exec.Command("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--target", dir, s.source)
	default:
		cmd := exec.Command("go", "install", s.source)
		cmd.Env = append(os.Environ(), "GOBIN="+filepath.Join(dir, "bin"), "GOFLAGS=")
		return cmd
	}
}
