package trigger

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Failure is an Inconclusive verdict. The zero value is any other.
type Failure struct {
	// Reason of Audited.
	Reason string
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

// retried has all the reasons of Audited=False, with whether the next audit may well
// end otherwise though nobody did anything. What is a property of the server, or of
// what the spec asks for, stays: to audit again shows the same again.
var retried = map[string]func(Failure) bool{
	// The registry, the network.
	v1alpha1.ReasonImagePullFailed: yes,
	v1alpha1.ReasonUnreachable:     yes,
	// The node, or somebody with access to the run namespace. Another node, or the
	// same later, may do.
	v1alpha1.ReasonImageMismatch:        yes,
	v1alpha1.ReasonPodFailed:            yes,
	v1alpha1.ReasonUnschedulable:        yes,
	v1alpha1.ReasonNodeLost:             yes,
	v1alpha1.ReasonRunnerFailed:         yes,
	v1alpha1.ReasonSandboxFailed:        yes,
	v1alpha1.ReasonTracerUnavailable:    yes,
	v1alpha1.ReasonTracerLost:           yes,
	v1alpha1.ReasonRunNamespaceUnusable: yes,
	v1alpha1.ReasonReportLost:           yes,
	// A server that fills its disk has the evidence of what it did evicted with it.
	v1alpha1.ReasonEvicted: func(f Failure) bool { return !f.OverLimit },
	// A Pod that did not come to its end in time says nothing of the server; a
	// server that did not answer in time does.
	v1alpha1.ReasonTimeout: func(f Failure) bool { return !f.Reported },

	// The server.
	v1alpha1.ReasonOOMKilled:         no,
	v1alpha1.ReasonServerExited:      no,
	v1alpha1.ReasonNothingAdvertised: no,
	v1alpha1.ReasonNotListening:      no,
	v1alpha1.ReasonProtocolError:     no,
	v1alpha1.ReasonTraceOverflow:     no,
	v1alpha1.ReasonReportTruncated:   no,
	// What the spec asks for.
	v1alpha1.ReasonNotExercised: no, v1alpha1.ReasonCodeFetched: no,
	v1alpha1.ReasonCodeLoaded: no,
	v1alpha1.ReasonNotTraced:  no,
}

func yes(Failure) bool { return true }
func no(Failure) bool  { return false }

func retryDue(in Input) (time.Time, string) {
	f := in.Failure
	decide, known := retried[f.Reason]
	if !known || !decide(f) || f.Consecutive < 1 || f.Consecutive > f.Limit {
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
