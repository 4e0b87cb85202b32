package inputs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schemas returns those that the reference servers advertise, by server and tool.
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

// The real schemas have all of their branches done in few calls, and an independent
// validator finds that the arguments fit; those that shall not fit do not.
func TestCoverageOfTheReferenceServers(t *testing.T) {
	servers := schemas(t)
	for server, want := range map[string]struct{ tools, branches, calls int }{
		"everything":          {17, 44, 32},
		"filesystem":          {14, 26, 24},
		"memory":              {9, 20, 16},
		"sequential-thinking": {1, 22, 5},
	} {
		t.Run(server, func(t *testing.T) {
			branches, calls := 0, 0
			for tool, schema := range servers[server] {
				f := NewForm(schema, Options{Dir: "/home/audit", About: tool})
				_, done := f.Branches()
				for call := 1; ; call++ {
					c, ok := f.Next(nil, Mark{Call: call})
					if !ok {
						break
					}
					f.Answered(c, true)
					if _, now := f.Branches(); now > done || call == 1 { // only these are needed
						calls, done = calls+1, now
					}
					if err := validate(schema, c.Arguments); (err == nil) == (c.Shape == ShapeInvalid) {
						t.Errorf("%s: %s %s: %v", tool, c.Shape, c.Arguments, err)
					}
				}
				total, _ := f.Branches()
				if done != total {
					t.Errorf("%s: %d of %d branches", tool, done, total)
				}
				branches += total
			}
			if n := len(servers[server]); n != want.tools || branches != want.branches || calls > want.calls {
				t.Errorf("%d tools, %d branches, %d calls; want %+v", n, branches, calls, want)
			}
		})
	}
}

func TestNothingIsDoneBeforeItIsAnswered(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"a":{"type":"boolean"}}}`), home)
	var cases []Case
	for c, ok := f.Next(nil, Mark{}); ok; c, ok = f.Next(nil, Mark{}) {
		cases = append(cases, c)
	}
	if total, done := f.Branches(); total != 4 || done != 0 {
		t.Errorf("%d of %d branches", done, total)
	}
	for _, c := range cases {
		f.Answered(c, false) // an error is an answer
	}
	if total, done := f.Branches(); done != total {
		t.Errorf("%d of %d branches", done, total)
	}
}

func TestSchemaTooLargeIsNeverDone(t *testing.T) {
	var properties []string
	for i := range maxFields + 1 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"boolean"}`, i))
	}
	f := NewForm(json.RawMessage(`{"properties":{`+strings.Join(properties, ",")+`}}`), home)
	run(t, f, nil)
	if total, done := f.Branches(); total != 4*maxFields+1 || done != total-1 {
		t.Errorf("%d of %d branches", done, total)
	}
}

func TestGiven(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]},"days":{"type":"integer","maximum":5}},"required":["city"]}`)
	f := NewForm(schema, Options{Given: json.RawMessage(`{"city":"Paris","days":9,"more":[1]}`)})
	units := map[any]bool{}
	for _, c := range run(t, f, tell(t, `text tool list: {"city":"Rome"}`)) {
		var values map[string]any
		if err := json.Unmarshal(c.Arguments, &values); err != nil || values["city"] != "Paris" || values["days"] != 9.0 || values["more"] == nil {
			t.Errorf("%s: %v", c.Arguments, err)
		}
		units[values["unit"]] = true
	}
	if len(units) != 3 {
		t.Errorf("units %v", units)
	}
	if total, done := f.Branches(); total != done {
		t.Errorf("%d of %d branches", done, total)
	}
}

// What was accepted is used again where nothing new is to be tried.
func TestTheLadderLearns(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"service":{"type":"string"},"deep":{"type":"boolean"}},"required":["service"]}`)
	f := NewForm(schema, Options{About: "check"})
	pool := tell(t, "text tool list: Services: billing, auth, search")
	first, _ := f.Next(pool, Mark{Call: 1})
	f.Answered(first, false)
	second, _ := f.Next(pool, Mark{Call: 2})
	f.Answered(second, true)
	third, _ := f.Next(pool, Mark{Call: 3})
	for i, want := range []struct{ got, service string }{{string(first.Arguments), "billing"}, {string(second.Arguments), "auth"}, {string(third.Arguments), "auth"}} {
		if !strings.Contains(want.got, `"service":"`+want.service+`"`) {
			t.Errorf("case %d: %s, want %s", i, want.got, want.service)
		}
	}
}

// A long enum and what was harvested take turns: there may not be calls for both.
func TestHarvestDoesNotWaitForBranches(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"id":{"type":"string"},"k":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]}},"required":["id","k"]}`)
	f := NewForm(schema, Options{About: "get_ticket"})
	pool := tell(t, "text tool list_tickets: TICK-1, TICK-2, TICK-3")
	var got []string
	for _, c := range run(t, f, pool)[:8] {
		got = append(got, string(c.Arguments))
	}
	if text := strings.Join(got, " "); !strings.Contains(text, "TICK-2") || !strings.Contains(text, "TICK-3") || strings.Count(text, `"k":`) < 8 {
		t.Error(text)
	}
	if total, done := f.Branches(); total != 14 || done != 14 {
		t.Errorf("%d of %d", done, total)
	}
}
