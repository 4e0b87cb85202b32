package exposure_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/exposure"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// attacked adds a number of attempts on an argument, and their effects, to what was seen of a
// server.
func attacked(s exposure.Seen, family attack.Family, field string, attempts int, effects ...profile.Effect) exposure.Seen {
	s.Attacked = true
	for i := range attempts {
		s.Attack.Attempts = append(s.Attack.Attempts, attack.Attempt{Of: tool, Family: family, Field: field, Call: i + 1, File: i + 1, Value: fmt.Sprintf("--marlow-c%d", i+1), Answered: true})
	}
	s.Attack.Profile.Effects = effects
	return s
}

// missing is an access that failed.
func missing(name, why string) profile.Effect {
	e := file(profile.KindAttempt, name)
	e.Error = why
	return e
}

// TestOfAttacked: attempts on guards show how far an argument reaches.
func TestOfAttacked(t *testing.T) {
	named := []profile.Effect{file(profile.KindWrite, "/data/notes/marlow-c3.md")}
	titled := func() exposure.Seen { return seen("title=marlow-c3") }
	git := []profile.Effect{run("/usr/bin/git", "log", "marlow-c3")}
	ran := failed(run("/srv/marlow-run-c4"))
	left := file(profile.KindWrite, inputs.OutsideFile(4, ".txt"))
	for name, tc := range map[string]struct {
		seen    exposure.Seen
		effects []profile.Effect
		want    []string
	}{
		"the directory held": {attacked(titled(), attack.Path, "title", 12), named, []string{"FileWrite Bounded title | below /data/notes"}},
		"it did not":         {attacked(titled(), attack.Path, "title", 12, left), named, []string{"FileWrite Arbitrary title"}},
		"a link led outside": {with(attacked(titled(), attack.Path, "title", 12, left), func(s *exposure.Seen) { s.Attack.Attempts[3].Link = true }), named,
			[]string{"FileWrite Partial title | below /data/notes"}},
		"every call was refused": {with(attacked(titled(), attack.Path, "title", 12), func(s *exposure.Seen) {
			s.Exercise = []report.CapabilityCoverage{{Kind: tool.Kind, Name: tool.Name}}
		}), named, []string{"FileWrite Partial title | below /data/notes"}},
		"another argument was attacked": {attacked(titled(), attack.Path, "body", 12), named,
			[]string{"FileWrite Partial title | below /data/notes"}},
		"few attempts": {attacked(titled(), attack.Path, "title", 3), named, []string{"FileWrite Partial title | below /data/notes"}},
		"an attempt without an answer": {with(attacked(titled(), attack.Path, "title", 12), func(s *exposure.Seen) { s.Attack.Attempts[11].Answered = false }), named,
			[]string{"FileWrite Partial title | below /data/notes"}},
		"attempts that nobody watched": {with(attacked(titled(), attack.Path, "title", 12), func(s *exposure.Seen) { s.Attacked = false }), named,
			[]string{"FileWrite Partial title | below /data/notes"}},
		"it did not, where nothing was": {attacked(titled(), attack.Path, "title", 12, missing(inputs.OutsideFile(4, ".txt")+".md", "ENOENT")), named,
			[]string{"FileWrite Partial title | below /data/notes"}},
		"it did not, where a file was": {attacked(titled(), attack.Path, "title", 12, missing(inputs.OutsideFile(4, ".txt")+"/home.md", "ENOTDIR")), named,
			[]string{"FileWrite Partial title | below /data/notes"}},
		"the kernel held it": {attacked(titled(), attack.Path, "title", 12, missing(inputs.OutsideFile(4, ".txt"), "EXDEV")), named,
			[]string{"FileWrite Bounded title | below /data/notes"}},
		"nothing was seen before": {attacked(titled(), attack.Path, "title", 12, left), nil, []string{"FileWrite Arbitrary title"}},
		"outside, and within the directory on the command line": {
			with(attacked(titled(), attack.Path, "title", 12, left), func(s *exposure.Seen) {
				s.Command = append(s.Command, "/var/tmp")
				s.Profile.Effects = []profile.Effect{file(profile.KindRead, "/var/tmp/x")}
			}), []profile.Effect{file(profile.KindWrite, "/var/tmp/marlow-c3.md")}, []string{"FileWrite Partial title | below /var/tmp (command line)"}},
		"a program held": {attacked(titled(), attack.Command, "title", 12), git, []string{"CommandExecution Bounded title | git"}},
		"a command ran":  {attacked(titled(), attack.Command, "title", 12, ran), git, []string{"CommandExecution Arbitrary title"}},
		"an option was taken": {attacked(titled(), attack.Option, "title", 12, run("git", "log", "--marlow-c4")), git,
			[]string{"CommandExecution Partial title | git"}},
		"code ran": {attacked(titled(), attack.Code, "title", 12, file(profile.KindRead, inputs.OutsideFile(4, ".txt"))), nil,
			[]string{"CodeExecution Arbitrary title"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.seen.Profile.Effects = tc.effects
			if diff := cmp.Diff(tc.want, lines(exposure.Of(tc.seen))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
