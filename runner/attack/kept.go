package attack

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// leastKept is the least length of a text that is recognized elsewhere, in bytes.
const leastKept = 3

// Uses reports whether another capability uses what the target stores: it has started a program with a text of the
// target's honest call, or touched a file of that name.
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

// Shares returns the arguments of a user's honest call with the texts of the target's call that have the same names,
// except the attacked field: what is stored under an id is used under it. false if both have none, or the target has no
// other text.
func Shares(user, target json.RawMessage, attacked string) (json.RawMessage, bool) {
	kept, shared := map[string]string{}, 0
	walk(inputs.Decode(target), "", nil, func(f field) {
		if name, named := f.key(); named && f.name != attacked {
			kept[name] = f.value
		}
	})
	walk(inputs.Decode(user), "", nil, func(f field) {
		name, named := f.key()
		value, also := kept[name]
		if changed, ok := f.set(user, value); named && also && ok {
			user, shared = changed, shared+1
		}
	})
	return user, shared > 0 && (attacked != "" || shared < len(kept))
}

// Follows returns the arguments of a user's honest call with the name of its file replaced by the one that the target's
// call has given to something in the same directory, perhaps a link. false if there is none besides the attacked field.
func (p Plan) Follows(user, t Target, attacked string) (json.RawMessage, bool) {
	named := fieldsOf(t, p.Seen[t.Of], p.Dirs)
	for _, u := range fieldsOf(user, p.Seen[user.Of], p.Dirs) {
		if u.dir == "" || !u.text {
			continue
		}
		for _, f := range named {
			if _, isKey := f.key(); isKey && f.name != attacked && f.dir == u.dir && bare.MatchString(f.value) {
				return u.set(user.Honest, f.value)
			}
		}
	}
	return nil, false
}

// key returns the key of a text in an object; false for other fields.
func (f field) key() (string, bool) {
	name, isKey := f.steps[len(f.steps)-1].(string)
	return name, isKey && f.text && !f.item
}

// shows reports whether a program was started with a text, or a file of that name was touched.
func (s Seen) shows(value string) bool {
	return slices.ContainsFunc(s.Started, func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, value) })
	}) || slices.ContainsFunc(s.Files, func(file string) bool {
		return strings.HasSuffix(file, "/"+value) || strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), "/"+value)
	})
}

// Reached rates how far a call came, even if it was refused in the end: by the length of the texts that turned up in
// programs, files or hosts, and less for each that did not.
func (s Seen) Reached(arguments json.RawMessage) (rate int) {
	all := texts(Target{Honest: arguments})
	for _, value := range all {
		part := slices.ContainsFunc(all, func(other string) bool { return other != value && strings.Contains(other, value) })
		named := slices.ContainsFunc(s.Hosts, func(host string) bool { return strings.Contains(value, host) })
		_, mentioned := s.mentions(value)
		if !part && (named || mentioned > 0 || s.shows(value)) { // else what shows may be the other
			rate += len(value)
		} else {
			rate--
		}
	}
	return rate
}

// texts returns the texts of a target's honest call that are long enough to be recognized.
func texts(t Target) (all []string) {
	walk(inputs.Decode(t.Honest), "", nil, func(f field) {
		if f.text && len(f.value) >= leastKept {
			all = append(all, f.value)
		}
	})
	return all
}

// databasePorts are the ports of PostgreSQL, MySQL, SQL Server, Oracle and MongoDB.
var databasePorts = []int{5432, 3306, 1433, 1521, mongoPort}

// seenOf returns what a target and the users of what it stores did. A database that the server opened outside of
// calls counts for all its capabilities.
func (p Plan) seenOf(t Target) Seen {
	seen, own := p.Seen[t.Of], p.Seen[report.Capability{Kind: report.CapabilityServer}]
	seen.Database = seen.Database || own.Database
	for _, port := range own.Ports {
		if slices.Contains(databasePorts, port) {
			seen.Database, seen.Ports = true, append(slices.Clip(seen.Ports), port)
		}
	}
	for _, user := range t.Users {
		more := p.Seen[user]
		seen.Programs = seen.Programs || more.Programs
		seen.Started = slices.Concat(seen.Started, more.Started)
		seen.Files, seen.Listed = slices.Concat(seen.Files, more.Files), slices.Concat(seen.Listed, more.Listed)
	}
	return seen
}

// Using reports whether an attempt can have effects in a capability.
func (a Attempt) Using(of report.Capability) bool { return a.Of == of || slices.Contains(a.Users, of) }
