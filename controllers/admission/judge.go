// Package admission answers the API server, which asks whether an object may be
// created or changed: the webhook of the gate. It reads the object
// (controllers/subject), asks controllers/gate, and writes nothing while the API
// server waits. What it cannot decide is an error and no answer, so that failurePolicy
// of the webhook decides.
package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/subject"
)

// judge decides a request. It is pure.
func judge(request *admissionv1.AdmissionRequest, facts gate.Facts) gate.Decision {
	update := request.Operation == admissionv1.Update
	if !update && request.Operation != admissionv1.Create {
		return gate.Decision{Allowed: true}
	}
	// An object that is on its way out only has to get rid of its finalizers. Only the
	// old object tells it for sure: the new one says what somebody sent.
	if update && beingDeleted(request.OldObject.Raw) {
		return gate.Decision{Allowed: true}
	}
	kind := schema.GroupVersionKind(request.Kind)
	asked, err := subject.Read(request.Object.Raw, kind, request.SubResource)
	if err != nil {
		if update && sameSpec(request.OldObject.Raw, request.Object.Raw) {
			return gate.Decision{Allowed: true}
		}
		return unreadable(request, facts, err, "write it such that it can be read")
	}
	if update {
		// An old object that cannot be read has nothing in common with the new one.
		if old, err := subject.Read(request.OldObject.Raw, kind, request.SubResource); err == nil {
			asked = subject.Changed(old, asked)
		}
	}
	asked.Namespace = request.Namespace
	if request.Name != "" {
		asked.Name = request.Name
	}
	// What of a server is unclear is never known to be unchanged by itself.
	if len(asked.Containers) == 0 || update && sameSpec(request.OldObject.Raw, request.Object.Raw) {
		return gate.Decision{Allowed: true}
	}
	if err := judgeable(asked, facts); err != nil {
		return unreadable(request, facts, err, "make several objects of it, or have fewer policies")
	}
	return gate.Decide(asked, facts)
}

// maxOpinions is how many opinions of policies on containers are formed within the time
// that the API server waits, and in little memory, and maxReads how many verdicts are read.
const (
	maxOpinions = 20_000
	maxReads    = 1_000_000
)

// judgeable keeps who may write policies, but not those of the cluster, from having so
// many asked about so many containers that the API server waits for it no longer, and
// failurePolicy admits what a policy of the cluster denies.
func judgeable(asked gate.Subject, facts gate.Facts) error {
	policies := 0
	for _, policy := range facts.Policies {
		if policy.Selects(asked.Namespace, facts) {
			policies++
		}
	}
	if containers := len(asked.Containers); containers*policies > maxOpinions {
		return fmt.Errorf("it has %d containers for %d policies to judge, which are too many", containers, policies)
	}
	if verdicts := gate.Cost(asked, facts); verdicts*policies > maxReads {
		return fmt.Errorf("its images have %d audits for %d policies to read, which are too many", verdicts, policies)
	}
	return nil
}

func beingDeleted(object []byte) bool {
	var metadata struct {
		Metadata struct {
			DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	return json.Unmarshal(object, &metadata) == nil && !metadata.Metadata.DeletionTimestamp.IsZero()
}

// sameSpec reports whether two objects, as the API server wrote both, differ in nothing
// but their metadata and status.
func sameSpec(a, b []byte) bool {
	strip := func(object []byte) ([]byte, error) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(object, &fields); err != nil {
			return nil, err
		}
		delete(fields, "metadata")
		delete(fields, "status")
		return json.Marshal(fields)
	}
	left, err := strip(a)
	if err != nil {
		return false
	}
	right, err := strip(b)
	return err == nil && bytes.Equal(left, right)
}

// maxCause is how much of a parser's error a sentence has.
const maxCause = 200

// unreadable decides about what cannot be read, or is too much: it might be anything, so
// every policy of the namespace that looks at such objects denies it, as far as its mode goes.
func unreadable(request *admissionv1.AdmissionRequest, facts gate.Facts, cause error, remedy string) gate.Decision {
	decision := gate.Decision{Allowed: true}
	for _, policy := range facts.Policies {
		targets := policy.Gate.Targets
		if !policy.Selects(request.Namespace, facts) || len(targets) > 0 && !slices.Contains(targets, target(request.Kind.Kind)) {
			continue
		}
		sentence := fmt.Sprintf("%s %s cannot be judged: %s; %s (policy %s).",
			request.Kind.Kind, request.Name, excerpt.Line(cause.Error(), maxCause), remedy, policy.Ref.Name)
		decision.Opinions = append(decision.Opinions, gate.Opinion{Policy: policy, Reason: reasonUnreadable, Action: v1alpha1.ActionDeny, Sentence: sentence})
		switch policy.Gate.Mode {
		case v1alpha1.GateAudit:
		case v1alpha1.GateWarn:
			decision.Warnings = append(decision.Warnings, excerpt.Line(sentence, maxWarning))
		default:
			if decision.Allowed {
				decision.Allowed, decision.Message = false, sentence
			}
		}
	}
	return decision
}

// reasonUnreadable is for the metric and the audit log. No status has it.
const reasonUnreadable v1alpha1.GateReason = "Unreadable"

func target(kind string) v1alpha1.GateTarget {
	switch kind {
	case "Pod":
		return v1alpha1.TargetPods
	case "MCPServer":
		return v1alpha1.TargetMCPServers
	}
	return v1alpha1.TargetWorkloads
}
