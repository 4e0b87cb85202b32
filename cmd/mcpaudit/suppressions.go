package main

import (
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxSuppressionsFile is in bytes, far more than an audit's suppressions need.
const maxSuppressionsFile = 1 << 20

// loadSuppressions reads the file of --suppressions: entries of spec.suppressions in YAML or
// JSON.
func (o *judging) loadSuppressions(now time.Time) ([]report.Suppression, error) {
	if o.suppressions == "" {
		return nil, nil
	}
	return readFlag("--suppressions", o.suppressions, maxSuppressionsFile, func(text []byte) ([]report.Suppression, error) { return parseSuppressions(text, now) })
}

func parseSuppressions(b []byte, now time.Time) ([]report.Suppression, error) {
	var entries []struct {
		Rule   string `json:"rule"`
		Match  string `json:"match"`
		Reason string `json:"reason"`
		Until  string `json:"until"`
	}
	if err := yaml.UnmarshalStrict(b, &entries); err != nil {
		return nil, fmt.Errorf("want a list of entries with rule, match, reason and until (a date): %w", err)
	}
	if len(entries) > report.MaxSuppressions {
		return nil, fmt.Errorf("%d suppressions, more than the %d allowed", len(entries), report.MaxSuppressions)
	}
	var all []report.Suppression
	for i, e := range entries {
		s := report.Suppression{Rule: e.Rule, Match: e.Match, Reason: e.Reason}
		var err error
		if e.Until != "" {
			s.Until, err = report.ParseUntil(e.Until)
		}
		if err == nil {
			err = s.Check(now)
		}
		if err != nil {
			return nil, fmt.Errorf("suppression %d: %w", i+1, err)
		}
		all = append(all, s)
	}
	return all, nil
}
