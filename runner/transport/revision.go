package transport

import "slices"

// Revision has what differs for a client between MCP's revisions.
type Revision struct {
	// Date names the revision, such as "2025-11-25".
	Date string
	// Batches: a message may be an array of messages (basic/index, "batching").
	Batches bool
	// Header: requests over HTTP name the revision in MCP-Protocol-Version.
	Header bool
	// Tasks: tools may be called as tasks (basic/utilities/tasks).
	Tasks bool
	// Stateless: server/discover in place of the initialize handshake, no sessions, and no
	// resumption of streams.
	Stateless bool
}

// Revisions has every revision, the oldest first.
var Revisions = []Revision{
	{Date: "2024-11-05"},
	{Date: "2025-03-26", Batches: true},
	{Date: "2025-06-18", Header: true},
	{Date: "2025-11-25", Header: true, Tasks: true},
	{Date: "2026-07-28", Header: true, Stateless: true},
}

// RevisionOf returns the row of a date. An unknown one, or none, has no feature.
func RevisionOf(date string) Revision {
	if i := slices.IndexFunc(Revisions, func(r Revision) bool { return r.Date == date }); i >= 0 {
		return Revisions[i]
	}
	return Revision{}
}
