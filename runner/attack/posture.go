package attack

import (
	"strconv"
	"strings"
)

// Posture describes the answers of a listening server to requests that did not come from its client.
type Posture struct {
	// Origin is that of a web page of another site that was answered, "" for none; How describes the request.
	Origin, How string
	// Sessions are the ids of sessions, in the order in which they began. Unissued is an id that the server has never
	// issued and accepted, though it refuses requests without one.
	Sessions []string
	Unissued string
	// Evaded describes a request without a token that began a session or listed the tools, though the endpoint demands one.
	Evaded string
	// Ended is the request at which the server's process ended.
	Ended string
}

// Ways in which a page may be answered.
const (
	Rebound  = "with the Host and the Origin of another site"
	Readable = "with the Origin of another site, and let the page read the answer (Access-Control-Allow-Origin)"
	Blind    = "with the Origin of another site, in a form that browsers send without asking first (text/plain)"
)

const (
	// nearSessions bounds the distance of consecutive ids that are counts or times. Random ones are hardly ever so near.
	nearSessions = 10_000
	// LeastSessions is the number of ids that show this.
	LeastSessions = 3
)

// Guessable reports whether each id differs from the previous one only by a number that has grown a little.
func (p Posture) Guessable() bool {
	if len(p.Sessions) < LeastSessions {
		return false
	}
	for i, later := range p.Sessions[1:] {
		a, b := counts(p.Sessions[i], later)
		if b <= a || b-a > nearSessions {
			return false
		}
	}
	return true
}

// counts returns the numbers that two ids differ in; 0, 0 if they differ in anything else.
func counts(a, b string) (from, to uint64) {
	begin := 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	begin = len(strings.TrimRight(a[:begin], digits))
	a, b = a[begin:], b[begin:]
	endA, endB := len(a)-len(strings.TrimLeft(a, digits)), len(b)-len(strings.TrimLeft(b, digits))
	if a[endA:] != b[endB:] {
		return 0, 0
	}
	from, errFrom := strconv.ParseUint(a[:endA], 10, 63)
	to, errTo := strconv.ParseUint(b[:endB], 10, 63)
	if errFrom != nil || errTo != nil {
		return 0, 0
	}
	return from, to
}

const digits = "0123456789"
