package cluster

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// help is one screen: what there is, and what people do with it.
func (p Program) help() error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s shows and makes audits of MCP servers in a cluster.\n\nCommands:\n", p.Name)
	for _, one := range append(commands, command{name: "version"}, command{name: "help", takes: "COMMAND", about: "the flags of a command, with examples"}) {
		line := strings.TrimSpace(one.name + " " + one.takes)
		if one.about == "" {
			fmt.Fprintf(&text, "  %s\n", line)
			continue
		}
		fmt.Fprintf(&text, "  %-34s %s\n", line, one.about)
	}
	fmt.Fprint(&text, "\nExamples:\n")
	for _, example := range []string{"list -A", "show notes -n team", "run --image registry.example/notes:1.4 --rm", "approve notes > pin.yaml"} {
		fmt.Fprintf(&text, "  %s %s\n", p.Name, example)
	}
	fmt.Fprint(&text, connectionHelp(), `
Exit codes:
  0  done; run: Pass; diff: the same
  1  it could not be done
  3  run: Fail; diff: the two differ
  4  run: Inconclusive, something could not be observed
`)
	_, err := io.WriteString(p.Stdout, text.String())
	return err
}

// explain is the help of one command.
func (p Program) explain(one command, own *pflag.FlagSet) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s.\n\nUsage:\n  %s\n", p.Name, one.name, one.about, strings.TrimSpace(p.Name+" "+one.name+" "+one.takes))
	if len(one.examples) > 0 {
		fmt.Fprint(&text, "\nExamples:\n")
	}
	for _, example := range one.examples {
		fmt.Fprintf(&text, "  %s %s\n", p.Name, example)
	}
	if own.HasFlags() {
		fmt.Fprintf(&text, "\nFlags:\n%s", own.FlagUsages())
	}
	fmt.Fprint(&text, connectionHelp())
	_, err := io.WriteString(p.Stdout, text.String())
	return err
}

func connectionHelp() string {
	f := flagSet("")
	new(connection).flags(f)
	return "\nFlags of every command (and --as, --token, --server and the other connection flags of kubectl):\n" + f.FlagUsages()
}
