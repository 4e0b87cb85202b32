package plan_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// field is the part of a structural schema that a default or a range is in.
type field struct {
	Default          any
	Minimum, Maximum *int
	Enum             []string
	Properties       map[string]field
	Items            *field
	Rules            []struct{ Rule string } `json:"x-kubernetes-validations"`
}

// probesOf returns the schema of each field "probe" of a CRD.
func probesOf(t *testing.T, file string) (found []field) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", file))
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema field `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	var walk func(field)
	walk = func(f field) {
		for name, below := range f.Properties {
			if name == "probe" && below.Properties["rounds"].Maximum != nil {
				found = append(found, below)
			}
			walk(below)
		}
	}
	walk(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
	return found
}

// TestCRDs: the markers of the API say the defaults, ranges and words of this package.
func TestCRDs(t *testing.T) {
	var calls []string
	for _, choice := range report.CallsChoices {
		calls = append(calls, string(choice))
	}
	for _, file := range []string{"mcpaudit.dev_mcpserveraudits.yaml", "mcpaudit.dev_clustermcpauditpolicies.yaml"} {
		probes := probesOf(t, file)
		if len(probes) == 0 {
			t.Errorf("%s has no probe with a range", file)
		}
		for _, probe := range probes {
			rounds, most, timeout := probe.Properties["rounds"], probe.Properties["maxCallsPerTool"], probe.Properties["callTimeout"]
			got := []any{*rounds.Minimum, *rounds.Maximum, *most.Minimum, *most.Maximum, timeout.Rules[0].Rule, probe.Properties["calls"].Enum}
			want := []any{1, plan.MaxRounds, 1, plan.MaxMaxCallsPerTool, "duration(self) >= duration('1s') && duration(self) <= duration('10m')", calls}
			if rounds.Default != nil { // a policy's template leaves them to the audits
				got = append(got, rounds.Default, most.Default, timeout.Default)
				want = append(want, float64(plan.DefaultRounds), float64(plan.DefaultMaxCallsPerTool), plan.DefaultCallTimeout.String())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the probe has another default or range (-want +got):\n%s", file, diff)
			}
		}
	}
	if plan.MinCallTimeout != time.Second || plan.MaxCallTimeout != 10*time.Minute {
		t.Error("the rule of callTimeout in the CRDs has other bounds")
	}
}

func TestProbeRanges(t *testing.T) {
	if err := (plan.Probe{}).WithDefaults().Check(); err != nil {
		t.Errorf("the defaults are out of range: %v", err)
	}
	outside := plan.Probe{Rounds: 11, MaxCallsPerTool: -1, CallTimeout: plan.Duration{Duration: time.Millisecond}}
	want := "rounds: invalid value 11 (want 1 to 10)\nmaxCallsPerTool: invalid value -1 (want 1 to 1000)\ncallTimeout: invalid value 1ms (want 1s to 10m0s)"
	if err := outside.Check(); err == nil || err.Error() != want {
		t.Errorf("Check() = %v\nwant %s", err, want)
	}
}
