package exposure

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// program notes a program that was started, unless another noted program started it.
func (b *builder) program(e profile.Effect) {
	if inputs.Injected(e.Path) {
		b.injected(e)
		return
	}
	if e.Error != "" || e.Within != "" || b.routine(e) {
		return
	}
	run := readStart(e.Argv.Words(), e.Path)
	seen := b.deciding(run, e.Capability)
	seen.evidence = e.Evidence()
	kind := run.kind
	switch {
	case seen.reach == report.ReachArbitrary:
	case seen.reach != "":
		seen.bound = run.program
	case unsure(e):
		return
	default: // an interpreter runs code of the server's own
		kind, seen.reach, seen.bound = report.ExposesCommandExecution, report.ReachFixed, run.program
	}
	b.note(e.Capability, kind, seen)
}

// injected notes a program whose name comes only from an argument. It does not exist: the
// attempt to start it is the proof.
func (b *builder) injected(e profile.Effect) {
	for _, a := range b.arguments(e.Capability) {
		if strings.Contains(a.Value, path.Base(e.Path)) {
			b.note(e.Capability, report.ExposesCommandExecution, sighting{reach: report.ReachArbitrary, argument: a.Field, evidence: e.Evidence()})
		}
	}
}

// deciding returns the argument that decides most of a start.
func (b *builder) deciding(run start, of report.Capability) (most sighting) {
	written := run.kind == report.ExposesCodeExecution && b.wrote(of, run.script)
	for _, a := range b.arguments(of) {
		reach := run.decides(a)
		if reach == "" && written && inputs.Commands(a.Field) {
			reach = report.ReachArbitrary // the call has written the script
		}
		if reach != "" && reach != most.reach && (most.reach == "" || reach.AtLeast(most.reach)) {
			most = sighting{reach: reach, argument: a.Field}
		}
	}
	return most
}

// start describes how a program was started.
type start struct {
	program string
	argv    []string
	// kind is CodeExecution for an interpreter, and CommandExecution for all others.
	kind report.ExposureKind
	// text is the code that a shell or an interpreter was given; script is the file.
	text, script string
}

func readStart(argv []string, name string) start {
	s := start{program: path.Base(name), argv: argv, kind: report.ExposesCommandExecution, text: rules.ShellCommand(argv)}
	if s.text != "" || !rules.Runtime(name) {
		return s
	}
	s.kind = report.ExposesCodeExecution
	for i, arg := range argv {
		switch {
		case i == 0:
		case slices.Contains([]string{"-c", "-e", "-p", "-r", "--eval", "--print"}, arg) && i+1 < len(argv):
			s.text = argv[i+1]
			return s
		case !strings.HasPrefix(arg, "-"):
			s.script = arg
			return s
		}
	}
	return s
}

// decides returns how much of a start an argument decides; "" for nothing. A value that the
// audit has not made up may be the only kind that the server allows.
func (s start) decides(a rules.Argument) report.Reach {
	value := spaced(a.Value)
	if len(value) < 2 {
		return ""
	}
	_, marked := inputs.Marked(value)
	own, command := marked || a.Given, inputs.Commands(a.Field)
	if s.text != "" {
		return s.decidesText(value, own || s.kind == report.ExposesCodeExecution, command)
	}
	first, _, _ := strings.Cut(value, " ")
	starts := command && path.Base(first) == s.program
	switch {
	case starts && own && s.kind != report.ExposesCodeExecution:
		return report.ReachArbitrary
	case starts, distinctive(value) && s.has(value):
		return report.ReachPartial
	}
	return ""
}

// decidesText is decides for code that a shell or an interpreter was given. own: the audit
// has made the value up; command: the argument is meant to hold what is run.
func (s start) decidesText(value string, own, command bool) report.Reach {
	text := spaced(s.text)
	switch {
	case !strings.Contains(text, value), text != value && !distinctive(value):
		return ""
	case own && (text == value || command):
		return report.ReachArbitrary
	}
	return report.ReachPartial
}

// has reports whether a value is in an argument of the program.
func (s start) has(value string) bool {
	return slices.ContainsFunc(s.argv[min(1, len(s.argv)):], func(word string) bool { return strings.Contains(spaced(word), value) })
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// wrote reports whether a call of a capability wrote a file.
func (b *builder) wrote(of report.Capability, name string) bool {
	return name != "" && slices.ContainsFunc(b.Profile.Effects, func(e profile.Effect) bool {
		return e.Kind == profile.KindWrite && e.Error == "" && e.Capability == of && (e.Path == name || path.Base(e.Path) == name)
	})
}

// evaluated notes the tools that evaluate code themselves.
func (b *builder) evaluated() {
	for _, answers := range b.Evaluated() {
		name := answers[0]
		b.note(name.Capability, report.ExposesCodeExecution, sighting{reach: report.ReachArbitrary, argument: argumentOf(name.Arguments),
			evidence: report.Evidence{Time: report.At(b.End), Attribution: report.AttributionPhase, Detail: "tools/call " + name.Arguments + ": " + name.Text}})
	}
}
