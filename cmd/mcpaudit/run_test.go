package main

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestS13WarningForRoot: only whoever gives a server the network as root is warned.
func TestS13WarningForRoot(t *testing.T) {
	for _, network := range []report.Network{report.NetworkAllow, report.NetworkSinkhole, report.NetworkDeny} {
		for _, uid := range []int{0, 1000} {
			said := warning(network, uid)
			if want := network == report.NetworkAllow && uid == 0; strings.HasPrefix(said, "mcpaudit: warning: as root") != want || (said == "") == want {
				t.Errorf("%s as %d: %q", network, uid, said)
			}
		}
	}
}
