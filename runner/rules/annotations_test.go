package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// hinting is an input of the tool format_note with annotations.
func hinting(description, annotations string, effects ...profile.Effect) Input {
	in := input(silent, effects...)
	tool := fmt.Sprintf(`{"name":"format_note","description":%q,"annotations":{%s}}`, description, annotations)
	in.Scope = scope.Read(manifest.Manifest{Tools: []json.RawMessage{json.RawMessage(tool)}}, scope.Given{})
	return in
}

func times(n int, e profile.Effect) profile.Effect {
	e.Count = n
	return e
}

func stored(path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindStore, Path: path}, Where: call}
}

func deleted(path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindDelete, Path: path, Operation: "unlink"}, Where: call}
}

func changed(operation, path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Path: path, Operation: operation}, Where: call}
}

func emptied(path string) profile.Effect {
	return with(changed("openat", path), func(e *profile.Effect) { e.Opening = "O_TRUNC" })
}

func again(e profile.Effect) profile.Effect { e.Repeat = true; return e }

const (
	note       = "/tmp/marlow-files/note.txt"
	readOnly   = `"readOnlyHint":true`
	additive   = `"destructiveHint":false`
	idempotent = `"idempotentHint":true`
	closed     = `"openWorldHint":false`
)

func TestHints(t *testing.T) {
	outside := connect(call, "tcp", "93.184.216.34", 80)
	appending := with(changed("openat", note), func(e *profile.Effect) { e.Opening = "O_APPEND" })
	tool := func(name string) func(e *profile.Effect) {
		return func(e *profile.Effect) { e.Capability.Name = name }
	}
	overlap := func(e *profile.Effect) {
		e.AlternativeCause = report.Capability{Kind: report.CapabilityTool, Name: "other"}
	}
	for name, tc := range map[string]struct {
		hints   string
		effects []profile.Effect
		want    string // the beginning of the only line; "" for none
	}{
		"wrote":                       {readOnly, []profile.Effect{stored("/srv/notes.db")}, `HINT-001 Medium: Tool format_note wrote to /srv/notes.db; its annotations say "readOnlyHint: true".`},
		"wrote what it was given":     {readOnly, []profile.Effect{emptied(note), stored(note)}, "HINT-001 High: Tool format_note created or emptied " + note},
		"wrote where it was told":     {readOnly, []profile.Effect{stored("/tmp/marlow-c12-note.txt")}, "HINT-001 High"},
		"made a directory":            {readOnly, []profile.Effect{changed("mkdirat", "/srv/notes")}, "HINT-001 Medium: Tool format_note created /srv/notes"},
		"deleted":                     {readOnly, []profile.Effect{deleted("/srv/notes.db")}, "HINT-001 High: Tool format_note deleted"},
		"renamed":                     {readOnly, []profile.Effect{changed("renameat2", "/srv/notes.db")}, "HINT-001 Medium: Tool format_note renamed"},
		"only opened for writing":     {readOnly, []profile.Effect{changed("openat", "/srv/notes.db"), read(call, "/srv/notes.db")}, ""},
		"set times":                   {readOnly, []profile.Effect{changed("utimensat", "/srv/notes.db")}, ""},
		"a temporary file":            {readOnly, []profile.Effect{stored("/tmp/x1"), deleted("/tmp/x1")}, ""},
		"a cache":                     {readOnly, []profile.Effect{stored(home + "/.cache/x/y"), changed("mkdir", home+"/.cache")}, ""},
		"answers that it keeps":       {readOnly, []profile.Effect{times(1, stored(home+"/.notes/a/1.json")), times(1, stored(home+"/.notes/a/2.json")), times(8, read(call, home+"/.notes/a/1.json"))}, ""},
		"answers that it writes anew": {readOnly, []profile.Effect{times(2, emptied(home+"/.notes/a/1.json")), times(2, stored(home+"/.notes/a/1.json")), times(8, read(call, home+"/.notes/a/1.json"))}, ""},
		"a file for each question":    {readOnly, []profile.Effect{times(2, emptied(home+"/.notes/a/1.json")), times(2, stored(home+"/.notes/a/1.json")), times(1, stored(home+"/.notes/a/2.json")), times(2, read(call, home+"/.notes/a/1.json"))}, ""},
		"files that another reads":    {readOnly, []profile.Effect{times(1, stored(home+"/.notes/a/1.json")), times(1, read(call, home+"/.notes/a/1.json")), with(read(call, home+"/.notes/a/1.json"), tool("b"))}, "HINT-001 Medium"},
		"a history":                   {readOnly, []profile.Effect{times(8, stored(home+"/.notes/a")), times(8, read(call, home+"/.notes/a"))}, "HINT-001 Medium"},
		"a history of all tools":      {readOnly, []profile.Effect{stored(home + "/.notes/a"), with(stored(home+"/.notes/a"), tool("b")), with(stored(home+"/.notes/a"), tool("c"))}, ""},
		"a history of two tools":      {readOnly, []profile.Effect{stored(home + "/.notes/a"), with(stored(home+"/.notes/a"), tool("b"))}, "HINT-001 Medium"},
		"others' file of all tools":   {readOnly, []profile.Effect{stored(home + "/.vim/a"), with(stored(home+"/.vim/a"), tool("b")), with(stored(home+"/.vim/a"), tool("c"))}, "HINT-001 Medium"},
		"what another tool reads":     {readOnly, []profile.Effect{times(1, stored(home+"/.notes/a")), times(8, read(startup, home+"/.notes/a"))}, "HINT-001 Medium"},
		"answers in others' files":    {readOnly, []profile.Effect{times(1, stored(home+"/.vim/a")), times(8, read(call, home+"/.vim/a"))}, "HINT-001 Medium"},
		"a cache of kubectl's":        {readOnly, []profile.Effect{stored("/root/.kube/cache/discovery/x.json.12")}, ""},
		"the way to a cache":          {readOnly, []profile.Effect{changed("mkdir", home+"/.local"), changed("mkdirat", home+"/.npm")}, ""},
		"a log":                       {readOnly, []profile.Effect{stored("/srv/server.log")}, ""},
		"logs of an app":              {readOnly, []profile.Effect{stored(home + "/.app/.app-logs/6b02_log")}, ""},
		"no logs":                     {readOnly, []profile.Effect{stored("/srv/.app-logs.d/x")}, "HINT-001 Medium"},
		"a lock of tokens":            {readOnly, []profile.Effect{stored(home + "/.local/share/.IdentityService/msal.cache.lockfile")}, ""},
		"a journal":                   {readOnly, []profile.Effect{stored("/srv/notes.db-journal"), deleted("/srv/notes.db-wal")}, ""},
		"the index of git":            {readOnly, []profile.Effect{stored("/tmp/marlow-repository/.git/index.lock"), changed("rename", "/tmp/marlow-repository/.git/index")}, ""},
		"its socket":                  {readOnly, []profile.Effect{unlinks(call, home+"/.devices/daemon.sock")}, ""},
		"a commit":                    {readOnly, []profile.Effect{stored("/tmp/marlow-repository/.git/objects/ab/cd")}, "HINT-001 High"},
		"or another's doing":          {readOnly, []profile.Effect{with(stored(note), overlap)}, ""},
		"before any call":             {readOnly, []profile.Effect{with(stored("/srv/notes.db"), func(e *profile.Effect) { e.Where = startup })}, ""},
		"what is the default":         {`"readOnlyHint":false`, []profile.Effect{stored(note)}, ""},
		"read-only and additive":      {readOnly + "," + additive + "," + idempotent, []profile.Effect{deleted(note)}, "HINT-001 High"},
		"deleted a planted file":      {additive, []profile.Effect{deleted(note)}, `HINT-002 High: Tool format_note deleted ` + note + `; its annotations say "destructiveHint: false".`},
		"switched the branch":         {additive, []profile.Effect{run(call, "/usr/bin/git", "checkout", "main"), deleted("/tmp/marlow-repository/list.txt")}, ""},
		"by force":                    {additive, []profile.Effect{run(call, "/usr/bin/git", "checkout", "-f"), deleted("/tmp/marlow-repository/list.txt")}, "HINT-002 High"},
		"elsewhere":                   {additive, []profile.Effect{run(call, "/usr/bin/git", "checkout", "main"), deleted(note)}, "HINT-002 High"},
		"deleted what was there":      {additive, []profile.Effect{deleted("/srv/notes.db")}, "HINT-002 Medium"},
		"deleted its own":             {additive, []profile.Effect{stored("/srv/notes.new"), deleted("/srv/notes.new")}, ""},
		"overwrote":                   {additive, []profile.Effect{emptied(note), stored(note)}, "HINT-002 Medium: Tool format_note overwrote"},
		"replaced":                    {additive, []profile.Effect{changed("rename", note)}, "HINT-002 Medium: Tool format_note overwrote"},
		"moved away":                  {additive, []profile.Effect{changed("rename", note), moved(call, note)}, ""},
		"read and wrote":              {additive, []profile.Effect{read(call, note), emptied(note), stored(note)}, ""},
		"appended":                    {additive, []profile.Effect{appending, stored(note)}, ""},
		"its own store":               {additive, []profile.Effect{emptied("/srv/memory.json"), stored("/srv/memory.json")}, ""},
		"destroys by default":         {``, []profile.Effect{deleted(note)}, ""},
		"another file each time":      {idempotent, []profile.Effect{stored("/srv/n/1"), again(stored("/srv/n/2"))}, `HINT-003 Medium: Tool format_note, called again with the same arguments, wrote to /srv/n/2; its annotations say "idempotentHint: true".`},
		"the same file each time":     {idempotent, []profile.Effect{emptied("/srv/n/1"), stored("/srv/n/1"), again(emptied("/srv/n/1")), again(stored("/srv/n/1"))}, ""},
		"appended each time":          {idempotent, []profile.Effect{appending, stored(note), again(appending), again(stored(note))}, "HINT-003 Medium: Tool format_note, called again with the same arguments, appended to"},
		"opened to append each time":  {idempotent, []profile.Effect{appending, stored(note), again(appending)}, ""},
		"a file that is moved":        {idempotent, []profile.Effect{stored("/srv/n"), again(stored("/srv/n.77")), again(changed("rename", "/srv/n.77")), again(moved(call, "/srv/n.77")), again(changed("rename", "/srv/n"))}, ""},
		"deleted what it had made":    {idempotent, []profile.Effect{again(changed("openat", "/srv/tmp77")), again(deleted("/srv/tmp77"))}, ""},
		"deleted what was there, on":  {idempotent, []profile.Effect{again(deleted("/srv/n.77"))}, "HINT-003 Medium: Tool format_note, called again with the same arguments, deleted"},
		"an object of its own":        {idempotent, []profile.Effect{again(stored("/srv/.store/77"))}, ""},
		"in two other calls":          {idempotent, []profile.Effect{stored("/srv/n/1"), stored("/srv/n/2")}, ""},
		"reached out":                 {closed, []profile.Effect{outside}, `HINT-004 High: Tool format_note tried to connect to 93.184.216.34:80 (tcp); its annotations say "openWorldHint: false".`},
		"reached what others reach":   {closed, []profile.Effect{outside, with(outside, func(e *profile.Effect) { e.Where = startup })}, "HINT-004 Medium"},
		"reached what it was told":    {closed, []profile.Effect{lookupOf(call, "c12.pages.example.net")}, "HINT-004 Medium"},
		"stayed on the machine":       {closed, []profile.Effect{connect(call, "tcp", "127.0.0.1", 80)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := hinting("Formats a note.", tc.hints, tc.effects...)
			in.Home, in.Manifest.ServerName = home, json.RawMessage(`"mcp-server-notes"`)
			var got []string
			for _, line := range lines(Judge(in)) {
				if strings.HasPrefix(line, "HINT") || strings.HasPrefix(tc.want, "HINT-004") && !strings.Contains(line, "At start-up") {
					got = append(got, line)
				}
			}
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.want)) {
				t.Errorf("findings %q, want one that begins %q", got, tc.want)
			}
		})
	}
}

