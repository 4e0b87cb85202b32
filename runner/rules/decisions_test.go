package rules

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

var update = flag.Bool("update", false, "accept the decisions of a new engine")

const decisionsFile = "testdata/decisions.txt"

// The findings in all proofs, in the texts of package poison and in recorded traces
// belong to a version of the engine: where one of them is another, the version has to be
// one, too. Inputs that come or go do not ask for that.
func TestDecisions(t *testing.T) {
	got := decisions(t)
	text, err := os.ReadFile(decisionsFile)
	if err != nil {
		t.Fatal(err)
	}
	var version int
	if _, err := fmt.Sscanf(string(text), "engine %d\n", &version); err != nil {
		t.Fatal(err)
	}
	accepted := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, found, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " => "); ok {
			accepted[name] = found
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if was, ok := accepted[name]; ok && was != got[name] && version == engine {
			t.Errorf("%s gives %s, and gave %s: raise engine in digest.go, then run this test with -update", name, got[name], was)
		}
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(decisionsFile, []byte(fmt.Sprintf("engine %d\n", engine)+list(got)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if version != engine || !maps.Equal(accepted, got) {
		t.Errorf("%s is of engine %d, or of other inputs: run this test with -update", decisionsFile, version)
	}
}

// list returns the decisions one a line.
func list(of map[string]string) string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&all, "%s => %s\n", name, of[name])
	}
	return all.String()
}

// decisions returns what is found in each input, by its name.
func decisions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for id, p := range proven {
		judge := Judge
		if p.judge != nil {
			judge = p.judge
		}
		for i, in := range p.finds {
			all[fmt.Sprintf("%s finds %d", id, i+1)] = decided(judge(in))
		}
		for i, in := range p.spares {
			all[fmt.Sprintf("%s spares %d", id, i+1)] = decided(judge(in))
		}
	}
	for _, text := range descriptions(t) {
		of := server{name: "clock", tools: []string{"tell_time: " + text, "list_zones: Lists zones.", "set_alarm: Sets an alarm."}}
		in := input(of)
		in.Manifest = of.manifest()
		all[fmt.Sprintf("description %.60q", text)] = decided(Judge(in))
	}
	for _, text := range outputs(t) {
		in := input(silent)
		in.Outputs = Said("", report.Output{Kind: report.OutputResult, Capability: call.Capability, Text: text})
		all[fmt.Sprintf("output %.60q", text)] = decided(Judge(in))
	}
	for name, effects := range traced(t) {
		all["trace "+name] = decided(Judge(input(silent, effects...)))
	}
	return all
}

// decided returns what an operator acts on: rules, severities and whose doing it was.
func decided(findings []report.Finding) string {
	var all []string
	for _, f := range findings {
		text := fmt.Sprintf("%s %s %s %s", f.Rule, f.Severity, f.Capability.Kind, f.Capability.Name)
		if f.ExceedsScope {
			text += " exceeded"
		}
		all = append(all, strings.TrimSpace(text))
	}
	if all == nil {
		return "nothing"
	}
	return strings.Join(all, "; ")
}

func descriptions(t *testing.T) []string {
	var file struct {
		Attacks []struct{ Text string }
		Honest  []string
	}
	poisonData(t, "descriptions.yaml", &file)
	var texts []string
	for _, attack := range file.Attacks {
		texts = append(texts, attack.Text)
	}
	return append(texts, file.Honest...)
}

func outputs(t *testing.T) []string {
	var file []struct{ Text string }
	poisonData(t, "outputs.yaml", &file)
	var texts []string
	for _, entry := range file {
		texts = append(texts, entry.Text)
	}
	return texts
}

// poisonData parses what the tests of package poison read as well.
func poisonData(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "poison", "testdata", name))
	if err == nil {
		text, err = yaml.YAMLToJSON(text)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// traced returns the effects that package profile makes of the traces of package trace.
func traced(t *testing.T) map[string][]profile.Effect {
	t.Helper()
	files, err := filepath.Glob("../trace/testdata/*.strace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	all := map[string][]profile.Effect{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		copied := filepath.Join(t.TempDir(), name) // reading releases it
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			t.Fatal(err)
		}
		session, err := trace.Follow(trace.Config{File: copied})
		if err != nil {
			t.Fatal(err)
		}
		session.Ended()
		builder := profile.New(profile.Limits{})
		if err := session.Run(t.Context(), builder.Add); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(name, ".strace")] = builder.Build(ledger.Ledger{}).Effects
	}
	return all
}
