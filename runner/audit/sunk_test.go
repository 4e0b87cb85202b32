package audit

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestSunk: URLs stand only where the sinkhole answers all connections.
func TestSunk(t *testing.T) {
	for network, want := range map[report.Network]bool{report.NetworkSinkhole: true, report.NetworkDeny: false, report.NetworkAllow: false} {
		if got := (Plan{Network: network}).options(launch{}).Inputs.Sunk; got != want {
			t.Errorf("%s: %t, want %t", network, got, want)
		}
	}
}
