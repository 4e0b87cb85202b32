package plan_test

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestRead reads what the manager writes: the golden files of its Pods.
func TestRead(t *testing.T) {
	for name, want := range map[string]plan.Plan{
		"minimal": {
			Tracer:  plan.TracerAuto,
			Timeout: plan.Duration{Duration: 5 * time.Minute}, FailOn: report.SeverityHigh, Command: []string{"node", "server.js"}, Shipped: 2,
			Network: report.NetworkSinkhole, Transport: plan.TransportAuto,
		},
		"listening": {
			Tracer:  plan.TracerAuto,
			Timeout: plan.Duration{Duration: 5 * time.Minute}, FailOn: report.SeverityHigh, Command: []string{"node", "server.js"}, Shipped: 2,
			Network: report.NetworkSinkhole, Transport: report.TransportSSE, Port: 8080, Path: "/sse",
			Probe: plan.Probe{
				Calls: report.CallsReadOnlyHinted, Rounds: 2, MaxCallsPerTool: 10, CallTimeout: plan.Duration{Duration: 20 * time.Second}, Seed: 7,
				Inputs: map[string]json.RawMessage{"open": json.RawMessage(`{"project":"$HOME"}`)}, SkipTools: []string{"reset"},
			},
		},
		"elsewhere": {
			URL: "https://mcp.example.com/mcp", APIServers: []netip.Addr{netip.MustParseAddr("10.96.0.1")},
			Timeout: plan.Duration{Duration: 5 * time.Minute}, FailOn: report.SeverityHigh,
			Network: report.NetworkSinkhole, Transport: report.TransportStreamableHTTP, Probe: plan.Probe{Calls: report.CallsReadOnlyHinted},
		},
		"everything": {
			Tracer:  plan.TracerPtrace,
			Timeout: plan.Duration{Duration: 5 * time.Minute}, Command: []string{"sh", "-c", "echo $$ $(HOME)"}, Shipped: 3,
			Network: report.NetworkAllow, Transport: plan.TransportAuto,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := plan.Read(planOf(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
				t.Errorf("the plan changed on its way (-want +got):\n%s", diff)
			}
		})
	}
}

// planOf is the plan in a golden file, as the kubelet hands it on.
func planOf(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "controllers", "podspec", "testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var pod struct {
		Spec struct {
			Containers []struct {
				Name string
				Env  []struct{ Name, Value string }
			}
		}
	}
	if err := yaml.Unmarshal(content, &pod); err != nil {
		t.Fatal(err)
	}
	for _, container := range pod.Spec.Containers {
		for _, variable := range container.Env {
			if variable.Name == plan.Variable {
				return strings.ReplaceAll(variable.Value, "$$", "$")
			}
		}
	}
	t.Fatal("no plan in " + name)
	return ""
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                                    "unexpected end",
		`{"timeout":"soon"}`:                                   `invalid duration "soon"`,
		`{"timeout":"-1m"}`:                                    `timeout: invalid value "-1m0s"`,
		`{"timeout":"1m","failOn":"Huge"}`:                     `failOn: invalid value "Huge" (want one of`,
		`{"timeout":"1m","tracer":"dtrace"}`:                   `tracer: invalid value "dtrace" (want one of`,
		`{"timeout":"1m","network":"Maybe"}`:                   `network: invalid value "Maybe" (want one of`,
		`{"timeout":"1m","transport":"Radio"}`:                 `transport: invalid value "Radio" (want one of`,
		`{"timeout":"1m","transport":"SSE"}`:                   "port is required with a transport over HTTP",
		`{"timeout":"1m","transport":"Stdio","port":80}`:       "port is for a server that listens",
		`{"timeout":"1m","transport":"SSE","port":65536}`:      "port",
		`{"timeout":"1m","url":"http://a/"}`:                   "url needs a transport over HTTP",
		`{"timeout":"1m","probe":{"calls":"Some"}}`:            `probe.calls: invalid value "Some" (want one of`,
		`{"timeout":"1m","probe":{"callTimeout":"-1s"}}`:       `probe.callTimeout: invalid value "-1s"`,
		`{"timeout":"1m","probe":{"inputs":{"a":"b"},"x":{}}}`: "",
	} {
		_, err := plan.Read(text)
		if want == "" {
			if err != nil {
				t.Errorf("plan.Read(%s): %v", text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("plan.Read(%s) = %v, want %q", text, err, want)
		}
	}
}
