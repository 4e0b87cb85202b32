package sinkhole

// unsuspected is how often a caller may get the same answer in one call before it is taken for one that polls.
const unsuspected = 2

// finished are the words by which services say that a job has ended. A caller that polls gets them in turn, for it goes on
// polling at one that it does not know.
var finished = []string{"completed", "succeeded", "done", "finished", "ready", "COMPLETED", "SUCCEEDED"}

// polled counts a request within a call, and returns the status for a caller that polls; "" for any other. The mutex is held.
func (a *answers) polled(request uint64) string {
	if _, known := a.polls[request]; !known && len(a.polls) >= maxKinds {
		return ""
	}
	a.polls[request]++
	if again := a.polls[request] - unsuspected; again > 0 {
		return finished[(again-1)%len(finished)]
	}
	return ""
}

// finish writes the status of a job that has ended into an answer, at its top and in what it wraps.
func finish(document any, status string) {
	o, is := document.(map[string]any)
	if !is || status == "" {
		return
	}
	for _, key := range []string{"status", "state"} {
		if _, text := o[key].(string); text {
			o[key] = status
		}
	}
	for _, key := range []string{"data", "result", "response", "job", "task"} {
		finish(o[key], status)
	}
}
