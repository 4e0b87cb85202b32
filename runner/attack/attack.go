// Package attack makes the arguments of the launch in which a server's guards are tried:
// an honest call with one value changed, so that what the value names is reached only if
// nothing stops it.
//
// Each attempt has a mark of its own, which the trace shows when the attempt succeeded.
// What answers say decides nothing but whether a guard exists. The package is pure, and
// the same seed, schema and honest calls give the same attempts.
package attack

import (
	"encoding/json"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// Family groups attempts by the weakness that they look for.
type Family string

// The families.
const (
	// Command: a command in the value is run by a shell.
	Command Family = "Command"
	// Path: a file is reached that lies outside the directory that honest values lead to.
	Path Family = "Path"
	// Code: the value is evaluated as code.
	Code Family = "Code"
	// Option: the value becomes an option of a program.
	Option Family = "Option"
	// Egress: a host is reached that a guard is to keep the server from.
	Egress Family = "Egress"
	// Query: the value leaves its string in a statement of SQL.
	Query Family = "Query"
	// Request: the value changes more of a request than its own part.
	Request Family = "Request"
	// Write: a statement changes a database that is to be read only.
	Write Family = "Write"
)

// Attempt is one call with one value changed.
type Attempt struct {
	Of     report.Capability
	Family Family
	// Form says in words where the payload stands: "after a semicolon".
	Form string
	// Control: the payload is all of the value and hides nothing. Where it succeeds, there
	// is no guard.
	Control bool
	// Link: it leads out by a link that lies in the directory. URL: by the URL of a file, in
	// place of another URL.
	Link, URL bool
	// Sibling: it leads to inputs.Sibling of the directory, Neighbour: to its inputs.Neighbour.
	Sibling, Neighbour bool
	// Archive: it leads out by the name of a file in an archive. Markup: by that of a file in a document.
	Archive, Markup bool
	// Aim is where it leads, of family Egress; Port the one that tells it there.
	Aim  Aim
	Port int
	// Alone: it names a host without a port. Allowed is the host of AimAllowed.
	Alone   bool
	Allowed string
	// Raw: its payload stands where there are no quotes to leave, of family Query. Parse is one
	// that shows that by whether it is taken, Quoted one that does so behind a quote.
	Raw   bool
	Quoted bool
	Parse Parse
	// Operator: the value is an object with an operator of MongoDB, where the schema has a text.
	Operator bool
	// Field is the path in the arguments, as that of rules.Argument. Place tells it from
	// others: a URI has a place for each variable of its template.
	Field, Place string
	// Users is Target.Users.
	Users []report.Capability
	// Value stands there now, and Honest stood there, without what is no part of a path.
	Value, Honest string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// Call is the number of the mark, File that of the file of the families Path and Code
	// (see inputs.OutsideFile), from 1.
	Call, File int
	// Answered and Accepted say how the call ended; Answer is its error.
	Answered, Accepted bool
	Answer             string
}

// Seen records what a capability has done in honest calls.
type Seen struct {
	// Programs: it has started one, or tried to.
	Programs bool
	// Started are the words of programs that it has started, and not only tried to.
	Started [][]string
	// Files are paths that it touched or tried to touch, and Listed the directories among them that it listed.
	Files, Listed []string
	// Hosts and Ports are where it has connected to, and what names it has looked up.
	Hosts []string
	Ports []int
	// Network: it has connected to something, or looked a name up.
	Network bool
	// Database: it has opened a file of a database.
	Database bool
}

// Plan says what is known of the server that is attacked.
type Plan struct {
	Seen map[report.Capability]Seen
	// Dirs are directories that the server was started for.
	Dirs []string
	// Planted are the names of files that lie outside besides the usual ones.
	Planted []string
	// Unlisted are names by which tools are called that no list has.
	Unlisted []string
	// Closed: no connection leaves the sandbox.
	Closed bool
	// Taken is how many steps of each series an earlier launch has taken, FirstMark the
	// number that is added to marks.
	Taken     map[report.Capability]int
	FirstMark int
	// Proven reports whether the attempt with a mark of that number has succeeded; nil
	// where nobody looks.
	Proven func(call int) bool
}

// Target is one capability that is attacked.
type Target struct {
	Of report.Capability
	// Schema is the JSON Schema of its arguments; nil where it has none.
	Schema json.RawMessage
	// Honest is a JSON object: the arguments of the best honest call.
	Honest json.RawMessage
	// Said is its description, and its schema as text.
	Said string
	// Users are the capabilities that use what this one stores.
	Users []report.Capability
}

// The bounds: fields of one target, how long their values are in bytes, and commands that
// are tried on one that was seen to start programs, and on any other.
const (
	maxFields    = 12
	maxFieldText = 4 << 10
	maxRelevant  = 192
	maxAttempts  = 36
)

// Series are the attempts against one target, the likeliest first.
type Series struct {
	plan   Plan
	target Target
	steps  []step
	sent   []Attempt
	taken  int
}

// step is an attempt that is still to be made.
type step struct {
	family Family
	form   form
	field  field
	number int // of the file of families Path and Code, or of the port of family Egress; 0: the next
}

// form is a way to write a payload into a value. number is the file's.
type form struct {
	name    string
	control bool
	// near: it needs the directory that the value lies in. link becomes Attempt.Link.
	near, link bool
	aim        Aim
	// archive, markup, sibling and neighbour become those of Attempt.
	archive, markup bool
	sibling, neighbour bool
	// packed: it is no text that anybody writes.
	packed bool
	// raw, quoted, parse, alone and allowed are those of Attempt. key: the payload is a key, not a value.
	raw, quoted bool
	key bool
	// object: the payload is a JSON object, where the schema has a text.
	object bool
	// under is the path of keys at which the payload stands, in an object that takes any keys.
	under   []string
	parse   Parse
	alone   bool
	allowed string
	write   func(f field, mark inputs.Mark, number int) string
}

// planted is the ending of a file that lies outside: the one given, unless only calls that were
// refused have named such a file, so that there is none.
func (p Plan) planted(ending string) string {
	if slices.Contains([]string{"", ".txt", ".md", ".json"}, ending) || slices.Contains(p.Planted, "note"+ending) {
		return ending
	}
	return ".txt"
}

// Against makes the attempts against a target.
func (p Plan) Against(t Target) *Series {
	seen := p.seenOf(t)
	fields := fieldsOf(t, seen, p.Dirs)
	for i := range fields {
		fields[i].ending = p.planted(fields[i].ending)
	}
	if t.Of.Kind == report.CapabilityResource {
		return p.series(t, pathSteps(fields, seen))
	}
	lists := [][]step{commandSteps(fields, seen), optionSteps(fields, seen), pathSteps(fields, seen), markupSteps(fields, seen), codeSteps(fields), runnerSteps(fields, t.Said), environmentSteps(fields, seen), languageSteps(fields, seen), archiveSteps(fields, seen)}
	if p.Closed {
		lists = append(lists, egressSteps(fields, seen, t.Said), querySteps(fields, seen, t.Said), writeSteps(fields), requestSteps(fields, seen))
	}
	return p.series(t, alternate(lists...))
}

// series numbers the steps against a target.
func (p Plan) series(t Target, steps []step) *Series {
	files, ports := 0, 0
	for i := range steps {
		switch family := steps[i].family; {
		case steps[i].number != 0:
		case family == Path || family == Code || steps[i].form.aim == AimFile:
			files++
			steps[i].number = files
		case family == Egress:
			ports++
			steps[i].number = ports
		}
	}
	taken := min(p.Taken[t.Of], len(steps))
	return &Series{plan: p, target: t, steps: steps[taken:], taken: taken}
}

// Taken is how many steps were taken, in this launch and those before.
func (s *Series) Taken() int { return s.taken }

// Left is how many steps are still to be taken.
func (s *Series) Left() int { return len(s.steps) }

// alternate takes steps of several lists in turn.
func alternate(lists ...[]step) (all []step) {
	for i := 0; ; i++ {
		more := false
		for _, list := range lists {
			if i < len(list) {
				all, more = append(all, list[i]), true
			}
		}
		if !more {
			return all
		}
	}
}

// formed are the steps of one family: some forms at some places.
func formed(family Family, forms []form, fields []field) (all []step) {
	for _, form := range forms {
		for _, f := range fields {
			all = append(all, step{family: family, form: form, field: f})
		}
	}
	return all
}

// Next is the next attempt; false when there is none. What has succeeded at a place is not
// tried there again.
func (s *Series) Next(mark inputs.Mark) (Attempt, bool) {
	mark.Call += s.plan.FirstMark
	for len(s.steps) > 0 {
		next := s.steps[0]
		s.steps = s.steps[1:]
		s.taken++
		if !next.form.control && s.proven(next) {
			continue
		}
		value := next.form.write(next.field, mark, next.number)
		at, text := next.field, value
		if next.form.key {
			at, text = next.field.keyed(value), next.field.value
		}
		for i, key := range next.form.under {
			if i == 0 {
				at = at.keyed(key)
			} else {
				at.name, at.steps = below(at.name, key), append(at.steps, key)
			}
		}
		var written any = text
		if next.form.object {
			written = json.RawMessage(text)
		}
		arguments, ok := at.set(s.target.Honest, written)
		if !ok {
			continue
		}
		a := Attempt{
			Of: s.target.Of, Family: next.family, Form: next.form.name, Control: next.form.control, Link: next.form.link,
			URL:   next.form.name == fileURL.name && next.field.addresses(),
			Field: at.name, Place: at.place(), Value: value, Honest: next.field.core(), Arguments: arguments, Call: mark.Call, File: next.number,
			Sibling: next.form.sibling, Neighbour: next.form.neighbour, Archive: next.form.archive, Markup: next.form.markup, Raw: next.form.raw, Quoted: next.form.quoted, Parse: next.form.parse, Users: s.target.Users, Operator: next.form.object,
		}
		if a.Family == Egress {
			a.Aim, a.Alone, a.Allowed = next.form.aim, next.form.alone, next.form.allowed
			if a.Aim != AimFile {
				a.File, a.Port = 0, firstPort+next.number
			}
		}
		s.sent = append(s.sent, a)
		return a, true
	}
	return Attempt{}, false
}

// proven reports whether an attempt of the same family has succeeded at the same place.
func (s *Series) proven(next step) bool {
	if s.plan.Proven == nil || next.family != Command {
		return false
	}
	for _, a := range s.sent {
		if a.Family == next.family && a.Place == next.field.place() && !a.Control && s.plan.Proven(a.Call) {
			return true
		}
	}
	return false
}
