package report

import (
	"encoding/json"
	"fmt"
)

// +kubebuilder:object:generate=false

// Summary is the termination message of the runner, which the kubelet cuts at 4096 bytes: the
// outcome, and the digest of the report in the log.
type Summary struct {
	SchemaVersion  string    `json:"schemaVersion"`
	Verdict        Verdict   `json:"verdict"`
	Reason         Reason    `json:"reason"`
	Message        string    `json:"message"`
	ManifestDigest string    `json:"manifestDigest,omitempty"`
	Counts         Counts    `json:"counts"`
	Coverage       Coverage  `json:"coverage"`
	Runner         Component `json:"runner"`
	Tracer         Component `json:"tracer"`
	// SHA256 is the hex digest of the encoded report, Bytes its length.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// Summarise makes the summary of a report and its encoding.
func Summarise(r Report, encoded []byte) Summary {
	return Summary{
		SchemaVersion: SchemaVersion, Verdict: r.Verdict, Reason: r.Reason, Message: r.Message,
		ManifestDigest: r.ManifestDigest, Counts: Count(r.Findings), Coverage: r.Coverage,
		Runner: r.Runner, Tracer: r.Tracer, SHA256: Sum(encoded), Bytes: len(encoded),
	}
}

// Encode returns the summary as one line of at most 3 KiB. It cuts a longer message.
func (s Summary) Encode() ([]byte, error) {
	s.Message = Cut(s.Message, maxSummaryReason)
	encoded, err := json.Marshal(s)
	if err == nil && len(encoded) > maxSummaryBytes {
		s.Message = Cut(s.Message, maxSummaryReason/6) // a byte of it takes up to six
		encoded, err = json.Marshal(s)
	}
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	if len(encoded) > maxSummaryBytes {
		return nil, fmt.Errorf("encode summary: %d bytes, more than the %d allowed", len(encoded), maxSummaryBytes)
	}
	return encoded, nil
}

// DecodeSummary parses a termination message. It accepts only a whole summary of this schema
// version.
func DecodeSummary(message []byte) (Summary, error) {
	var s Summary
	if err := json.Unmarshal(message, &s); err != nil {
		return Summary{}, fmt.Errorf("decode summary: %w", err)
	}
	if s.SchemaVersion != SchemaVersion {
		return Summary{}, fmt.Errorf("decode summary: schemaVersion %q, want %q", s.SchemaVersion, SchemaVersion)
	}
	if !isSum(s.SHA256) {
		return Summary{}, fmt.Errorf("decode summary: sha256 %q is no digest", s.SHA256)
	}
	return s, nil
}
