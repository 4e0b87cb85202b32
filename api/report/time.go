package report

import (
	"encoding/json"
	"time"
)

// Time is a time.Time that is written in UTC with at most six digits of a second, which
// is as much as Kubernetes keeps of one.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=date-time
type Time struct {
	time.Time `json:"-"`
}

// At returns a time in the form that a report has after a round trip.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// MarshalJSON implements json.Marshaler. It has no null: a report always has its times.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(At(t.Time).Time) }

// DeepCopyInto copies a time, which holds nothing that can change.
func (t *Time) DeepCopyInto(out *Time) { *out = *t }
