package attack

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// leastKept is how long a text is that is taken for the same where it turns up elsewhere.
const leastKept = 3

// Uses reports whether another capability has started a program with a text of a target's honest call, or
// touched a file of that name: one keeps what the other uses.
func (p Plan) Uses(other, t Target) bool {
	seen := p.Seen[other.Of]
	if len(seen.Started)+len(seen.Files) == 0 {
		return false
	}
	own := texts(other)
	return slices.ContainsFunc(texts(t), func(value string) bool {
		return !slices.Contains(own, value) && !p.Seen[t.Of].shows(value) && seen.shows(value)
	})
}

// shows reports whether a text is in the words of a program that was started, or names a file that was touched.
func (s Seen) shows(value string) bool {
	return slices.ContainsFunc(s.Started, func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, value) })
	}) || slices.ContainsFunc(s.Files, func(file string) bool {
		return strings.HasSuffix(file, "/"+value) || strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), "/"+value)
	})
}

// texts are those of a target's honest call that are long enough to be told from others.
func texts(t Target) (all []string) {
	walk(inputs.Decode(t.Honest), "", nil, func(f field) {
		if f.text && len(f.value) >= leastKept {
			all = append(all, f.value)
		}
	})
	return all
}

// seenOf is what a target has done, and those that use what it keeps.
func (p Plan) seenOf(t Target) Seen {
	seen := p.Seen[t.Of]
	for _, user := range t.Users {
		more := p.Seen[user]
		seen.Programs = seen.Programs || more.Programs
		seen.Started, seen.Files = slices.Concat(seen.Started, more.Started), slices.Concat(seen.Files, more.Files)
	}
	return seen
}

// Using is the capability that an attempt shows itself in, of some.
func (a Attempt) Using(of report.Capability) bool { return a.Of == of || slices.Contains(a.Users, of) }
