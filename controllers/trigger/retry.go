package trigger

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Failure describes an Inconclusive verdict. The zero value is for others.
type Failure struct {
	// Reason of Audited.
	Reason report.Reason
	// Reported means that the runner gave the reason, from observing the server.
	Reported bool
	// OverLimit means that the Pod was evicted for exceeding its own limit.
	OverLimit bool
	// Consecutive is the number of Inconclusive audits in a row, including this one.
	Consecutive int32
	// Limit is the number of retries.
	Limit int32
}

// The interval before a retry, doubled each time.
const (
	minPause = 5 * time.Minute
	maxPause = 6 * time.Hour
)

// retried reports whether the next audit may differ without anybody's action.
func (f Failure) retried() bool {
	cause, _ := report.CauseOf(f.Reason)
	switch cause.Retry {
	case report.RetryAlways:
		return true
	case report.RetryUnlessReported:
		return !f.Reported
	case report.RetryUnlessOverLimit:
		return !f.OverLimit
	}
	return false
}

func retryDue(in Input) (time.Time, string) {
	f := in.Failure
	if !f.retried() || f.Consecutive < 1 || f.Consecutive > f.Limit {
		return time.Time{}, ""
	}
	at := in.Audited.Add(pause(f.Consecutive)).Truncate(time.Second)
	return at, fmt.Sprintf("the last audit ended with %s, which may have passed; this is retry %d of %d", f.Reason, f.Consecutive, f.Limit)
}

// pause returns the interval before the nth retry.
func pause(n int32) time.Duration {
	p := minPause
	for ; n > 1 && p < maxPause; n-- {
		p *= 2
	}
	return min(p, maxPause)
}
