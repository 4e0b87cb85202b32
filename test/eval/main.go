// Command eval measures the rules' false negatives and false positives. Each section prints a
// table; the command fails if a floor is missed.
//
//	go run ./test/eval [-section NAME]
//
// The servers of section benign are installed from their registries into the cache, which needs
// the network the first time. It is not part of make test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// section is one part of the evaluation. It writes its table and returns a description of each
// missed floor.
type section struct {
	name string
	run  func(ctx context.Context, cache string, out io.Writer) (missed []string, err error)
}

// sections has all sections in order.
var sections = []section{
	{"behaviour", behaviour},
	{"reference", reference},
	{"benign", benign},
	{"mcptox", mcptox},
}

// This program is also the sandbox and the tracer.
func init() { runtime.LockOSThread() }

func main() {
	for _, stage := range []func([]string) (int, bool){ptrace.Stage, sandbox.Stage} {
		if code, ok := stage(os.Args[1:]); ok {
			os.Exit(code)
		}
	}
	only := flag.String("section", "", "run this section alone")
	flag.Parse()
	command.Main("eval", func(ctx context.Context, _ []string) error { return evaluate(ctx, *only, os.Stdout) })
}

func evaluate(ctx context.Context, only string, out io.Writer) error {
	cache, err := command.Cache("eval")
	if err != nil {
		return err
	}
	var missed []string
	ran := false
	for _, s := range sections {
		if only != "" && s.name != only {
			continue
		}
		ran = true
		if _, err := fmt.Fprintf(out, "== %s\n\n", s.name); err != nil {
			return err
		}
		floors, err := s.run(ctx, cache, out)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, floor := range floors {
			missed = append(missed, s.name+": "+floor)
		}
		_, _ = fmt.Fprintln(out)
	}
	switch {
	case !ran:
		return fmt.Errorf("there is no section %q", only)
	case len(missed) > 0:
		return errors.New("missed: " + strings.Join(missed, "; "))
	}
	return nil
}
