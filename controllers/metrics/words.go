package metrics

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
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

	readyReasons = reasonsOf(v1alpha1.ConditionReady)

	// auditedReasons of the condition Audited, when it is False.
	auditedReasons = causes()

	// statements say what becomes of the statement of a report.
	statements = words{"signed", "unsigned", "key_unusable", "none"}

	// driftReasons of ManifestStable, when it is False.
	driftReasons = words(v1alpha1.ReasonsOf(v1alpha1.ConditionManifestStable).False)

	// verdictReasons explain a verdict.
	verdictReasons = slices.Concat(readyReasons, auditedReasons)
)

func reasonsOf(conditionType string) words {
	of := v1alpha1.ReasonsOf(conditionType)
	return slices.Concat(of.True, of.False, of.Unknown)
}

func causes() (all words) {
	for _, cause := range report.Causes {
		all = append(all, string(cause.Reason))
	}
	return all
}
