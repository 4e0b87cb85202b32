package report

import (
	"encoding/json"
	"time"
)

// Time is a time.Time that JSON has in UTC and in microseconds, the precision of Kubernetes.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=date-time
type Time struct {
	time.Time `json:"-"`
}

// At returns a time as a report has it after a round trip.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// MarshalJSON implements json.Marshaler. It never returns null, as a report always has its
// times.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(At(t.Time).Time) }

// DeepCopyInto copies a time.
func (t *Time) DeepCopyInto(out *Time) { *out = *t }
