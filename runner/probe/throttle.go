package probe

import (
	"context"
	"strconv"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// The bounds of the pauses of a session: their number, the length of one, and one part of the time that is left, of which
// a pause takes at most two.
const (
	mostPauses   = 2
	longestPause = 65 * time.Second
	pauseParts   = 3
)

// What a refusal says because of too many calls: that there were, and how many seconds to wait.
var (
	tooMany = lazyregexp.New(`(?i)\brate[- ]?limit|\btoo many (?:requests|calls)\b|\bquota\b|\bthrottl`)
	waitFor = lazyregexp.New(`(?i)\b(?:wait|retry|try again|again in|resets? in|after)\b[^.\n\d]{0,32}(\d{1,3}) ?(?:s|secs?|seconds?)\b`)
)

// pauseIn returns the pause that a refusal asks for; 0 for none.
func pauseIn(text string) time.Duration {
	match := waitFor.FindStringSubmatch(text)
	if match == nil || !tooMany.MatchString(text) {
		return 0
	}
	seconds, _ := strconv.Atoi(match[1]) // of digits: no error
	return time.Duration(seconds) * time.Second
}

// abide waits as long as a server asks for that counts its calls, because until then it refuses all of them: for a target
// that has shown nothing yet, and if that leaves time.
func (s *session) abide(ctx context.Context, t *target, text string) error {
	wait := pauseIn(text)
	left, bounded := s.budget.left()
	if wait == 0 || wait > longestPause || t.served() || s.pauses >= mostPauses || bounded && wait > left/pauseParts*2 {
		return nil
	}
	s.pauses++
	return s.pause(ctx, wait+time.Second)
}
