package admission

import (
	"bytes"
	"encoding/json"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
)

// refuse decides a request that cannot be read whole from its beginning, like any unreadable
// object. An error would leave the decision to failurePolicy, and authors could get an object
// admitted unread by making it large: the API server escapes "<" in six bytes. The answer is
// nil if this is not the beginning of a request.
func (h *Handler) refuse(beginning []byte, why error, remedy string) *admissionv1.AdmissionReview {
	request := header(beginning)
	if request == nil {
		return nil
	}
	begin := h.Clock.Now()
	decision := unreadable(request, h.Index.Facts(begin), why, remedy)
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		decision.Opinions, decision.Allowed = nil, true
	}
	h.count(decision, h.Clock.Since(begin))
	return reviewOf(answer(request.UID, decision))
}

// header reads the request fields that the API server writes before the objects; nil if this is
// no request.
func header(beginning []byte) *admissionv1.AdmissionRequest {
	decoder := json.NewDecoder(bytes.NewReader(beginning))
	version, request := "", &admissionv1.AdmissionRequest{}
	isRequest := opens(decoder) && fields(decoder, map[string]any{"apiVersion": &version}, "request") &&
		opens(decoder) && fields(decoder, map[string]any{
		"uid": &request.UID, "kind": &request.Kind, "subResource": &request.SubResource,
		"name": &request.Name, "namespace": &request.Namespace, "operation": &request.Operation,
	}, "object", "oldObject")
	if !isRequest || request.UID == "" || version != admissionv1.SchemeGroupVersion.String() {
		return nil
	}
	return request
}

// opens reads the opening of a JSON object.
func opens(decoder *json.Decoder) bool {
	token, err := decoder.Token()
	return err == nil && token == json.Delim('{')
}

// fields reads the fields of an object up to one in end, and reports whether one was found.
func fields(decoder *json.Decoder, into map[string]any, end ...string) bool {
	for {
		token, err := decoder.Token()
		key, isKey := token.(string)
		switch {
		case err != nil, !isKey:
			return false
		case slices.Contains(end, key):
			return true
		}
		field := into[key]
		if field == nil {
			field = new(json.RawMessage)
		}
		if decoder.Decode(field) != nil {
			return false
		}
	}
}
