package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// emit hands a report to the manager by an audit Pod's only two outputs: the log contains it in
// a frame, and the termination message a summary with its digest, without which the manager
// rejects the frame. The message's file must already exist, with a mode that lets any uid
// write.
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
