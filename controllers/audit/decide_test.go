package audit

import (
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestUntils: an audit in the second in which a suppression ends was after its end, as far as
// the times of a status can say.
func TestUntils(t *testing.T) {
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, until := range []time.Time{end, end.Add(-time.Microsecond), end.Add(-999 * time.Millisecond)} {
		if got := untils([]report.Suppression{{Until: report.At(until)}}); !got[0].Equal(end) {
			t.Errorf("%s ends at %s, want %s", until, got[0], end)
		}
	}
}
