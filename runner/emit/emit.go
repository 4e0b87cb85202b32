// Package emit hands the report of an audit Pod to the manager, by the only two
// ways out that the Pod has: the container's log carries the whole report in a
// frame, and the termination message its summary with the digest of the report.
// The manager believes a frame only if that digest matches.
package emit

import (
	"fmt"
	"io"
	"os"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Report writes the frame to log and the summary to the file that the kubelet
// reads when the container has ended. The file exists already, with a mode that
// any uid may write; where it does not, the summary has nowhere to go.
func Report(log io.Writer, terminationLog string, r report.Report) error {
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