// One reach is one finding: the text's promise goes before the hint's.
func TestHintAndText(t *testing.T) {
	outside := connect(call, "tcp", "93.184.216.34", 80)
	expect(t, hinting("Purely local.", closed, outside), "EGRESS-001 High")
	expect(t, hinting("Fetches a web page.", closed, outside), "HINT-004 Medium")
	expect(t, hinting("Fetches a web page.", `"openWorldHint":true`, outside), "")
}

// A closed world may be one service: that which the server names, and uses for others.
func TestHintAndService(t *testing.T) {
	const instructions = "Firecrawl fetches web pages over the internet."
	given := func(instructions, host string, others ...profile.Effect) Input {
		to := connect(call, "tcp", "28.18.7.7", 443)
		to.Host = host
		in := hinting("Lists monitors.", closed, append(others, to)...)
		in.Scope = scope.Read(manifest.Manifest{Instructions: json.RawMessage(fmt.Sprintf("%q", instructions)), Tools: []json.RawMessage{
			json.RawMessage(`{"name":"format_note","description":"Lists monitors.","annotations":{` + closed + `}}`)}}, scope.Given{})
		return in
	}
	other := func(host string) profile.Effect {
		e := connect(where(report.PhaseCall, "other", report.AttributionInFlight), "tcp", "28.18.7.7", 443)
		e.Host = host
		return e
	}
	const api = "api.firecrawl.dev"
	expect(t, given(instructions, api, other(api)), "HINT-004 Info: Tool format_note tried to connect to api.firecrawl.dev")
	expect(t, given(instructions, "www.firecrawlapis.com", other("www.firecrawlapis.com")), "HINT-004 Info")
	expect(t, given(instructions, "www.crawlapis.com", other("www.crawlapis.com")), "HINT-004 Medium")
	expect(t, given(instructions, api), "HINT-004 High")
	expect(t, given(instructions, "api.attacker.example", other("api.attacker.example")), "HINT-004 Medium")
	if got := lines(Judge(given("Firecrawl.", api, other(api)))); !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "HINT-004 Medium") }) {
		t.Errorf("a server that does not say that it uses the network: %q", got)
	}
}

