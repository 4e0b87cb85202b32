package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Encode returns the report as capped and normalised JSON, so that equal reports have equal
// digests.
func Encode(r Report) ([]byte, error) {
	r.SchemaVersion = SchemaVersion
	r.Cap()
	r.Normalise()
	encoded, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return encoded, nil
}

// Decode parses the output of Encode. It refuses another schema version, trailing bytes and
// more than MaxBytes. It ignores unknown fields, which a newer runner may write.
func Decode(encoded []byte) (Report, error) {
	if len(encoded) > MaxBytes {
		return Report{}, fmt.Errorf("decode report: %d bytes, more than the %d allowed", len(encoded), MaxBytes)
	}
	var r Report
	if err := json.Unmarshal(encoded, &r); err != nil {
		return Report{}, fmt.Errorf("decode report: %w", err)
	}
	if r.SchemaVersion != SchemaVersion {
		return Report{}, fmt.Errorf("decode report: schemaVersion %q, want %q", r.SchemaVersion, SchemaVersion)
	}
	return r, nil
}

// Sum returns the hex SHA-256 that ties a report to its Summary.
func Sum(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

func isSum(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// IsDigest reports whether a text is "sha256:" and 64 lower-case hex digits.
func IsDigest(text string) bool {
	hex, ok := strings.CutPrefix(text, "sha256:")
	return ok && isSum(hex)
}
