package inputs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schemas are those that the reference servers advertise, by server and tool.
func schemas(t testing.TB) map[string]map[string]json.RawMessage {
	t.Helper()
	files, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("schemas: %v, %v", files, err)
	}
	servers := map[string]map[string]json.RawMessage{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tools := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &tools); err != nil {
			t.Fatal(err)
		}
		servers[strings.TrimSuffix(filepath.Base(file), ".json")] = tools
	}
	return servers
}

// run asks a form for its cases until there are no more, and answers all of them.
func run(t testing.TB, f *Form, pool *Pool) (cases []Case) {
	t.Helper()
	for call := 1; call <= 200; call++ {
		c, ok := f.Next(pool, Mark{Call: call})
		if !ok {
			return cases
		}
		cases = append(cases, c)
		f.Answered(c, true)
	}
	t.Fatalf("no end after %d cases: %s", len(cases), cases[len(cases)-1].Arguments)
	return nil
}

func TestCoverageOfTheReferenceServers(t *testing.T) {
	for server, tools := range schemas(t) {
		branches, calls := 0, 0
		for tool, schema := range tools {
			f := NewForm(schema, Options{Dir: "/home/audit", About: tool})
			covered := 0
			for i, c := range run(t, f, nil) {
				t.Logf("%s %s %d %s %s %v", server, tool, i, c.Shape, c.Arguments, c.Origins)
				if c.Shape == ShapeRequired || c.Shape == ShapeAll {
					covered++
				}
				if err := validate(schema, c.Arguments); (err == nil) == (c.Shape == ShapeInvalid) {
					t.Errorf("%s: %s: %s %s: %v", server, tool, c.Shape, c.Arguments, err)
				}
			}
			total, done := f.Branches()
			if done != total {
				t.Errorf("%s: %s: %d of %d branches", server, tool, done, total)
			}
			branches += total
			calls += covered
		}
		t.Logf("%s: %d branches, %d calls for %d tools", server, branches, calls, len(tools))
	}
}
