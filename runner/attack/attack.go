// Package attack makes the arguments of the launch that tries a server's guards:
// an honest call with one value changed, whose target is reached only if
// nothing stops it.
//
// Each attempt has its own mark, which the trace shows if the attempt succeeded.
// Answers only decide whether a guard exists. The package is pure, and
// the same seed, schema and honest calls give the same attempts.
package attack

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// Family groups attempts by weakness.
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
	// Egress: a host is reached that a guard should block.
	Egress Family = "Egress"
	// Query: the value leaves its string in a statement of SQL.
	Query Family = "Query"
	// Request: the value changes more of a request than its own part.
	Request Family = "Request"
	// Recipient: a message goes to somebody whom a guard should refuse.
	Recipient Family = "Recipient"
	// Write: a statement changes a database that should only be read.
	Write Family = "Write"
)

// Attempt is one call with one value changed.
type Attempt struct {
	Of     report.Capability
	Family Family
	// Form describes the position of the payload: "after a semicolon".
	Form string
	// Control: the payload is the whole value, undisguised. If it succeeds, there is no guard.
	Control bool
	// Link: it leads out by a link in the directory. URL: by the URL of a file, in
	// place of another URL.
	Link, URL bool
	// Sibling: it leads to inputs.Sibling of the directory, Neighbour: to its inputs.Neighbour.
	Sibling, Neighbour bool
	// Archive: it leads out by the name of a file in an archive. Markup: by that of a file in a document.
	Archive, Markup bool
	// Aim is the target of family Egress, Port the one that identifies the attempt there.
	Aim  Aim
	Port int
	// Alone: it names a host without a port. Allowed is the host of AimAllowed.
	Alone   bool
	Allowed string
	// Raw: the payload of family Query is not within quotes. Parse marks attempts that show that by being
	// accepted or refused.
	Raw    bool
	Quoted bool
	Parse  Parse
	// Operator: the value is an object with an operator of MongoDB, where the schema has a text.
	Operator bool
	// Listed: Field has the name of the program in Value, and a list beside it its arguments.
	Listed bool
	// Field is the path in the arguments, as in rules.Argument. Place is unique: a URI has one
	// for each variable of its template.
	Field, Place string
	// Users is Target.Users.
	Users []report.Capability
	// Value is the value of the attempt; Honest is the original one, without parts that stay unchanged.
	Value, Honest string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// Call is the number of the mark, File that of the file of the families Path and Code
	// (see inputs.OutsideFile), from 1.
	Call, File int
	Sent       time.Time
	// Answered and Accepted say how the call ended; Answer is its error.
	Answered, Accepted bool
	Answer             string
}

// Seen records what a capability has done in honest calls.
type Seen struct {
	Programs bool       // it has started a program, or tried to
	Started  [][]string // the command lines that it has started
	Files    []string   // paths that it has accessed, or tried to
	Listed   []string   // directories among these that it has listed
	Hosts    []string   // that it has connected to or looked up
	Ports    []int      // that it has connected to
	Network  bool       // it has connected to something, or looked a name up
	Database bool       // it has opened the file of a database
}

// Plan describes the server that is attacked.
type Plan struct {
	Seen map[report.Capability]Seen
	// Dirs are the directories that the server was started for.
	Dirs []string
	// Planted are the names of additional files outside.
	Planted []string
	// Unlisted are names for calls of tools that no list has.
	Unlisted []string
	// Closed: no connection leaves the sandbox.
	Closed bool
	// Taken counts the steps of each series that an earlier launch has taken; FirstMark is
	// added to the numbers of marks.
	Taken     map[report.Capability]int
	FirstMark int
	// Proven reports whether the attempt with a mark of that number has succeeded; nil: not known.
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

const (
	maxFields    = 12
	maxFieldText = 4 << 10 // bytes of a value
	maxRelevant  = 192     // commands on a target that was seen to start programs
	maxAttempts  = 36      // commands on any other
)

// Series are the attempts against one target, the likeliest first.
type Series struct {
	plan   Plan
	target Target
	steps  []step
	sent   []Attempt
	taken  int
}

// step is a future attempt.
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
	archive, markup    bool
	sibling, neighbour bool
	// packed: it is encoded, and not a text.
	packed bool
	// raw, quoted, parse, alone and allowed are those of Attempt. key: the payload is a key, not a value.
	raw, quoted bool
	key         bool
	// object: the payload is a JSON object, where the schema has a text.
	object bool
	// inList: the value is a list with one text, where the schema has a text: many guards search only texts.
	inList bool
	// list takes the words of the value behind the first, which is the name of a program.
	list *field
	// beside is another place that gets a value, which also returns.
	beside *field
	also   func(mark inputs.Mark, number int) string
	// under is the path of keys at which the payload stands, in an object that takes any keys.
	under   []string
	parse   Parse
	alone   bool
	allowed string
	write   func(f field, mark inputs.Mark, number int) string
}

