package drift

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Bounds of a policy's events: at most eachEvents individual ones in a window; the rest is
// summed up in two events, and later changes wait for the next window.
const (
	eachEvents = 10
	window     = time.Minute
)

// eventLog tracks what a policy's events have reported.
type eventLog struct {
	// begun is set once the status from before this process was read.
	begun bool
	// violating has the places reported as violations.
	violating map[place]bool
	// since is the start of the window, used its number of events.
	since time.Time
	used  int
}

type pendingEvents struct {
	began, ended []place
	// whole means an event for each; else they are summed up.
	whole bool
	// again is when more events are allowed; zero for never.
	again time.Time
}

// resume initialises the log from the status once after a start, so a new leader repeats no
// event. If the status is truncated, nothing counts as new in the first pass.
func (t *eventLog) resume(before *v1alpha1.GateStatus, places map[place]*group) {
	if t.begun {
		return
	}
	t.begun, t.violating = true, map[place]bool{}
	if before == nil {
		return
	}
	var listed int32
	for _, v := range before.Running {
		t.violating[place{v.Namespace, v.Owner, v.Container}] = true
		listed += v.Pods
	}
	if listed < before.Violating {
		for at := range places {
			t.violating[at] = true
		}
	}
}

// next returns the due events and counts them as written.
func (t *eventLog) next(places map[place]*group, now time.Time) pendingEvents {
	var s pendingEvents
	for at := range places {
		if !t.violating[at] {
			s.began = append(s.began, at)
		}
	}
	for at := range t.violating {
		if places[at] == nil {
			s.ended = append(s.ended, at)
		}
	}
	many := len(s.began) + len(s.ended)
	if many == 0 {
		return pendingEvents{}
	}
	if now.Sub(t.since) >= window {
		t.since, t.used = now, 0
	}
	switch {
	case t.used+many <= eachEvents:
		s.whole = true
		t.used += many
	case t.used > eachEvents:
		return pendingEvents{again: t.since.Add(window)}
	default:
		t.used = eachEvents + 1
	}
	slices.SortFunc(s.began, comparePlaces)
	slices.SortFunc(s.ended, comparePlaces)
	t.violating = make(map[place]bool, len(places))
	for at := range places {
		t.violating[at] = true
	}
	return s
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.owner, b.owner), cmp.Compare(a.container, b.container))
}

func (p place) String() string {
	return fmt.Sprintf("container %s of %s in %s", p.container, p.owner, p.namespace)
}
