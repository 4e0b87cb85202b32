package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// emit hands a report to the manager by the only two ways out that an audit Pod has: a frame in
// the log has it whole, and the termination message a summary with its digest, without which the
// manager does not believe the frame. The file of that message exists already, with a mode that
// any uid may write; where it does not, the summary has nowhere to go.
func emit(log io.Writer, terminationLog string, r report.Report) error {
	encoded, err := report.Encode(r)
	if err != nil {
		return err
	}
	summary, err := report.Summarise(r, encoded).Encode()
	if err != nil {
		return err
	}
	if err := report.WriteFrame(log, encoded); err != nil {
		return err
	}
	if err := os.WriteFile(terminationLog, summary, 0o644); err != nil {
		return fmt.Errorf("write termination message: %w", err)
	}
	return nil
}
