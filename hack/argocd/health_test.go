// Package argocd tests health.lua as Argo CD runs it.
package argocd

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/test/crds"
)

// The health of Argo CD.
const (
	healthy     = "Healthy"
	progressing = "Progressing"
	degraded    = "Degraded"
	suspended   = "Suspended"
)

// run has Argo CD's environment: base and table are all of Lua's libraries, and a
// script that takes longer than a second is ended.
func run(t *testing.T, object map[string]any) (health, message string) {
	t.Helper()
	script, err := os.ReadFile("health.lua")
	if err != nil {
		t.Fatal(err)
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(string(script)); err != nil {
		t.Fatalf("the script fails on %v: %v", object, err)
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %v", state.Get(-1))
	}
	text, ok := result.RawGetString("message").(lua.LString)
	if !ok {
		t.Fatalf("the message is %v", result.RawGetString("message"))
	}
	return result.RawGetString("status").String(), string(text)
}

// value is a value of JSON as Argo CD gives it to Lua: null is nil, also in a list.
func value(state *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case int64:
		return lua.LNumber(v)
	case []any:
		list := state.NewTable()
		for _, item := range v {
			list.Append(value(state, item))
		}
		return list
	case map[string]any:
		table := state.NewTable()
		for key, item := range v {
			table.RawSetString(key, value(state, item))
		}
		return table
	}
	return lua.LNil
}

// object has a status about an observed generation, of the present generation 2.
func object(kind string, observed int64, conditions ...map[string]any) map[string]any {
	list := make([]any, 0, len(conditions))
	for _, c := range conditions {
		list = append(list, c)
	}
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": "notes", "namespace": "team-a", "generation": int64(2)},
		"status":   map[string]any{"observedGeneration": observed, "conditions": list},
	}
}

func condition(kind string, value metav1.ConditionStatus, reason string) map[string]any {
	return map[string]any{"type": kind, "status": string(value), "reason": reason, "message": "about " + reason, "observedGeneration": int64(2)}
}

func isTrue(reason string) []map[string]any {
	return []map[string]any{condition(v1alpha1.ConditionReady, metav1.ConditionTrue, reason)}
}

// isFalse and unknown have the conditions of kstatus that go with them.
func isFalse(reason string) []map[string]any {
	return []map[string]any{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, reason), condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason),
	}
}

func unknown(reason string) []map[string]any {
	return []map[string]any{
		condition(v1alpha1.ConditionReady, metav1.ConditionUnknown, reason), condition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, reason),
	}
}

// states are the states that each kind can be in, with what Argo CD makes of them.
var states = map[string]map[string][][]map[string]any{
	"MCPServerAudit": {
		healthy:     {isTrue(v1alpha1.ReasonPassed)},
		progressing: {unknown(v1alpha1.ReasonPending), unknown(v1alpha1.ReasonResolvingImage), unknown(v1alpha1.ReasonQueued), unknown(v1alpha1.ReasonRunning), unknown(v1alpha1.ReasonCollecting)},
		degraded: {
			isFalse(v1alpha1.ReasonFindingsAboveThreshold), isFalse(v1alpha1.ReasonScopeExceeded), isFalse(v1alpha1.ReasonManifestDrifted),
			isFalse(v1alpha1.ReasonAuditInconclusive), isFalse(v1alpha1.ReasonImageUnresolvable), isFalse(v1alpha1.ReasonInvalidSpec), isFalse(v1alpha1.ReasonNotAllowed),
		},
		suspended: {isFalse(v1alpha1.ReasonSuspended)},
	},
	"MCPAuditPolicy": {
		healthy:     {isTrue(v1alpha1.ReasonGating), isTrue(v1alpha1.ReasonRunningViolations)},
		progressing: {unknown(v1alpha1.ReasonOfflineGatePending)},
		degraded:    {isFalse(v1alpha1.ReasonInvalidSpec)},
	},
	"ClusterMCPAuditPolicy": {
		healthy:     {isTrue(v1alpha1.ReasonGating), isTrue(v1alpha1.ReasonRunningViolations), isTrue(v1alpha1.ReasonDiscovered), isTrue(v1alpha1.ReasonNothingToDo)},
		progressing: {unknown(v1alpha1.ReasonSourcesPending), unknown(v1alpha1.ReasonAuditsPending), unknown(v1alpha1.ReasonOfflineGatePending)},
		degraded:    {isFalse(v1alpha1.ReasonInvalidSpec), isFalse(v1alpha1.ReasonDiscoveryDisabled)},
	},
	"MCPAuditException": {
		healthy:     {isTrue(v1alpha1.ReasonActive), isTrue(v1alpha1.ReasonExpired)}, // an end that was known from the start
		progressing: {unknown(v1alpha1.ReasonPolicyNotFound)},                        // it may be applied a moment later
		degraded:    {isFalse(v1alpha1.ReasonInvalidSpec), isFalse(v1alpha1.ReasonIgnored)},
	},
}

