// Command eval measures how well the rules judge: what they miss, and what they
// find where nothing is. Each section prints a table and says which of its floors
// it missed; the command fails when one did.
//
//	go run ./test/eval [-section NAME]
//
// The servers of section benign are installed by npm and go into the cache, once,
// and only that needs the network; no part of make test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// section is one part of the evaluation. It writes its table and returns, in
// words, each floor that it missed; an error is that it could not be done.
type section struct {
	name string
	run  func(ctx context.Context, cache string, out io.Writer) (missed []string, err error)
}

// sections are run in this order.
var sections = []section{
	{"behaviour", behaviour},
	{"reference", reference},
	{"benign", benign},
	{"mcptox", mcptox},
}

// The sandbox's and the tracer's stages are this same program.
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
	cache, err := cacheDir()
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

// cacheDir returns where the servers and their manifests are kept.
func cacheDir() (string, error) {
	dir := os.Getenv("MCPAUDIT_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(user, "mcpaudit")
	}
	dir = filepath.Join(dir, "eval")
	return dir, os.MkdirAll(dir, 0o755)
}
