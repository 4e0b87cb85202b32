package metrics

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// other replaces every word that is not in a closed list. Most words are constants; some come
// from the runner, which an audited server might take over, and must not create time series.
const other = "other"

// none is the verdict of an audit without one.
const none = "None"

// words is a closed list of label values.
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

	// auditedReasons lists the reasons of Audited=False.
	auditedReasons = causes()

	// statements are the outcomes of a report's statement.
	statements = words{"signed", "unsigned", "key_unusable", "none"}

	// driftReasons lists the reasons of ManifestStable=False.
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
