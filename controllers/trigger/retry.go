package trigger

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Failure is an Inconclusive verdict. The zero value is any other.
type Failure struct {
	// Reason of Audited.
	Reason report.Reason
	// Reported: it is the runner that gave it, and so what it saw of the server.
	Reported bool
	// OverLimit: the Pod was evicted because it wrote more than it may.
	OverLimit bool
	// Consecutive is how many audits in a row were Inconclusive, this one included.
	Consecutive int32
	// Limit is how many of them are made again.
	Limit int32
}

// The pause before a retry. It doubles with each.
const (
	minPause = 5 * time.Minute
	maxPause = 6 * time.Hour
)

// retried reports whether the next audit may end otherwise although nobody did anything.
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

// pause is the one before the nth retry.
func pause(n int32) time.Duration {
	p := minPause
	for ; n > 1 && p < maxPause; n-- {
		p *= 2
	}
	return min(p, maxPause)
}
