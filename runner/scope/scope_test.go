package scope

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

func tool(name, description, rest string) json.RawMessage {
	text, err := json.Marshal(description)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(fmt.Sprintf(`{"name":%q,"description":%s%s}`, name, text, rest))
}

func TestStanceOnTheNetwork(t *testing.T) {
	for description, want := range map[string]Stance{
		// plain promises
		"Formats a markdown note. Purely local text formatting.": Denied,
		"Adds two numbers. No network access.":                   Denied,
		"Counts words, without any network calls.":               Denied,
		"Counts words. Does not access the network.":             Denied,
		"Counts words. Doesn't use the internet at all!":         Denied,
		"Counts words. Doesn’t need an internet connection.":     Denied,
		"Never sends data over the internet.":                    Denied,
		"Makes no external API calls.":                           Denied,
		"No remote servers are contacted.":                       Denied,
		"Works offline.":                                         Denied,
		"A fully offline calculator":                             Denied,
		"Offline markdown formatter":                             Denied,
		"Runs entirely locally.":                                 Denied,
		"Runs locally.":                                          Denied,
		"Counts words. Everything is processed locally.":         Denied,
		"Your note never leaves your machine.":                   Denied,
		"Trims notes, and they never leave your machine.":        Denied,
		"Counts calls in a file, this never leaves the computer. Looks for a release at releases.acme.com.": Silent,
		"Nothing ever leaves this computer. Looks for a release at releases.acme.com.":                      Denied,
		"All counting is local and offline: no text leaves this machine.":                                   Denied,
		"Counts words while the machine is offline.":                                                        Silent,
		"All data stays on your device.":                                                                    Denied,
		"Local text processing":                                                                             Denied,
		"Counts words. No network, no disk, no shell.":                                                      Denied,
		"Counts words in notes - 100% local":                                                                Denied,
		"Counts words.\nThis tool has no access to the internet.":                                           Denied,
		"Local-only word counter":                                                                           Denied,
		"Counts words; does not connect to any external services.":                                          Denied,
		"Counts words. Cannot access the network or run any command":                                        Denied,

		// what speaks of the network
		"Fetches a web page.":                          Declared,
		"Searches GitHub issues.":                      Declared,
		"Get the weather for a city":                   Declared,
		"Get live data of a flight":                    Declared,
		"Looks up the exchange rate of two currencies": Declared,
		"Queries a remote endpoint":                    Declared,
		"Sends an e-mail via SMTP":                     Declared,
		"Connects to a server":                         Declared,
		"Calls the API. Fails without network access":  Declared,
		"Downloads a file.":                            Declared,

		// neither: "local" of something else, a condition, an order
		"Reads a local file.":                              Silent,
		"Converts a time to the local timezone":            Silent,
		"Formats a number for a locale":                    Silent,
		"Lists services on localhost":                      Silent,
		"Lists branches that are only local":               Silent,
		"Works with purely local files":                    Silent,
		"Lists models that run locally":                    Silent,
		"Shows users who are offline":                      Silent,
		"Takes a node offline":                             Silent,
		"Adds two numbers":                                 Silent,
		"":                                                 Silent,
		"Local date formatting":                            Silent,
		"Returns nothing if there is no network":           Silent,
		"Not purely local":                                 Silent,
		"Does not run commands. Does not read the web":     Silent,
		"Do not access the network with it":                Silent,
		"Lists repositories without remote branches":       Silent,
		"Falls back to local processing":                   Silent,
		"Lists notes. Returns an error if not online.":     Silent,
		"Works offline when the cache is warm":             Silent,
		"Locally installed packages":                       Silent,
		"Restarts the locally hosted note index":           Silent,
		"This description is 説明 in mixed script – “notes”": Silent,

		// both
		"Fetches a URL. Purely local.":                      Unclear,
		"Builds a URL. No network access.":                  Unclear,
		"Works offline, but downloads the dictionary first": Unclear,
		"Uses the API unless offline. 100% local.":          Unclear,
	} {
		t.Run(description, func(t *testing.T) {
			s := Read(manifest.Manifest{Tools: []json.RawMessage{tool("notes", description, "")}}, Given{})
			got, clause := s.Network(report.Capability{Kind: report.CapabilityTool, Name: "notes"})
			if got != want {
				t.Errorf("stance %d, want %d (%+v)", got, want, clause)
			}
			if (got == Denied || got == Unclear) && !strings.Contains(description, clause.Quote) {
				t.Errorf("quote %q is not in the description", clause.Quote)
			}
		})
	}
}