// planted returns the extension of a file outside: the one given, or .txt if only refused
// calls have named one with it, so that there is none.
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
	lists := [][]step{commandSteps(fields, seen), optionSteps(fields, seen), pathSteps(fields, seen), markupSteps(fields, seen), codeSteps(fields), runnerSteps(fields, t.Said), listSteps(fields, t.Said), environmentSteps(fields, seen), dispatchSteps(fields), languageSteps(fields, seen), archiveSteps(fields, seen)}
	if p.Closed {
		lists = append(lists, egressSteps(fields, seen, t.Said), querySteps(fields, seen, t.Said), writeSteps(fields), requestSteps(fields, seen), recipientSteps(fields, seen, t.Said))
	}
	return p.series(t, append(variableSteps(fields, t.Said), alternate(lists...)...))
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

// Taken returns how many steps were taken, in this launch and earlier ones.
func (s *Series) Taken() int { return s.taken }

// Left returns how many steps remain.
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

// formed returns the steps of one family: some forms in some fields.
func formed(family Family, forms []form, fields []field) (all []step) {
	for _, form := range forms {
		for _, f := range fields {
			all = append(all, step{family: family, form: form, field: f})
		}
	}
	return all
}

// Next returns the next attempt; false for none. It skips families that have succeeded at the same place.
func (s *Series) Next(mark inputs.Mark) (Attempt, bool) {
	mark.Call += s.plan.FirstMark
	for len(s.steps) > 0 {
		first := s.first()
		next := s.steps[first]
		s.steps = slices.Delete(s.steps, first, first+1)
		s.taken++
		if !next.form.control && s.proven(next) {
			continue
		}
		value := next.form.write(next.field, mark, next.number)
		at, honest, arguments, ok := next.arguments(s.target.Honest, value, mark)
		if !ok {
			continue
		}
		a := Attempt{
			Of: s.target.Of, Family: next.family, Form: next.form.name, Control: next.form.control, Link: next.form.link,
			URL:   next.form.name == fileURL.name && next.field.addresses(),
			Field: at.name, Place: at.place(), Value: value, Honest: honest, Arguments: arguments, Call: mark.Call, File: next.number,
			Sibling: next.form.sibling, Neighbour: next.form.neighbour, Archive: next.form.archive, Markup: next.form.markup, Raw: next.form.raw, Quoted: next.form.quoted, Parse: next.form.parse, Users: s.target.Users, Operator: next.form.object, Listed: next.form.list != nil,
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

// arguments returns the place of a step, the honest value there, and the arguments of a call with a value in it; false where
// they have no room for it.
func (s step) arguments(call json.RawMessage, value string, mark inputs.Mark) (at field, honest string, arguments json.RawMessage, ok bool) {
	at, text := s.field, value
	honest = at.core()
	if s.form.key {
		at, text = s.field.keyed(value), s.field.value
		honest, _ = s.field.steps[len(s.field.steps)-1].(string)
	}
	for i, key := range s.form.under {
		if i == 0 {
			at = at.keyed(key)
		} else {
			at.name, at.steps = below(at.name, key), append(at.steps, key)
		}
	}
	var written any = text
	switch {
	case s.form.object:
		written = json.RawMessage(text)
	case s.form.inList:
		written = []string{text}
	}
	arguments, ok = at.set(call, written)
	if list := s.form.list; list != nil {
		words := wordsOf(value)
		if arguments, ok = at.set(call, words[0]); ok {
			arguments, ok = list.set(arguments, words[1:])
		}
	}
	if beside := s.form.beside; ok && beside != nil {
		arguments, ok = beside.set(arguments, s.form.also(mark, s.number))
	}
	return at, honest, arguments, ok
}

// first returns the index of the next step: that of a command in the open where a hidden one has succeeded, because only
// its refusal shows that there is a guard, or else 0.
func (s *Series) first() int {
	return max(0, slices.IndexFunc(s.steps, func(next step) bool { return next.form.control && s.proven(next) }))
}

// proven reports whether an attempt of the same family has succeeded at the same place.
func (s *Series) proven(next step) bool {
	return s.plan.Proven != nil && next.family == Command && slices.ContainsFunc(s.sent, func(a Attempt) bool {
		return a.Family == next.family && a.Place == next.field.place() && !a.Control && s.plan.Proven(a.Call)
	})
}
