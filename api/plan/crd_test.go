package plan_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/crds"
)

// probesOf returns the schema of each field "probe" of a kind.
func probesOf(t *testing.T, kind string) (found []apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	var walk func(apiextensionsv1.JSONSchemaProps)
	walk = func(of apiextensionsv1.JSONSchemaProps) {
		for name, below := range of.Properties {
			if name == "probe" && below.Properties["rounds"].Maximum != nil {
				found = append(found, below)
			}
			walk(below)
		}
	}
	walk(crds.Schema(t, kind, "spec"))
	return found
}

// TestCRDs: the markers of the API say the defaults, ranges and words of this package.
func TestCRDs(t *testing.T) {
	literal := func(value any) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%#v", value)} }
	var calls []apiextensionsv1.JSON
	for _, choice := range report.CallsChoices {
		calls = append(calls, literal(choice))
	}
	for _, kind := range []string{"MCPServerAudit", "ClusterMCPAuditPolicy"} {
		probes := probesOf(t, kind)
		if len(probes) == 0 {
			t.Errorf("%s has no probe with a range", kind)
		}
		for _, probe := range probes {
			rounds, most, timeout := probe.Properties["rounds"], probe.Properties["maxCallsPerTool"], probe.Properties["callTimeout"]
			got := []any{*rounds.Minimum, *rounds.Maximum, *most.Minimum, *most.Maximum, timeout.XValidations[0].Rule, probe.Properties["calls"].Enum}
			want := []any{1.0, float64(plan.MaxRounds), 1.0, float64(plan.MaxMaxCallsPerTool), "duration(self) >= duration('1s') && duration(self) <= duration('10m')", calls}
			if rounds.Default != nil { // a policy's template leaves them to the audits
				got = append(got, *rounds.Default, *most.Default, *timeout.Default)
				want = append(want, literal(plan.DefaultRounds), literal(plan.DefaultMaxCallsPerTool), literal(plan.DefaultCallTimeout.String()))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the probe has another default or range (-want +got):\n%s", kind, diff)
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
