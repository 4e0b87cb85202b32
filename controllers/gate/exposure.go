package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// unexposed returns why a verdict's exposure is no upper bound; "" if it is one. Skipped tools
// and untried guards could have shown more.
func unexposed(v *Verdict) string {
	switch {
	case v.Exposure == nil:
		return "it records none"
	case littleExercised(v.Exercise) != "":
		return littleExercised(v.Exercise)
	case v.Exposure.UntriedGuards != "":
		return "guards were not tried: " + v.Exposure.UntriedGuards
	}
	return ""
}

// exposed returns the standing of a verdict by its exposure. More than the policy admits is an
// observation against the server.
func (p *Policy) exposed(v *Verdict) standing {
	switch {
	case p.Exposure == nil:
		return standing{v1alpha1.GatePassed, v1alpha1.ActionAllow}
	case v.Exposure != nil && p.beyond(v.Exposure) != "":
		return standing{v1alpha1.GateExposed, v1alpha1.ActionDeny}
	case unexposed(v) != "":
		return standing{v1alpha1.GateExposureUnknown, v1alpha1.ActionDeny}
	}
	return standing{v1alpha1.GatePassed, v1alpha1.ActionAllow}
}

// beyond lists what of an exposure exceeds the policy; "" if nothing does.
func (p *Policy) beyond(e *v1alpha1.ExposureSummary) string {
	var all []string
	if p.Exposure.MaxLevel != "" && !e.Level.AtMost(p.Exposure.MaxLevel) {
		all = append(all, fmt.Sprintf("its exposure is %d %s, and %s is admitted", e.Score, e.Level, p.Exposure.MaxLevel))
	}
	for _, kind := range e.Kinds {
		if slices.ContainsFunc(p.Exposure.Deny, func(d v1alpha1.DeniedExposure) bool {
			return kind.Kind == d.Kind && kind.Reach.AtLeast(reachOf(d))
		}) {
			all = append(all, kind.String()+" is denied")
		}
	}
	return strings.Join(all, "; ")
}

// reachOf returns the lowest reach that is denied.
func reachOf(d v1alpha1.DeniedExposure) report.Reach {
	return cmp.Or(d.Reach, report.ReachFixed)
}

// checkExposure rejects values that this version does not know.
func (p *Policy) checkExposure() error {
	if p.Exposure == nil {
		return nil
	}
	var problems []error
	if level := p.Exposure.MaxLevel; level != "" && !slices.Contains(report.RiskLevels, level) {
		problems = append(problems, fmt.Errorf("spec.exposure.maxLevel: %q is not known", level))
	}
	for i, d := range p.Exposure.Deny {
		if !slices.Contains(report.ExposureKinds, d.Kind) {
			problems = append(problems, fmt.Errorf("spec.exposure.deny[%d].kind: %q is not known", i, d.Kind))
		}
		if !slices.Contains(report.Reaches, reachOf(d)) {
			problems = append(problems, fmt.Errorf("spec.exposure.deny[%d].reach: %q is not known", i, d.Reach))
		}
	}
	return errors.Join(problems...)
}
