package result

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Convert turns a report into the API's form of it. The two have the same JSON;
// a field that only one of them knows is an error.
func Convert(r report.Report) (v1alpha1.AuditResult, error) {
	r.Normalise()
	var converted v1alpha1.AuditResult
	if err := strictly(r, &converted); err != nil {
		return v1alpha1.AuditResult{}, fmt.Errorf("convert report: %w", err)
	}
	return converted, nil
}

// Report reads a stored report, to compare another with it.
func Report(stored v1alpha1.AuditResult) (report.Report, error) {
	var r report.Report
	if err := strictly(stored, &r); err != nil {
		return report.Report{}, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

func strictly(from, to any) error {
	encoded, err := json.Marshal(from)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}
