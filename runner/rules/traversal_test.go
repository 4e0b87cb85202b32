package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestAttackedMarkup: who takes a document and opens the file that it names had to say so.
func TestAttackedMarkup(t *testing.T) {
	try := attack.Attempt{Of: call.Capability, Family: attack.Path, Form: "in a document", Markup: true, Field: "html", File: 3, Answered: true, Accepted: true}
	for text, want := range map[string]string{
		"Lays out HTML.": "FILE-003 Medium",
		"Lays out HTML with the local pictures in it.":   "",
		"Lays out HTML; nothing outside of the project.": "FILE-003 High",
	} {
		says := server{tools: []string{"format_note: " + text}}
		in := input(says)
		in.Manifest, in.Attack.Attempts = says.manifest(), []attack.Attempt{try}
		in.Attack.Profile.Effects = []profile.Effect{read(call, inputs.OutsideFile(3, ".txt"))}
		t.Run(text, func(t *testing.T) { expect(t, in, want) })
	}
}

// TestAttackedPattern: what matches a pattern lies in the directory of the honest one.
func TestAttackedPattern(t *testing.T) {
	for found, want := range map[string]string{"/srv/snippets/js/a.js": "FILE-003 Medium", "/srv/other/a.md": ""} {
		in := input(silent)
		in.Attack.Attempts = []attack.Attempt{{Of: call.Capability, Family: attack.Path, Form: "so", Control: true, Field: "pattern",
			Value: "../x", Honest: "js/*.js", File: 3, Answered: true, Accepted: true}}
		in.Attack.Profile.Effects = []profile.Effect{read(call, found), read(call, inputs.OutsideFile(3, ".txt"))}
		t.Run(found, func(t *testing.T) { expect(t, in, want) })
	}
}

// TestSaidBounds: a file outside is a finding for a tool, or a server, that says where it stays, and a link to one only
// if the outside is spoken of.
func TestSaidBounds(t *testing.T) {
	judge := func(says server, link bool) Input {
		in := input(says)
		in.Manifest = says.manifest()
		in.Attack.Attempts = []attack.Attempt{{Of: call.Capability, Family: attack.Path, Form: "so", Link: link, Field: "name", File: 3, Answered: true, Accepted: true}}
		in.Attack.Profile.Effects = []profile.Effect{read(call, inputs.OutsideFile(3, ".txt"))}
		return in
	}
	for text, want := range map[string]struct{ plain, link string }{
		"Only files inside the journal directory are served.": {"FILE-003 High", ""},
		"Writes only inside the snippet directory.":           {"FILE-003 High", ""},
		"Unpacks a theme there and nowhere else.":             {"FILE-003 High", ""},
		"Reads notes of /srv/notes, of no other directory.":   {"FILE-003 High", ""},
		"Reads notes, and nothing outside of /srv/notes.":     {"FILE-003 High", "FILE-003 High"},
		"Lists only files in the given directory.":            {},
		"Only reads a file.":                                  {},
	} {
		t.Run(text, func(t *testing.T) {
			says := server{tools: []string{"format_note: " + text}}
			expect(t, judge(says, false), want.plain)
			expect(t, judge(says, true), want.link)
		})
	}
	for text, want := range map[string]string{
		"All notes are in /srv/notes; nothing outside of it is read.": "FILE-003 High",
		"Notes of all kinds, from anywhere.":                          "",
	} {
		t.Run(text, func(t *testing.T) {
			says := server{instructions: text, tools: []string{"format_note: Reads a file."}}
			expect(t, judge(says, false), want)
			expect(t, judge(says, true), "")
		})
	}
}
