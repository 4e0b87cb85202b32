package v1alpha1

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Timestamp is a metav1.MicroTime that reads any RFC 3339 time: MicroTime alone
// wants exactly six digits of a second, and the report of a runner has as many
// as it needs.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=date-time
type Timestamp struct {
	metav1.MicroTime `json:"-"`
}

// NewTimestamp wraps a time.
func NewTimestamp(t time.Time) Timestamp { return Timestamp{metav1.NewMicroTime(t)} }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Timestamp) UnmarshalJSON(encoded []byte) error {
	var parsed time.Time
	if err := json.Unmarshal(encoded, &parsed); err != nil {
		return fmt.Errorf("read timestamp: %w", err)
	}
	t.Time = parsed.UTC()
	return nil
}

// MarshalJSON implements json.Marshaler. Unlike MicroTime it has no null: the
// fields of a report are never absent.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format(metav1.RFC3339Micro))
}
