package main

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

func TestList(t *testing.T) {
	var all []vulnerability
	if err := yaml.UnmarshalStrict(list, &all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range all {
		isKnown := strings.HasPrefix(v.Package, "npm:") || strings.HasPrefix(v.Package, "pypi:")
		if seen[v.ID] || !isKnown || v.Vulnerable+v.Fixed == "" || v.Vulnerable != "" && len(v.Tools) == 0 || len(v.Rules) == 0 {
			t.Errorf("%+v", v)
		}
		seen[v.ID] = true
		for _, id := range v.Rules {
			if _, known := rules.Find(id); !known {
				t.Errorf("%s: there is no rule %s", v.ID, id)
			}
		}
	}
}

func TestOutcomes(t *testing.T) {
	v := vulnerability{Tools: []string{"scale"}, Rules: []string{"MCPA-EXEC-002"}}
	at := func(rule, tool string) report.Report {
		return report.Report{Verdict: "Fail", Findings: []report.Finding{{Rule: rule, Capability: report.Capability{Kind: report.CapabilityTool, Name: tool}}}}
	}
	for want, got := range map[string]string{
		"found":                             v.found(at("MCPA-EXEC-002", "scale"), nil),
		"found elsewhere: get":              v.found(at("MCPA-EXEC-002", "get"), nil),
		"missed: Fail, ":                    v.found(at("MCPA-EXEC-001", "scale"), nil),
		"not had":                           v.found(report.Report{}, errors.New("not had")),
		"finding: get":                      v.silent(at("MCPA-EXEC-002", "get"), nil),
		"silent":                            v.silent(at("MCPA-EXEC-001", "get"), nil),
		"silent, but Inconclusive: Timeout": v.silent(report.Report{Verdict: report.VerdictInconclusive, Reason: "Timeout"}, nil),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
