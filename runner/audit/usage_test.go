package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestServerIsGivenTheArgumentsThatItDemands: in the words of the usual libraries for command lines.
func TestServerIsGivenTheArgumentsThatItDemands(t *testing.T) {
	for says, want := range map[string]string{
		"usage: notes [-h] [--version] {sse,stdio,streamable-http} ...\nnotes: error: the following arguments are required: transport":                               "stdio",
		"usage: notes [-h] {sse,stdio}\nnotes: error: the following arguments are required: {sse,stdio}":                                                             "stdio",
		"Usage: notes [OPTIONS] COMMAND [ARGS]...\nTry 'notes --help' for help.\n╭─ Error ───╮\n│ Missing command. │\n╰───╯":                                         "stdio",
		"Usage: notes [OPTIONS] COMMAND [ARGS]...\n\nOptions:\n  --help  Show this message and exit.\n\nCommands:\n  init   Set up\n  serve  Start the MCP server\n": "serve",
		"Usage: notes [options] [command]\n\nOptions:\n  -h, --help      display help\n\nCommands:\n  login           Log in\n  start [options]  Start it\n":         "start",
		"Unknown mode. Mode must be one of: sse, stdio":                                                             "stdio",
		"Usage: notes <vault-directory>":                                                                            "/tmp",
		"Usage: notes [options] <directory> [more...]":                                                              "/tmp",
		"Usage: notes --db-url <url>":                                                                               "--db-url https://url.example.com",
		"error: missing required argument 'directory'":                                                              "/tmp",
		"Error: Missing argument 'VAULT'.":                                                                          "/tmp",
		"error: required option '--site-url <url>' not specified":                                                   "--site-url https://site.example.com",
		"notes: error: the following arguments are required: --root, --host":                                        "--root /tmp --host host.example.com",
		"Options:\n  --help  Show help\n\nMissing required argument: --root":                                        "--root /tmp",
		"Please provide a database URL as a command-line argument":                                                  "postgresql://app:",
		"error: the following required arguments were not provided:\n  --root <ROOT>\n\nUsage: notes --root <ROOT>": "--root /tmp",
		"Traceback (most recent call last):\n  serve = 1\nusage: x":                                                 "",
		"NOTES_KEY is required, see usage in the manual":                                                            "",
		"the server is ready":                                                                                       "",
	} {
		var how launch
		Plan{}.argue(&how, dies(launch{}, says), nil)
		if got := strings.Join(how.arguments, " "); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %q, want %q", says, got, want)
		}
	}
}

// TestArgumentsFollowOneAnother: a word that the server rejects is replaced, and what it lacks besides is appended.
func TestArgumentsFollowOneAnother(t *testing.T) {
	plan := Plan{}
	var runs []observation
	for _, says := range []string{
		"Usage: notes [OPTIONS] COMMAND [ARGS]...\n\nError: Missing command.",
		"Usage: notes [OPTIONS] COMMAND [ARGS]...\n\nError: No such command 'stdio'.",
		"Usage: notes serve [OPTIONS]\n\nError: Missing option '--api-key'.",
	} {
		how, ok := plan.next(runs)
		if !ok {
			t.Fatalf("no launch after %d", len(runs))
		}
		runs = append(runs, dies(how, says))
	}
	how, ok := plan.next(runs)
	if !ok || len(how.arguments) != 3 || how.arguments[0] != "serve" || how.arguments[1] != "--api-key" {
		t.Fatalf("%q", how.arguments)
	}
	if i := slices.Index(namesOf(how.asked), "API_KEY"); i < 0 || how.asked[i].Value != how.arguments[2] {
		t.Errorf("the secret is no decoy: %q of %+v", how.arguments, how.asked)
	}
	plan.Command, plan.Named = []string{"notes"}, []string{"npm:notes"}
	if in := plan.of(how); len(in.Command) != 4 || len(in.Named) != 4 || len(plan.Command) != 1 {
		t.Errorf("the report's command: %q, %q", in.Command, in.Named)
	}
	if how.same().arguments == nil {
		t.Error("later launches lack them")
	}
}

// TestUsageOnStdout: many programs print their usage there.
func TestUsageOnStdout(t *testing.T) {
	o := watched(incompleteProbe(report.ReasonServerExited, "the server exited"), func(o *observation) {
		o.result.Listed, o.exited = false, true
		o.result.Pollution.Text = "Usage: notes [options] [command]\nCommands:\n  serve  Start it\n"
	})
	var how launch
	if (Plan{}).argue(&how, o, nil); !slices.Equal(how.arguments, []string{"serve"}) {
		t.Errorf("%q", how.arguments)
	}
	o.result.Listed, how.arguments = true, nil
	if (Plan{}).argue(&how, o, nil); how.arguments != nil {
		t.Errorf("a server that works gets %q", how.arguments)
	}
}

// TestUsageIsNoPollution: what a server prints to stdout when it lacks its arguments is no breach of the protocol; what it
// prints when it lacks a variable is.
func TestUsageIsNoPollution(t *testing.T) {
	prints := func(o *observation) { o.result.Pollution.Lines = 1 }
	asks, works := watched(incompleteProbe(report.ReasonServerExited, "it exited"), prints), watched()
	works.how.arguments = []string{"serve"}
	if got := pollution([]observation{asks, works}); got.Lines != 0 {
		t.Errorf("the usage counts: %+v", got)
	}
	works.how.arguments = nil
	if got := pollution([]observation{asks, works}); got.Lines != 1 {
		t.Errorf("the line before it was given a variable does not count: %+v", got)
	}
}

// TestAB1ExactCommandGetsNoArguments: the verdict about what a Pod or a client starts is about that, not about another
// command line that the server asked for.
func TestAB1ExactCommandGetsNoArguments(t *testing.T) {
	o := dies(launch{}, "Usage: notes [options] [command]\nCommands:\n  serve  Start it\n")
	for of, want := range map[*Plan]int{{}: 1, {Exact: true}: 0, new(From(plan.Plan{})): 0} {
		var how launch
		if of.argue(&how, o, nil); len(how.arguments) != want {
			t.Errorf("exact %t: started with %q", of.Exact, how.arguments)
		}
	}
}

// TestAB1WhatIsSuppliedIsAGap: a server that runs only with what the audit added has no full assurance.
func TestAB1WhatIsSuppliedIsAGap(t *testing.T) {
	o := watched()
	if got := (Plan{}).supplied([]observation{o}); got != nil {
		t.Errorf("a server that needs nothing has the gaps %+v", got)
	}
	o.how.arguments = []string{"--root", "/tmp"}
	got := Plan{Older: "mcp<2"}.supplied([]observation{o})
	if len(got) != 2 || got[0].Count != 2 || !strings.Contains(got[1].Detail, "mcp<2") {
		t.Errorf("gaps %+v", got)
	}
}

func FuzzDemandsOf(f *testing.F) {
	f.Add("usage: x [-h] {sse,stdio}\nx: error: the following arguments are required: --a, b")
	f.Fuzz(func(t *testing.T, text string) {
		if all := demandsOf(text); len(all) > maxArguments {
			t.Errorf("%d", len(all))
		}
		startingWord(text, nil)
	})
}
