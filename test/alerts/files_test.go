package alerts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// rule is an alert as Prometheus has it.
type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// group is a group of rules.
type group struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

// metric is one of metrics.json. A label without values takes any.
type metric struct {
	Type   string              `json:"type"`
	Labels map[string][]string `json:"labels"`
}

func content(t *testing.T, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func metrics(t *testing.T) map[string]metric {
	t.Helper()
	all := map[string]metric{}
	if err := json.Unmarshal(content(t, "metrics.json"), &all); err != nil || len(all) < 40 {
		t.Fatalf("%d metrics, %v", len(all), err)
	}
	return all
}

func groups(t *testing.T) []group {
	t.Helper()
	var object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       struct {
			Groups []group `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(content(t, "..", "..", "config", "prometheus", "rules.yaml"), &object); err != nil || len(object.Spec.Groups) == 0 {
		t.Fatalf("rules.yaml: %d groups, %v", len(object.Spec.Groups), err)
	}
	return object.Spec.Groups
}

func rules(t *testing.T) map[string]rule {
	t.Helper()
	all := map[string]rule{}
	for _, g := range groups(t) {
		for _, r := range g.Rules {
			if _, twice := all[r.Alert]; twice || r.Alert == "" {
				t.Fatalf("there are two alerts %q", r.Alert)
			}
			all[r.Alert] = r
		}
	}
	return all
}
