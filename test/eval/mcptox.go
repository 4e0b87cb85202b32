package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// minDetected is the floor overall, of each paradigm and of each half.
const minDetected = 0.9

// mcptoxPlace is the default path of the set; MCPTOX overrides it.
const mcptoxPlace = "../shared/data/mcptox/pure_tool.json"

const mcptoxOrigin = "skipped: the MCPTox samples are not here. Get pure_tool.json from https://github.com/nyit-vancouver/mcp-security " +
	"(arXiv 2508.14925) and set MCPTOX to its path."

// paradigm is a way of poisoning, as named in the paper.
type paradigm struct{ key, name string }

var paradigms = []paradigm{
	{"Template-1", "explicit trigger, function hijacking"},
	{"Template-2", "implicit trigger, function hijacking"},
	{"Template-3", "implicit trigger, parameter tampering"},
}

// sample is one poisoned description.
type sample struct {
	Tool     string `json:"tool_name"`
	Text     string `json:"tool_content"`
	Paradigm string `json:"paradigm"`
}

// tuned reports whether a sample is in the half on which the rules were tuned. Of the other half only
// the results were counted. The salt was fixed before.
func tuned(id string) bool {
	return sha256.Sum256([]byte("mcpaudit/mcptox/1:" + id))[0]&1 == 0
}

// found reports whether the rules find the sample as the only tool of a server, without arguments:
// the set has neither schemas nor the server's other tools.
func (s sample) found() (bool, error) {
	tool, err := json.Marshal(map[string]any{"name": s.Tool, "description": s.Text, "inputSchema": map[string]any{"type": "object"}})
	if err != nil {
		return false, err
	}
	findings := rules.Judge(rules.Input{Manifest: manifest.Manifest{Tools: []json.RawMessage{tool}}})
	return slices.ContainsFunc(findings, func(f report.Finding) bool { return strings.HasPrefix(f.Rule, "MCPA-POISON-") }), nil
}

// tally counts the samples of a cell.
type tally struct{ found, all int }

func (t tally) share() float64 { return float64(t.found) / float64(max(t.all, 1)) }

func (t tally) String() string { return fmt.Sprintf("%d/%d %.1f %%", t.found, t.all, 100*t.share()) }

func (t *tally) add(found bool) {
	t.all++
	if found {
		t.found++
	}
}

// halves has the counts of a row: of the half for tuning, of the other, and of both.
type halves struct{ seen, unseen, both tally }

func (h *halves) add(id string, found bool) {
	half := &h.unseen
	if tuned(id) {
		half = &h.seen
	}
	half.add(found)
	h.both.add(found)
}

// mcptox measures how many of the poisoned descriptions of MCPTox the rules find.
func mcptox(_ context.Context, _ string, out io.Writer) (missed []string, err error) {
	groups, err := readMCPTox()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("MCPTOX") == "" {
		_, err = fmt.Fprintln(out, mcptoxOrigin)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	rows := map[string]*halves{"all": {}}
	for _, p := range paradigms {
		rows[p.key] = &halves{}
	}
	for _, group := range groups {
		for id, s := range group {
			row, ok := rows[s.Paradigm]
			if !ok {
				return nil, fmt.Errorf("sample %s has the unknown paradigm %q", id, s.Paradigm)
			}
			found, err := s.found()
			if err != nil {
				return nil, err
			}
			row.add(id, found)
			rows["all"].add(id, found)
		}
	}
	return tabulate(out, rows)
}

// tabulate writes the table and returns the missed floors.
func tabulate(out io.Writer, rows map[string]*halves) (missed []string, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, "paradigm\ttuned on\theld out\tboth"); err != nil {
		return nil, err
	}
	for _, p := range append(slices.Clone(paradigms), paradigm{"all", "all"}) {
		row := rows[p.key]
		if _, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.name, row.seen, row.unseen, row.both); err != nil {
			return nil, err
		}
		for _, half := range []struct {
			name string
			tally
		}{{"tuned on", row.seen}, {"held out", row.unseen}, {"both", row.both}} {
			if half.share() < minDetected {
				missed = append(missed, fmt.Sprintf("%s, %s: %s found, want at least %.0f %%", p.name, half.name, half.tally, 100*minDetected))
			}
		}
	}
	return missed, table.Flush()
}

// readMCPTox reads the set: samples by id, grouped by server.
func readMCPTox() ([]map[string]sample, error) {
	path := mcptoxPlace
	if given := os.Getenv("MCPTOX"); given != "" {
		path = given
	}
	raw, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	var groups []map[string]sample
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return groups, nil
}
