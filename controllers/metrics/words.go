package metrics

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// other stands for every word that is not in a closed list. Most words come from
// constants; some cross the boundary to the runner, which an audited server might
// take over, and none of them may make a time series.
const other = "other"

// none is the verdict of an audit that has none yet.
const none = "None"

// words are a closed list of values of a label.
type words []string

func (w words) label(word string) string {
	if slices.Contains(w, word) {
		return word
	}
	return other
}

var (
	verdicts = words{string(v1alpha1.VerdictPass), string(v1alpha1.VerdictFail), string(v1alpha1.VerdictInconclusive), none}

	triggers = words{
		string(v1alpha1.TriggerNeverAudited), string(v1alpha1.TriggerSpecChanged), string(v1alpha1.TriggerBaselineChanged),
		string(v1alpha1.TriggerImageChanged), string(v1alpha1.TriggerRequested), string(v1alpha1.TriggerSuppressionExpired),
		string(v1alpha1.TriggerRetryDue), string(v1alpha1.TriggerRulesetChanged), string(v1alpha1.TriggerScheduleDue),
		string(v1alpha1.TriggerVerdictExpiring),
	}

	// readyReasons are those of the condition Ready.
	readyReasons = words{
		v1alpha1.ReasonPassed, v1alpha1.ReasonFindingsAboveThreshold, v1alpha1.ReasonScopeExceeded, v1alpha1.ReasonManifestDrifted,
		v1alpha1.ReasonAuditInconclusive, v1alpha1.ReasonImageUnresolvable, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNotAllowed, v1alpha1.ReasonSuspended,
		v1alpha1.ReasonPending, v1alpha1.ReasonQueued, v1alpha1.ReasonRunning, v1alpha1.ReasonCollecting,
	}

	// auditedReasons are those of the condition Audited, when it is False.
	auditedReasons = words{
		v1alpha1.ReasonImagePullFailed, v1alpha1.ReasonImageMismatch, v1alpha1.ReasonPodFailed, v1alpha1.ReasonUnschedulable,
		v1alpha1.ReasonEvicted, v1alpha1.ReasonNodeLost, v1alpha1.ReasonRunnerFailed, v1alpha1.ReasonOOMKilled, v1alpha1.ReasonTimeout,
		v1alpha1.ReasonServerExited, v1alpha1.ReasonNothingAdvertised, v1alpha1.ReasonNotExercised, v1alpha1.ReasonCodeFetched, v1alpha1.ReasonNotListening,
		v1alpha1.ReasonNotTraced, v1alpha1.ReasonUnreachable, v1alpha1.ReasonProtocolError, v1alpha1.ReasonTracerLost,
		v1alpha1.ReasonTracerUnavailable, v1alpha1.ReasonTraceOverflow, v1alpha1.ReasonCodeLoaded, v1alpha1.ReasonSandboxFailed, v1alpha1.ReasonRunNamespaceUnusable,
		v1alpha1.ReasonReportTruncated, v1alpha1.ReasonReportLost,
	}

	// statements are what becomes of the statement of a report.
	statements = words{"signed", "unsigned", "key_unusable", "none"}

	// driftReasons are those of ManifestStable, when it is False.
	driftReasons = words{v1alpha1.ReasonManifestDrifted, v1alpha1.ReasonBaselineMismatch}

	// verdictReasons are why a verdict is what it is.
	verdictReasons = slices.Concat(readyReasons, auditedReasons)
)
