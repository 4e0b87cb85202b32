package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// clientScenarios for a client without OAuth.
var clientScenarios = []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"}

// clients runs the client scenarios, with a program whose connect command is given
// the suite's URL.
func (s suite) clients(ctx context.Context, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	results := map[string]result{}
	for _, name := range clientScenarios {
		of, err := s.run(ctx, "client", "--command", program+" connect --calls all --rounds 1 --timeout 1m -o json", "--scenario", name, "--timeout", "90000")
		if err != nil {
			return fmt.Errorf("client scenario %s: %w", name, err)
		}
		maps.Copy(results, of)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(table, "CLIENT SCENARIO\tMCPAUDIT CONNECT\tREASON\n") // Flush has the error
	failed := 0
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		if r.failed > 0 || r.passed == 0 {
			failed++
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%.120s\n", name, r, r.why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Printf("client scenarios: %d passed, %d failed\n", len(results)-failed, failed)
	if failed > 0 {
		return fmt.Errorf("%d client scenarios failed", failed)
	}
	return nil
}
