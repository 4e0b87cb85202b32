package main

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

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestReadPlan reads what the manager writes: the golden files of its Pods.
func TestReadPlan(t *testing.T) {
	for name, want := range map[string]assignment{
		"minimal": {tracer: "Auto", audit: audit.Plan{
			Timeout: 5 * time.Minute, FailOn: report.SeverityHigh, Command: []string{"node", "server.js"},
			Network: report.NetworkSinkhole, Transport: report.TransportStdio,
		}},
		"listening": {tracer: "Auto", audit: audit.Plan{
			Timeout: 5 * time.Minute, FailOn: report.SeverityHigh, Command: []string{"node", "server.js"},
			Network: report.NetworkSinkhole, Transport: report.TransportSSE, Port: 8080, Path: "/sse",
			Probe: audit.ProbePlan{
				Calls: report.CallsReadOnlyHinted, Rounds: 2, MaxCallsPerTool: 10, CallTimeout: 20 * time.Second, Seed: 7,
				Inputs: map[string]json.RawMessage{"open": json.RawMessage(`{"project":"$HOME"}`)}, SkipTools: []string{"reset"},
			},
		}},
		"elsewhere": {url: "https://mcp.example.com/mcp", apiServers: []netip.Addr{netip.MustParseAddr("10.96.0.1")}, audit: audit.Plan{
			Timeout: 5 * time.Minute, FailOn: report.SeverityHigh,
			Network: report.NetworkSinkhole, Transport: report.TransportStreamableHTTP, Probe: audit.ProbePlan{Calls: report.CallsReadOnlyHinted},
		}},
		"everything": {tracer: trace.Ptrace, audit: audit.Plan{
			Timeout: 5 * time.Minute, Command: []string{"sh", "-c", "echo $$ $(HOME)"},
			Network: report.NetworkAllow, Transport: report.TransportStdio,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readPlan(planOf(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(assignment{}), cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreUnexported(audit.Plan{})); diff != "" {
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
			if variable.Name == planVariable {
				return strings.ReplaceAll(variable.Value, "$$", "$")
			}
		}
	}
	t.Fatal("no plan in " + name)
	return ""
}

func TestReadPlanRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                                    "unexpected end",
		`{"timeout":"soon"}`:                                   `timeout "soon" is not a duration`,
		`{"timeout":"-1m"}`:                                    "is not a duration",
		`{"timeout":"1m","failOn":"Huge"}`:                     `failOn "Huge" is none of`,
		`{"timeout":"1m","tracer":"dtrace"}`:                   `tracer "dtrace" is none of`,
		`{"timeout":"1m","network":"Maybe"}`:                   `network "Maybe" is none of`,
		`{"timeout":"1m","transport":"Radio"}`:                 `transport "Radio" is none of`,
		`{"timeout":"1m","transport":"SSE"}`:                   "a port goes with a transport over HTTP",
		`{"timeout":"1m","port":80}`:                           "a port goes with a transport over HTTP",
		`{"timeout":"1m","transport":"SSE","port":65536}`:      "port",
		`{"timeout":"1m","url":"http://a/"}`:                   "url needs a transport over HTTP",
		`{"timeout":"1m","probe":{"calls":"Some"}}`:            `calls "Some" is none of`,
		`{"timeout":"1m","probe":{"callTimeout":"0s"}}`:        "is not a duration",
		`{"timeout":"1m","probe":{"inputs":{"a":"b"},"x":{}}}`: "",
	} {
		_, err := readPlan(text)
		if want == "" {
			if err != nil {
				t.Errorf("readPlan(%s): %v", text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readPlan(%s) = %v, want %q", text, err, want)
		}
	}
}
