package metrics

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// behaviorRules is the prefix of the rules about new behaviour.
const behaviorRules = "MCPA-BEHAVIOR-"

// state is a verdict with the reason of Ready.
type state struct{ verdict, reason string }

// usual are the states that always have a series, so it exists before the first alert needs it.
// A Pass or Fail with another reason, such as Suspended, is reported when it occurs.
var usual = []state{
	{string(v1alpha1.VerdictPass), v1alpha1.ReasonPassed},
	{string(v1alpha1.VerdictFail), v1alpha1.ReasonFindingsAboveThreshold},
	{string(v1alpha1.VerdictFail), v1alpha1.ReasonScopeExceeded},
	{string(v1alpha1.VerdictFail), v1alpha1.ReasonManifestDrifted},
	{string(v1alpha1.VerdictInconclusive), v1alpha1.ReasonAuditInconclusive},
	{string(v1alpha1.VerdictInconclusive), v1alpha1.ReasonImageUnresolvable},
	{none, v1alpha1.ReasonPending}, {none, v1alpha1.ReasonResolvingImage}, {none, v1alpha1.ReasonQueued}, {none, v1alpha1.ReasonRunning},
	{none, v1alpha1.ReasonCollecting}, {none, v1alpha1.ReasonSuspended}, {none, v1alpha1.ReasonInvalidSpec}, {none, v1alpha1.ReasonNotAllowed},
}

// ages are the buckets of verdict ages; the last one is open.
var ages = []struct {
	word  string
	below time.Duration
}{{"1h", time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"30d", 30 * 24 * time.Hour}, {"older", 1<<63 - 1}}

// streaks are the buckets of status.consecutiveFailures.
var streaks = []string{"1", "2", "3_or_more"}

// tally sums a pass over all audits.
type tally struct {
	now          time.Time
	states       map[state]int
	findings     map[report.Severity]int
	suppressed   int
	drifted      map[string]int // by the reason of ManifestStable
	behaved      int
	inconclusive map[string]int // by the reason of Audited
	failing      map[string]int // by streak
	suspended    int
	ages         map[string]int
	oldest       time.Time // of all verdicts; zero if there is none
	overdue      time.Duration
}

func newTally(now time.Time) *tally {
	t := &tally{
		now: now, states: map[state]int{}, findings: map[report.Severity]int{}, drifted: zeros(driftReasons),
		inconclusive: zeros(auditedReasons), failing: zeros(streaks), ages: map[string]int{},
	}
	for _, s := range usual {
		t.states[s] = 0
	}
	for _, severity := range report.Severities {
		t.findings[severity] = 0
	}
	for _, age := range ages {
		t.ages[age.word] = 0
	}
	return t
}

// zeros returns a map with a zero for each word.
func zeros(words []string) map[string]int {
	counts := map[string]int{}
	for _, word := range words {
		counts[word] = 0
	}
	return counts
}

// add counts an audit without modifying it: the object is the cache's.
func (t *tally) add(audit *v1alpha1.MCPServerAudit) {
	status := &audit.Status
	verdict := none
	if status.Verdict != "" {
		verdict = verdicts.label(string(status.Verdict))
	}
	t.states[state{verdict, reasonOf(status, v1alpha1.ConditionReady, v1alpha1.ReasonPending, readyReasons)}]++
	if status.Verdict == v1alpha1.VerdictInconclusive {
		t.inconclusive[reasonOf(status, v1alpha1.ConditionAudited, "", auditedReasons)]++
	}
	if meta.IsStatusConditionFalse(status.Conditions, v1alpha1.ConditionManifestStable) {
		t.drifted[reasonOf(status, v1alpha1.ConditionManifestStable, "", driftReasons)]++
	}
	if n := status.ConsecutiveFailures; n > 0 {
		t.failing[streaks[min(int(n), len(streaks))-1]]++
	}
	if audit.Spec.Suspend {
		t.suspended++
	}
	t.addFindings(status)
	t.addTimes(audit)
}

// reasonOf returns the reason of a condition as a label; absent if the condition is missing.
func reasonOf(status *v1alpha1.MCPServerAuditStatus, condition, absent string, known words) string {
	if c := meta.FindStatusCondition(status.Conditions, condition); c != nil {
		return known.label(c.Reason)
	}
	return known.label(absent)
}

func (t *tally) addFindings(status *v1alpha1.MCPServerAuditStatus) {
	if f := status.Findings; f != nil {
		t.findings[report.SeverityCritical] += int(f.Critical)
		t.findings[report.SeverityHigh] += int(f.High)
		t.findings[report.SeverityMedium] += int(f.Medium)
		t.findings[report.SeverityLow] += int(f.Low)
		t.findings[report.SeverityInfo] += int(f.Info)
		t.suppressed += int(f.Suppressed)
	}
	for i := range status.TopFindings {
		if strings.HasPrefix(status.TopFindings[i].Rule, behaviorRules) {
			t.behaved++
			return
		}
	}
}

func (t *tally) addTimes(audit *v1alpha1.MCPServerAudit) {
	status := &audit.Status
	if status.Verdict != "" && status.LastAuditTime != nil {
		at := status.LastAuditTime.Time
		if t.oldest.IsZero() || at.Before(t.oldest) {
			t.oldest = at
		}
		for _, age := range ages {
			if t.now.Sub(at) < age.below {
				t.ages[age.word]++
				break
			}
		}
	}
	if status.NextAuditTime != nil && !audit.Spec.Suspend && !isRunning(status) {
		t.overdue = max(t.overdue, t.now.Sub(status.NextAuditTime.Time))
	}
}

// isRunning reports whether an audit is past waiting.
func isRunning(status *v1alpha1.MCPServerAuditStatus) bool {
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionAuditing)
	return c != nil && (c.Reason == v1alpha1.ReasonRunning || c.Reason == v1alpha1.ReasonCollecting)
}
