package admission

import (
	"fmt"
	"net/http"
	"path"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// The bounds of an answer in bytes. The API server cuts warnings at 256 bytes each and 4096 in
// all.
const (
	maxWarning    = 256
	maxWarnings   = 10
	maxMessage    = 2048
	maxAnnotation = 512
)

// The values of a decision in the metric and the audit log.
const (
	denied    = "denied"
	warned    = "warned"
	audited   = "audited"
	allowed   = "allowed"
	unmatched = "unmatched"
)

// weigh returns a decision in one word and the opinion behind it; nil if no policy applies.
func weigh(decision gate.Decision) (string, *gate.Opinion) {
	words := []string{unmatched, allowed, audited, warned, denied}
	most, on := 0, (*gate.Opinion)(nil)
	for i := range decision.Opinions {
		opinion := &decision.Opinions[i]
		if weight := weight(opinion); weight > most || weight == most && on.Reason == v1alpha1.GatePassed && opinion.Reason != v1alpha1.GatePassed {
			most, on = weight, opinion
		}
	}
	if !decision.Allowed {
		return denied, on
	}
	return words[most], on
}

// weight ranks an opinion among the decision words.
func weight(opinion *gate.Opinion) int {
	mode := opinion.Policy.Gate.Mode
	switch {
	case opinion.Action == v1alpha1.ActionAllow || opinion.Action == "":
		return 1
	case mode == v1alpha1.GateAudit:
		return 2
	case mode == v1alpha1.GateWarn || opinion.Action == v1alpha1.ActionWarn:
		return 3
	}
	return 4
}

// answer converts a decision into an AdmissionResponse.
func answer(uid types.UID, decision gate.Decision) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{
		UID: uid, Allowed: decision.Allowed, Warnings: warnings(decision.Warnings), AuditAnnotations: annotations(decision),
	}
	if !decision.Allowed {
		response.Result = &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: excerpt.Line(decision.Message, maxMessage),
		}
	}
	return response
}

func warnings(all []string) []string {
	var some []string
	for i, warning := range all {
		if i == maxWarnings-1 && len(all) > maxWarnings {
			return append(some, fmt.Sprintf("%d more warnings of the gate are left out.", len(all)-i))
		}
		some = append(some, excerpt.Line(warning, maxWarning))
	}
	return some
}

// annotations go to the API server's audit log, which prefixes each key with the webhook's
// name: gate.mcpaudit.dev/decision.
func annotations(decision gate.Decision) map[string]string {
	word, on := weigh(decision)
	if on == nil {
		return nil
	}
	all := map[string]string{
		"decision": word, "reason": string(on.Reason), "message": on.Sentence,
		"policy":   path.Join(on.Policy.Ref.Kind, on.Policy.Namespace, on.Policy.Ref.Name),
		"opinions": strconv.Itoa(len(decision.Opinions)),
	}
	if on.Verdict != nil {
		all["audit"] = on.Verdict.Audit.String()
	}
	if on.Exception != nil {
		all["exception"] = on.Exception.String() + " (" + on.Exception.Ticket + ")"
	}
	for key, value := range all {
		all[key] = excerpt.Line(value, maxAnnotation)
	}
	return all
}
