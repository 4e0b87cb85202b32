package gate

import (
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// standing is a policy's view of a verdict.
type standing struct {
	reason v1alpha1.GateReason
	action v1alpha1.GateAction
}

// actions and reasons, from best to worst.
var (
	actions = []v1alpha1.GateAction{v1alpha1.ActionAllow, v1alpha1.ActionWarn, v1alpha1.ActionDeny}
	reasons = []v1alpha1.GateReason{
		v1alpha1.GatePassed, v1alpha1.GateExcepted, v1alpha1.GateNoDigest, v1alpha1.GateLittleExercised, v1alpha1.GateWeaklyExercised, v1alpha1.GateExposureUnknown, v1alpha1.GateStale, v1alpha1.GateInconclusive,
		v1alpha1.GateOtherPlatform, v1alpha1.GateOtherEnvironment, v1alpha1.GateOtherCommand, v1alpha1.GateAltered,
		v1alpha1.GateNotAudited, v1alpha1.GateExposed, v1alpha1.GateDrifted, v1alpha1.GateFailed,
	}
)

// weight orders actions; an unknown one denies.
func weight(action v1alpha1.GateAction) int {
	if i := slices.Index(actions, action); i >= 0 {
		return i
	}
	return len(actions) - 1
}

// worse returns the standing with the stricter action; of equal ones, the one with the worse
// reason.
func worse(a, b standing) standing {
	wa, wb := weight(a.action), weight(b.action)
	if wb > wa || wb == wa && slices.Index(reasons, b.reason) > slices.Index(reasons, a.reason) {
		return b
	}
	return a
}

func worseAction(a, b v1alpha1.GateAction) v1alpha1.GateAction {
	if weight(b) > weight(a) {
		return b
	}
	return a
}

// Standing returns a policy's view of a verdict by itself: Passed, Failed, Drifted, Exposed,
// Inconclusive, Stale, LittleExercised, WeaklyExercised or ExposureUnknown. If several apply,
// the one with the policy's strictest action counts.
func (p *Policy) Standing(verdict *Verdict, now time.Time) v1alpha1.GateReason {
	return p.standing(verdict, now).reason
}

func (p *Policy) standing(v *Verdict, now time.Time) standing {
	if p.counted(v) > 0 {
		return standing{v1alpha1.GateFailed, v1alpha1.ActionDeny}
	}
	worst := p.exposed(v)
	if p.Gate.OnAltered != v1alpha1.ActionAllow && littleExercised(v.Exercise) != "" {
		worst = worse(worst, standing{v1alpha1.GateLittleExercised, p.Gate.OnAltered})
	}
	if !p.assured(v) {
		worst = worse(worst, standing{v1alpha1.GateWeaklyExercised, v1alpha1.ActionDeny})
	}
	if v.Halted || p.older(v.Time, now) {
		worst = worse(worst, standing{v1alpha1.GateStale, p.Gate.OnStale})
	}
	if !v.Complete {
		worst = worse(worst, p.inconclusive(v, now))
	}
	if v.Drifted {
		worst = worse(worst, standing{v1alpha1.GateDrifted, p.Gate.OnDrift})
	}
	return worst
}

// assured reports whether a verdict has the policy's minimum assurance. With LastVerdict an
// earlier verdict counts, see passes.
func (p *Policy) assured(v *Verdict) bool {
	earlier := !v.Complete && p.Gate.OnInconclusive == v1alpha1.ActionLastVerdict
	return p.Gate.MinAssurance == "" || earlier || v.Assurance.Level.AtLeast(p.Gate.MinAssurance)
}

// inconclusive returns the standing of an audit that could not observe everything.
func (p *Policy) inconclusive(v *Verdict, now time.Time) standing {
	if p.Gate.OnInconclusive != v1alpha1.ActionLastVerdict {
		return standing{v1alpha1.GateInconclusive, v1alpha1.GateAction(p.Gate.OnInconclusive)}
	}
	if v.Passed.IsZero() || p.older(v.Passed, now) || !p.passes(v) {
		return standing{v1alpha1.GateInconclusive, v1alpha1.ActionDeny}
	}
	return standing{v1alpha1.GatePassed, v1alpha1.ActionWarn}
}

// passes reports whether the audit's last pass also meets the policy, which may be stricter.
func (p *Policy) passes(v *Verdict) bool {
	if p.Gate.MinAssurance != "" && !v.PassedAssurance.AtLeast(p.Gate.MinAssurance) || p.Exposure != nil {
		return false // the history has no exposure
	}
	return p.counting <= slices.Index(severities, v.PassedFailOn)+1 && (p.Trust.AllowSuppressions || !v.PassedSuppressing)
}

// counted returns how many findings reach the policy's failOn.
func (p *Policy) counted(v *Verdict) int {
	n, counts := 0, p.counts(v)
	for _, count := range counts[:p.counting] {
		n += int(max(count, 0))
	}
	return n
}

// counts returns the finding counts that a policy considers, in the order of severities.
func (p *Policy) counts(v *Verdict) [5]int32 {
	c := &v.Findings
	if p.Trust.AllowSuppressions {
		c = &v.Unsuppressed
	}
	return [...]int32{c.Critical, c.High, c.Medium, c.Low, c.Info}
}
