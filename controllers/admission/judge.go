// Package admission is the gate's webhook. It reads the object under admission
// (controllers/subject), asks controllers/gate, and writes nothing while the API server waits.
// What it cannot decide is an error rather than an answer, so the webhook's failurePolicy
// decides.
package admission

import (
	"bytes"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
	"github.com/mcpaudit/mcpaudit/controllers/subject"
)

// judge decides a request. It is a pure function.
func judge(request *admissionv1.AdmissionRequest, facts gate.Facts) gate.Decision {
	update := request.Operation == admissionv1.Update
	if !update && request.Operation != admissionv1.Create {
		return gate.Decision{Allowed: true}
	}
	// A terminating object only needs its finalizers removed. Only the old object proves that
	// it is terminating: the new one is the client's claim.
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
		// An unreadable old object has nothing in common with the new one.
		if old, err := subject.Read(request.OldObject.Raw, kind, request.SubResource); err == nil {
			asked = subject.Changed(old, asked)
		}
	}
	asked.Namespace = request.Namespace
	if request.Name != "" {
		asked.Name = request.Name
	}
	// An unclear part of a server is never known to be unchanged.
	if len(asked.Containers) == 0 || update && sameSpec(request.OldObject.Raw, request.Object.Raw) {
		return gate.Decision{Allowed: true}
	}
	if err := gate.Judgeable(asked, facts); err != nil {
		return unreadable(request, facts, err, gate.Smaller)
	}
	return gate.Decide(asked, facts)
}

func beingDeleted(object []byte) bool {
	var metadata struct {
		Metadata struct {
			DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	return source.Decode(object, &metadata) == nil && !metadata.Metadata.DeletionTimestamp.IsZero()
}

// sameSpec reports whether two stored objects differ only in metadata and status.
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

// maxCause bounds a parser's error in a message, in bytes.
const maxCause = 200

// unreadable decides about objects that cannot be read or are too costly: they are denied in the
// mode of each policy.
func unreadable(request *admissionv1.AdmissionRequest, facts gate.Facts, cause error, remedy string) gate.Decision {
	decision := gate.Decision{Allowed: true}
	for _, policy := range gate.Denying(request.Namespace, target(request.Kind.Kind), facts) {
		sentence := fmt.Sprintf("%s %s cannot be judged: %s; %s (policy %s).",
			request.Kind.Kind, request.Name, excerpt.Line(cause.Error(), maxCause), remedy, policy.Ref.Name)
		decision.Opinions = append(decision.Opinions, gate.Opinion{Policy: policy, Reason: v1alpha1.GateUnreadable, Action: v1alpha1.ActionDeny, Sentence: sentence})
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

func target(kind string) v1alpha1.GateTarget {
	switch kind {
	case "Pod":
		return v1alpha1.TargetPods
	case "MCPServer":
		return v1alpha1.TargetMCPServers
	}
	return v1alpha1.TargetWorkloads
}
