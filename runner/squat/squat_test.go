package squat

import "testing"

func TestServer(t *testing.T) {
	for name, want := range map[string]string{
		"twittter-mcp":          "twitter-mcp",
		"twiter-mcp":            "twitter-mcp",
		"Gihtub MCP Server":     "@modelcontextprotocol/server-github",
		"gthub-mcp-server":      "@modelcontextprotocol/server-github",
		"g1thub":                "@modelcontextprotocol/server-github",
		"gіthub":                "@modelcontextprotocol/server-github", // Cyrillic і
		"rnemory-server":        "@modelcontextprotocol/server-memory",
		"secure-filesystem":     "",
		"flesystem":             "@modelcontextprotocol/server-filesystem",
		"sequental-thnking":     "@modelcontextprotocol/server-sequential-thinking",
		"ｓｌａｃｋ":                 "@modelcontextprotocol/server-slack",
		"Notion API":            "",
		"GitHub":                "",
		"mcp-server/slack":      "",
		"example-servers/redis": "",
		"fetch":                 "", "fetcher": "", "fetches": "", "git": "", "gitlab": "", "gitea": "", "motion": "", "station": "",
		"slacks": "", "memories": "", "memory2": "", "context8": "", "postgres": "", "postgresql": "", "time": "", "tyme": "", "": "",
	} {
		l, ok := Server(name)
		if l.Known != want || ok != (want != "") || ok && l.How == "" {
			t.Errorf("%q looks like %+v, want %q", name, l, want)
		}
	}
}

func TestPackage(t *testing.T) {
	for name, want := range map[string]string{
		"@modelcontextprotocol/server-filesystem": "",
		"@modelcontextprotocol/server-new":        "",
		"@acme/server-filesystem":                 "",
		"modelcontextprotocol-server-filesystem":  "@modelcontextprotocol/server-filesystem",
		"@modelcontextprotocol-server/filesystem": "@modelcontextprotocol/server-filesystem",
		"@modelcontextprotocl/server-filesystem":  "@modelcontextprotocol/server-filesystem",
		"@modelcontextprotocol/server-filesytem":  "@modelcontextprotocol/server-filesystem",
		"@modeicontextprotocol/server-memory":     "@modelcontextprotocol/server-memory",
		"firecrawll-mcp":                          "firecrawl-mcp",
		"mcp-server-kuberntes":                    "kubernetes-mcp-server",
		"@playwrigth/mcp":                         "@playwright/mcp",
		"mcp-server-git":                          "",
		"mcp-server-github":                       "",
		"netlify-mcp":                             "",
		"openapi-mcp-server":                      "",
		"express":                                 "",
	} {
		l, ok := Package(name)
		if l.Known != want || ok != (want != "") {
			t.Errorf("%q looks like %+v, want %q", name, l, want)
		}
	}
}

// No known name looks like another.
func TestKnown(t *testing.T) {
	for name := range known().names {
		if l, ok := Server(name); ok {
			t.Errorf("%s looks like %+v", name, l)
		}
		if l, ok := Package(name); ok {
			t.Errorf("package %s looks like %+v", name, l)
		}
	}
}

func TestDisguised(t *testing.T) {
	for name, want := range map[string]string{
		"reаd_file": "read_file", "read_file": "", "файл": "", "読む_file": "", "größe": "", "Ѕend": "send", "sеnd": "send",
	} {
		if looks, ok := Disguised(name); looks != want || ok != (want != "") {
			t.Errorf("%q looks like %q, want %q", name, looks, want)
		}
	}
}

func TestPackageOf(t *testing.T) {
	for want, commands := range map[string][][]string{
		"@a/b": {
			{"npx", "-y", "@a/b@1.2.3", "--flag"}, {"npx", "@a/b"}, {"/usr/bin/npx", "--yes", "--package=@a/b@latest", "b"}, {"npm", "exec", "--", "@a/b"},
			{"npx", "-p", "@a/b", "prog"}, {"node", "/srv/node_modules/@a/b/dist/index.js"}, {"env", "A=1", "npx", "-y", "@a/b"},
			{"node", "/x/node_modules/c/node_modules/@a/b/index.js"}, {"pnpm", "dlx", "@a/b"},
		},
		"a-b": {
			{"uvx", "a-b==1.0"}, {"uvx", "--from", "a-b[x]>=1", "prog"}, {"uvx", "--python", "3.12", "a-b"}, {"uv", "tool", "run", "a-b@latest"}, {"pipx", "run", "a-b"},
			{"/usr/bin/python3", "-m", "a_b.server", "--x"}, {"node", "/srv/node_modules/a-b/x.js"}, {"bunx", "a-b"},
		},
		"": {
			nil, {"npx"}, {"npx", "-y"}, {"/usr/local/bin/server"}, {"npx", "https://evil.test/x.tgz"}, {"uvx", "git+https://x"}, {"npm", "start"}, {"node", "index.js"},
			{"node", "/x/node_modules/.bin/a"}, {"npx", "@"}, {"sh", "-m", "x"},
		},
	} {
		for _, command := range commands {
			if got := PackageOf(command); got != want {
				t.Errorf("%q starts %q, want %q", command, got, want)
			}
		}
	}
}

func FuzzNames(f *testing.F) {
	for name := range known().names {
		f.Add(name)
	}
	f.Add("npx -y @a/b@1")
	f.Fuzz(func(t *testing.T, name string) {
		for _, find := range []func(string) (Likeness, bool){Server, Package} {
			if l, ok := find(name); ok && (l.Known == "" || l.How == "" || l.Known == name) {
				t.Errorf("%q: %+v", name, l)
			}
		}
		Disguised(name)
		PackageOf([]string{"npx", "--from", name})
		PackageOf([]string{name, name, name})
	})
}