func TestStanceByOtherFields(t *testing.T) {
	for name, tc := range map[string]struct {
		tool string
		want Stance
	}{
		"name":             {`{"name":"fetch_url"}`, Declared},
		"camel case":       {`{"name":"fetchUrl"}`, Declared},
		"title":            {`{"name":"a","title":"Works offline"}`, Denied},
		"hint":             {`{"name":"a","annotations":{"openWorldHint":false}}`, Denied},
		"default hint":     {`{"name":"a","annotations":{"openWorldHint":true}}`, Silent},
		"hint as text":     {`{"name":"a","annotations":{"openWorldHint":"false"}}`, Silent},
		"property":         {`{"name":"a","inputSchema":{"properties":{"webhook":{"type":"string"}}}}`, Declared},
		"nested property":  {`{"name":"a","inputSchema":{"properties":{"x":{"type":"array","items":{"properties":{"y":{"description":"the URL"}}}}}}}`, Declared},
		"no promise there": {`{"name":"a","inputSchema":{"properties":{"x":{"description":"Works offline."}}}}`, Silent},
		"hint and name":    {`{"name":"fetch","annotations":{"openWorldHint":false}}`, Unclear},
	} {
		t.Run(name, func(t *testing.T) {
			s := Read(manifest.Manifest{Tools: []json.RawMessage{json.RawMessage(tc.tool)}}, Given{})
			of := s.order[0]
			if got, _ := s.Network(of); got != tc.want {
				t.Errorf("stance %d, want %d: %+v", got, tc.want, s.Own(of))
			}
		})
	}
}

func TestServerAsAWhole(t *testing.T) {
	server := report.Capability{Kind: report.CapabilityServer}
	note := report.Capability{Kind: report.CapabilityTool, Name: "note"}
	const local, silent, fetch = "Purely local.", "Counts words.", "Fetches a page."
	for name, tc := range map[string]struct {
		instructions string
		tools        []string
		server, tool Stance
	}{
		"nothing":                  {"", nil, Silent, Silent},
		"the only tool is local":   {"", []string{local}, Denied, Denied},
		"one of two is local":      {"", []string{local, silent}, Silent, Denied},
		"one of two fetches":       {"", []string{local, fetch}, Declared, Denied},
		"instructions are local":   {"Works offline.", []string{silent}, Denied, Denied},
		"instructions and a fetch": {"Works offline.", []string{fetch}, Declared, Declared},
		"instructions fetch":       {"Talks to the GitHub API.", []string{silent}, Declared, Declared},
		"unclear instructions":     {"Downloads once. Works offline.", []string{silent}, Unclear, Unclear},
	} {
		t.Run(name, func(t *testing.T) {
			m := manifest.Manifest{Instructions: json.RawMessage(fmt.Sprintf("%q", tc.instructions))}
			for i, description := range tc.tools {
				m.Tools = append(m.Tools, tool([]string{"note", "other"}[i], description, ""))
			}
			s := Read(m, Given{})
			if got, _ := s.Network(server); got != tc.server {
				t.Errorf("server: %d, want %d", got, tc.server)
			}
			if got, _ := s.Network(note); got != tc.tool {
				t.Errorf("tool: %d, want %d", got, tc.tool)
			}
		})
	}
}