// kstatusOf returns the status that Flux gives the same object. What is suspended is
// stalled: nothing will change without somebody's doing.
var kstatusOf = map[string]status.Status{
	healthy: status.CurrentStatus, progressing: status.InProgressStatus, degraded: status.FailedStatus, suspended: status.FailedStatus,
}

func TestHealthOfEachState(t *testing.T) {
	for kind, of := range states {
		for want, all := range of {
			for _, conditions := range all {
				reason := conditions[0]["reason"].(string)
				t.Run(kind+" "+reason, func(t *testing.T) {
					o := object(kind, 2, conditions...)
					if got, message := run(t, o); got != want || message != "about "+reason {
						t.Errorf("got %s (%s), want %s", got, message, want)
					}
					computed, err := status.Compute(&unstructured.Unstructured{Object: o})
					if err != nil || computed.Status != kstatusOf[want] {
						t.Errorf("Flux makes %v of it (%v), Argo CD %s", computed, err, want)
					}
				})
			}
		}
	}
}

// A status about an older spec says nothing of this one.
func TestHealthOfAnOlderSpec(t *testing.T) {
	auditing := condition(v1alpha1.ConditionAuditing, metav1.ConditionTrue, v1alpha1.ReasonQueued)
	for name, test := range map[string]struct {
		object  map[string]any
		message string
	}{
		"just created":       {object("MCPAuditPolicy", -1), "Waiting for the operator to read the spec"},
		"passed before":      {object("MCPServerAudit", 1, isTrue(v1alpha1.ReasonPassed)...), "Waiting for the operator to read the spec"},
		"audited again":      {object("MCPServerAudit", 1, append(isFalse(v1alpha1.ReasonManifestDrifted), auditing)...), "about Queued"},
		"suspended before":   {object("MCPServerAudit", 1, isFalse(v1alpha1.ReasonSuspended)...), "Waiting for the operator to read the spec"},
		"no condition Ready": {object("MCPAuditException", 2), "Waiting for the condition Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, message := run(t, test.object); got != progressing || message != test.message {
				t.Errorf("got %s (%s), want %s (%s)", got, message, progressing, test.message)
			}
		})
	}
}

func TestHealthOfAReport(t *testing.T) {
	if got, _ := run(t, map[string]any{"kind": "MCPAuditReport", "metadata": map[string]any{"name": "notes-1"}}); got != healthy {
		t.Errorf("a report is %s", got)
	}
}

// What no operator wrote is never Healthy, and never an error: Argo CD shows that as
// the health of the whole application.
func TestHealthOfWhatIsNoStatus(t *testing.T) {
	ready := func(c map[string]any) map[string]any { c["type"] = "Ready"; return object("MCPServerAudit", 2, c) }
	hostile := map[string]map[string]any{
		"nothing at all":          {},
		"no status":               {"kind": "MCPAuditPolicy", "metadata": map[string]any{"generation": int64(1)}},
		"null":                    {"kind": nil, "metadata": nil, "status": nil},
		"a text":                  {"metadata": "x", "status": "Ready"},
		"conditions null":         {"metadata": map[string]any{"generation": int64(1)}, "status": map[string]any{"observedGeneration": int64(1), "conditions": nil}},
		"conditions a text":       {"metadata": map[string]any{"generation": int64(1)}, "status": map[string]any{"observedGeneration": int64(1), "conditions": "Ready"}},
		"conditions of anything":  {"metadata": map[string]any{"generation": int64(1)}, "status": map[string]any{"observedGeneration": int64(1), "conditions": []any{nil, "x", int64(1), []any{}, map[string]any{}, map[string]any{"type": nil}, map[string]any{"type": int64(3)}}}},
		"generation a text":       {"metadata": map[string]any{"generation": "1"}, "status": map[string]any{"observedGeneration": "1", "conditions": []any{isTrue("Passed")[0]}}},
		"no observedGeneration":   {"metadata": map[string]any{"generation": int64(1)}, "status": map[string]any{"conditions": []any{isTrue("Passed")[0]}}},
		"an unknown status":       ready(map[string]any{"status": "true", "message": "x"}),
		"a status that is a bool": ready(map[string]any{"status": true, "message": []any{}, "reason": map[string]any{}}),
		"a message that is none":  ready(map[string]any{"status": "False", "message": int64(7), "reason": false}),
	}
	for name, o := range hostile {
		t.Run(name, func(t *testing.T) {
			if got, message := run(t, o); got != progressing && got != degraded {
				t.Errorf("got %s (%s)", got, message)
			}
		})
	}
	// One that is null stands before the one that counts.
	o := object("MCPServerAudit", 2)
	o["status"].(map[string]any)["conditions"] = []any{nil, isTrue(v1alpha1.ReasonPassed)[0]}
	if got, _ := run(t, o); got != healthy {
		t.Errorf("after a null: %s", got)
	}
}

// Each kind of the group has the script in the ConfigMap of Argo CD.
func TestEachKindIsCustomized(t *testing.T) {
	text, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for kind := range crds.All(t) {
		if !strings.Contains(string(text), "resource.customizations.health.mcpaudit.dev_"+kind+"=health.lua\n") {
			t.Errorf("kustomization.yaml has no script for %s", kind)
		}
	}
}