// A closed world may be the site that the tool's own declaration has for an example.
func TestHintAndNamedHost(t *testing.T) {
	for host, want := range map[string]string{"docs.firecrawl.dev": "HINT-004 Info: Tool format_note tried to connect to docs.firecrawl.dev", "docs.attacker.example": "HINT-004 Medium"} {
		to := connect(call, "tcp", "28.18.7.7", 443)
		to.Host = host
		in := hinting("Fetches a page of the documentation, such as https://docs.firecrawl.dev/guides.", closed, to)
		in.Manifest.Tools = []json.RawMessage{json.RawMessage(`{"name":"format_note","description":"Reads the documentation, such as https://docs.firecrawl.dev/guides."}`)}
		got := lines(Judge(in))
		if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

var _ = prove(map[string]proof{
	"MCPA-HINT-001": {
		finds:  []Input{hinting("", readOnly, stored(note))},
		spares: []Input{hinting("", readOnly, changed("openat", note)), hinting("", additive, stored(note))},
	},
	"MCPA-HINT-002": {
		finds:  []Input{hinting("", additive, deleted(note))},
		spares: []Input{hinting("", additive, stored(note), read(call, note))},
	},
	"MCPA-HINT-003": {
		finds:  []Input{hinting("", idempotent, stored("/srv/1"), again(stored("/srv/2")))},
		spares: []Input{hinting("", idempotent, stored("/srv/1"), again(stored("/srv/1")))},
	},
	"MCPA-HINT-004": {
		finds:  []Input{hinting("", closed, connect(call, "tcp", "93.184.216.34", 80))},
		spares: []Input{hinting("", closed, connect(call, "tcp", "127.0.0.1", 80))},
	},
})

// Whichever files of the audit a tool changes, it is one finding.
func TestOneFindingOfPlantedFiles(t *testing.T) {
	in := hinting("Shows a note.", readOnly, emptied("/tmp/marlow-files/note.txt.seen"), emptied("/tmp/marlow-repository/list.txt.seen"), emptied("/tmp/marlow-shop/src/a.js.seen"))
	if got := Judge(in); len(got) != 1 || got[0].Rule != "MCPA-HINT-001" || len(got[0].Evidence) < 3 {
		t.Errorf("%+v", got)
	}
}