func TestOtherUses(t *testing.T) {
	for description, want := range map[string]string{
		"Runs a shell command":                "subprocess",
		"Does not run commands":               "",
		"Never executes scripts, reads files": "",
		"Reads a file":                        "files",
		"Shows the git log":                   "subprocess files",
		"Formats a note":                      "",
	} {
		t.Run(description, func(t *testing.T) {
			s := Read(manifest.Manifest{Tools: []json.RawMessage{tool("a", description, "")}}, Given{})
			d := s.Own(s.order[0])
			var got []string
			if len(d.Subprocess) > 0 {
				got = append(got, "subprocess")
			}
			if len(d.Files) > 0 {
				got = append(got, "files")
			}
			if strings.Join(got, " ") != want {
				t.Errorf("declares %q, want %q", got, want)
			}
		})
	}
}

func TestMentionsAndCovering(t *testing.T) {
	s := Read(manifest.Manifest{
		ServerName: json.RawMessage(`"kubernetes-notes"`),
		Tools:      []json.RawMessage{tool("a", "Uses Docker.", ""), tool("b", "Counts.", "")},
		Prompts:    []json.RawMessage{json.RawMessage(`{"name":"p","arguments":[{"name":"x","description":"an ssh key"}]}`)},
		Resources:  []json.RawMessage{json.RawMessage(`{"uri":"note://1","name":"awsNotes"}`)},
	}, Given{})
	server := report.Capability{Kind: report.CapabilityServer}
	b := report.Capability{Kind: report.CapabilityTool, Name: "b"}
	if c := s.Covering(b); !c.Mentions("kubernetes") || c.Mentions("docker") {
		t.Errorf("b is covered by %v", c.words)
	}
	if c := s.Covering(server); !c.Mentions("docker") || !c.Mentions("ssh") || !c.Mentions("aws") {
		t.Errorf("the server is covered by %v", c.words)
	}
	if s.Own(server).Mentions("docker") || s.Own(b).Mentions("kubernetes") {
		t.Error("Of mixes declarations")
	}
}

// Two tools of one name are judged by both descriptions.
// TestCommandNamesTheServer: the programs of its command do, where it has said no name, or one of any server; options do not.
func TestCommandNamesTheServer(t *testing.T) {
	for _, tc := range []struct {
		name    string
		command []string
		want    bool
	}{
		{command: []string{"/opt/bin/mcp-server-docker"}, want: true},
		{command: []string{"python3", "-m", "mcp_server_docker", "--all"}, want: true},
		{command: []string{"npx", "-y", "@acme/docker-mcp"}, want: true},
		{command: []string{"notes", "--with", "docker"}},
		{name: `"notes"`, command: []string{"mcp-server-docker"}},
		{name: `"MCP-Server"`, command: []string{"mcp-server-docker"}, want: true},
	} {
		read := Read(manifest.Manifest{ServerName: json.RawMessage(tc.name)}, Given{Command: tc.command})
		if got := read.server.Mentions("docker"); got != tc.want {
			t.Errorf("%s, %q: %v", tc.name, tc.command, got)
		}
	}
}

func TestRepeatedName(t *testing.T) {
	s := Read(manifest.Manifest{Tools: []json.RawMessage{tool("a", "Purely local.", ""), tool("a", "Fetches a page.", "")}}, Given{})
	if got, _ := s.Network(report.Capability{Kind: report.CapabilityTool, Name: "a"}); got != Unclear {
		t.Errorf("stance %d, want Unclear", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Purely local. No network.", `{"properties":{"a":{"description":"url"}}}`)
	f.Add(strings.Repeat("no network but ", 500), `{`)
	f.Fuzz(func(t *testing.T, description, schema string) {
		s := Read(manifest.Manifest{
			Instructions: json.RawMessage(schema),
			Tools:        []json.RawMessage{tool("a", description, ""), json.RawMessage(schema)},
		}, Given{})
		for _, of := range append(s.order, report.Capability{Kind: report.CapabilityServer}) {
			stance, clause := s.Network(of)
			if (stance == Denied || stance == Unclear) == (clause.Quote == "") {
				t.Fatalf("stance %d with the quote %q", stance, clause.Quote)
			}
			if len(clause.Quote) > 3*maxQuote {
				t.Fatalf("a quote of %d bytes", len(clause.Quote))
			}
		}
	})
}
