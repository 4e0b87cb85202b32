package alerts

import (
	"encoding/json"
	"strings"
	"testing"
)

// board is as much of a dashboard of Grafana as is looked at.
type board struct {
	UID        string  `json:"uid"`
	Title      string  `json:"title"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID          int             `json:"id"`
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Datasource  json.RawMessage `json:"datasource"`
	Collapsed   bool            `json:"collapsed"`
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct {
		Expr       string          `json:"expr"`
		Legend     string          `json:"legendFormat"`
		RefID      string          `json:"refId"`
		Datasource json.RawMessage `json:"datasource"`
	} `json:"targets"`
}

func dashboard(t *testing.T) board {
	t.Helper()
	var b board
	if err := json.Unmarshal(content(t, "..", "..", "config", "grafana", "dashboard.json"), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDashboardCanBeLoaded: what Grafana takes for granted of a dashboard, and what it
// would hide without a word.
func TestDashboardCanBeLoaded(t *testing.T) {
	b := dashboard(t)
	if b.UID != "mcpaudit" || len(b.UID) > 40 {
		t.Errorf("the uid is %q: links to the dashboard break when it changes", b.UID)
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("%s: the id %d is another panel's", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.GridPos.X < 0 || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W < 1 || p.GridPos.H < 1 {
			t.Errorf("%s: it lies beside the grid", p.Title)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, taken := cells[cell]; taken {
					t.Fatalf("%s lies upon %s", p.Title, other)
				}
				cells[cell] = p.Title
			}
		}
		checkPanel(t, p)
	}
}

const source = `${datasource}`

func checkPanel(t *testing.T, p panel) {
	t.Helper()
	if p.Title == "" || p.Collapsed {
		t.Errorf("panel %d has no title, or is closed", p.ID)
	}
	if p.Type == "row" {
		return
	}
	if p.Description == "" || !strings.Contains(string(p.Datasource), source) || len(p.Targets) == 0 {
		t.Errorf("%s: it has no description, no query, or another data source than %s", p.Title, source)
	}
	refs := map[string]bool{}
	for _, target := range p.Targets {
		if refs[target.RefID] || target.RefID == "" || !strings.Contains(string(target.Datasource), source) {
			t.Errorf("%s: two queries are %q, or one has another data source than %s", p.Title, target.RefID, source)
		}
		refs[target.RefID] = true
	}
}

func TestDashboardVariables(t *testing.T) {
	types := map[string]string{}
	for _, v := range dashboard(t).Templating.List {
		types[v.Name] = v.Type
		if v.Type != "query" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(v.Definition, "label_values("), ",")
		if _, exists := metrics(t)[name]; !exists || !strings.HasPrefix(v.Definition, "label_values(") {
			t.Errorf("%s: %s: there is no such metric", v.Name, v.Definition)
		}
	}
	if types["datasource"] != "datasource" || types["job"] != "query" {
		t.Errorf("the variables are %v", types)
	}
}

// TestDashboardTellsOfEverything that the alerts are about.
func TestDashboardTellsOfEverything(t *testing.T) {
	var rows []string
	for _, p := range dashboard(t).Panels {
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
	}
	all := strings.Join(rows, "; ")
	for _, about := range []string{"Verdicts", "Drift", "Inconclusive", "Age", "Queue", "Durations", "Gate", "Health"} {
		if !strings.Contains(all, about) {
			t.Errorf("no row is about %s: %s", about, all)
		}
	}
}
