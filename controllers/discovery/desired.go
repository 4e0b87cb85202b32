package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// desired returns what is applied: only the fields that the policy and the source decide. Other
// fields are free for others to set.
func desired(w wantedAudit) (*unstructured.Unstructured, error) {
	spec, err := fields(w.Outcome.Policy.Spec.Discovery.Template)
	if err != nil {
		return nil, err
	}
	if spec["server"], err = fields(w.Candidate.Server); err != nil {
		return nil, err
	}
	// Pinning is a person's approval of one manifest, and outranks a template.
	if w.Audit != nil && w.Audit.Spec.Baseline.Mode == v1alpha1.BaselinePinned {
		delete(spec, "baseline")
	}
	c := w.Candidate
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MCPServerAudit"))
	object.SetNamespace(w.Key.Namespace)
	object.SetName(w.Key.Name)
	object.SetLabels(map[string]string{LabelDiscoveredBy: w.Outcome.Policy.Name, LabelSourceKind: c.kindName()})
	annotations := map[string]string{annotationSourceName: c.Name}
	if len(c.Omitted) > 0 {
		annotations[annotationLeftOut] = strings.Join(c.Omitted, "; ")
	}
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: c.GVK.GroupVersion().String(), Kind: c.GVK.Kind, Name: c.Name, UID: c.UID, Controller: new(true),
	}})
	object.SetAnnotations(annotations)
	if annotations[annotationDigest], err = digest(object); err != nil {
		return nil, err
	}
	object.SetAnnotations(annotations)
	return object, nil
}

// fields returns the set fields of a value as JSON.
func fields(value any) (map[string]any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	decoded := &unstructured.Unstructured{}
	if err := json.Unmarshal(encoded, &decoded.Object); err != nil {
		return nil, fmt.Errorf("decode %T: %w", value, err)
	}
	return decoded.Object, nil
}

// digest is short: it only detects changes to what was applied.
func digest(object *unstructured.Unstructured) (string, error) {
	encoded, err := json.Marshal(object.Object)
	if err != nil {
		return "", fmt.Errorf("encode audit: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8]), nil
}

// applied reports whether an audit is as it was applied and as it should be: nothing was
// changed since, and nothing needs to go.
func applied(audit *v1alpha1.MCPServerAudit, want *unstructured.Unstructured) (bool, error) {
	if audit == nil || audit.Annotations[annotationDigest] != want.GetAnnotations()[annotationDigest] {
		return false, nil
	}
	have, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.MCPServerAudit{ObjectMeta: audit.ObjectMeta, Spec: audit.Spec})
	if err != nil {
		return false, fmt.Errorf("read audit: %w", err)
	}
	for _, part := range []string{"metadata", "spec"} {
		// Numbers on both sides must have the same type.
		wanted, err := fields(want.Object[part])
		if err != nil {
			return false, err
		}
		existing, err := fields(have[part])
		if err != nil || !contains(existing, wanted) {
			return false, err
		}
	}
	return true, nil
}

// contains reports whether have includes want. Lists that others may extend, keyed by name or
// UID, must include every wanted item; other lists must be equal.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range want {
			if !contains(have[key], value) {
				return false
			}
		}
		return true
	case []any:
		have, ok := have.([]any)
		if !ok {
			return false
		}
		return reflect.DeepEqual(have, want) || keyed(have, want)
	}
	return reflect.DeepEqual(have, want)
}

// keyed compares lists of objects by the key that the API merges them by.
func keyed(have, want []any) bool {
	index := map[any]any{}
	for _, item := range have {
		index[keyIn(item)] = item
	}
	for _, item := range want {
		key := keyIn(item)
		if key == nil || !contains(index[key], item) {
			return false
		}
	}
	return true
}

func keyIn(item any) any {
	object, ok := item.(map[string]any)
	if !ok {
		return nil
	}
	if uid, ok := object["uid"]; ok {
		return uid
	}
	return object["name"]
}
