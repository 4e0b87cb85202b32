//go:build outputs

package outputs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// multitool is Microsoft's validator of SARIF: it has the schema of the standard, the
// rules of the standard that no schema can say, and those of GitHub code scanning.
const (
	multitool        = "@microsoft/sarif-multitool-linux"
	multitoolVersion = "5.7.0"
)

func TestSARIFSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(npm(t, multitool, multitoolVersion), "sarif-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files(t, "sarif", ".sarif") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	if err := schema.Validate(map[string]any{"version": "2.0.0"}); err == nil {
		t.Error("the schema takes anything")
	}
}

// TestSARIFRules: no rule of SARIF's or of GitHub's has an error to report; SARIF2005
// would have the version of every tool begin with a digit, and ours begin with v.
func TestSARIFRules(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("%s is for amd64 only: the schema was checked", multitool)
	}
	program := filepath.Join(npm(t, multitool, multitoolVersion), "Sarif.Multitool")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	all := files(t, "sarif", ".sarif")
	dir := filepath.Dir(all[0])
	for _, file := range all { // it takes a second for each
		if strings.Contains(file, "-hostile-") && !strings.HasSuffix(file, "-hostile-b.sarif") {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	wrong := filepath.Join(dir, "wrong.sarif")
	if err := os.WriteFile(wrong, []byte(`{"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [{"tool": {"driver": {"name": "x", "rules": [{"id": "X"}]}}, "results": [{"ruleId": "X", "message": {"text": "x"}}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log.sarif")
	run(t, dir, program, "validate", filepath.Join(dir, "*.sarif"), "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning", "--log", "ForceOverwrite", "--output", log)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Message       struct {
					ID        string
					Arguments []string
				}
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(b), "\ufeff")), &found); err != nil || len(found.Runs) != 1 {
		t.Fatalf("%v: %s", err, b)
	}
	caught := 0
	for _, r := range found.Runs[0].Results {
		file := filepath.Base(r.Locations[0].PhysicalLocation.ArtifactLocation.URI)
		switch {
		case file == "wrong.sarif":
			caught++
		case r.RuleID != "SARIF2005":
			t.Errorf("%s: %s %s: %q", file, r.Level, r.RuleID, r.Message.Arguments)
		}
	}
	if caught == 0 {
		t.Error("nothing is wrong with a file of which much is")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.sarif"))
	checked := len(left) - 1
	if err != nil || checked < 10 {
		t.Errorf("%d files were checked: %v", checked, err)
	}
	t.Logf("%d files were checked", checked)
}
