package rules

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func touches(at ledger.Where, path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Path: path, Operation: "openat"}, Where: at}
}

func mkdir(at ledger.Where, path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Path: path, Operation: "mkdir"}, Where: at}
}

func unlinks(at ledger.Where, path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindDelete, Path: path, Operation: "unlink"}, Where: at}
}

func lists(at ledger.Where, paths ...string) (all []profile.Effect) {
	for _, path := range paths {
		all = append(all, profile.Effect{Fact: profile.Fact{Kind: profile.KindList, Path: path, Operation: "openat"}, Where: at})
	}
	return all
}

// fileLaunch says how the server of an input was started.
func fileLaunch(in Input, dir string, command ...string) Input {
	in.Command, in.Home, in.Dir = command, home, dir
	in.Manifest.ServerName = json.RawMessage(`"@acme/mcp-server-notes"`)
	return in
}

func fileArguments(in Input, values ...string) Input {
	in.Arguments = map[report.Capability][]Argument{}
	for _, value := range values {
		in.Arguments[call.Capability] = append(in.Arguments[call.Capability], Argument{Field: "path", Value: value, Given: true})
	}
	return in
}

func TestWrites(t *testing.T) {
	keeper := server{name: "notes", tools: []string{"format_note: Saves a note."}}
	hosts := server{name: "hosts", tools: []string{"format_note: Edits the hosts of the machine in /etc."}}
	for name, tc := range map[string]struct {
		server    server
		effects   []profile.Effect
		arguments []string
		want      string
	}{
		"the machine's":              {silent, []profile.Effect{touches(call, "/etc/hosts")}, nil, "FILE-002 High: Tool format_note opened for writing /etc/hosts, which belongs to the machine"},
		"the machine's, deleted":     {keeper, []profile.Effect{unlinks(idle, "/usr/bin/ls")}, nil, "FILE-002 High: While idle, the server deleted /usr/bin/ls"},
		"the machine's, declared":    {hosts, []profile.Effect{touches(call, "/etc/hosts")}, nil, ""},
		"credentials":                {keeper, []profile.Effect{touches(call, home+"/.aws/credentials")}, nil, "FILE-002 High: Tool format_note opened for writing /home/audit/.aws/credentials (AWS credentials)"},
		"opened to others":           {keeper, []profile.Effect{with(touches(call, home+"/.ssh"), func(e *profile.Effect) { e.Operation = "fchmodat" })}, nil, "FILE-002 High: Tool format_note changed /home/audit/.ssh (SSH configuration)"},
		"a directory of its own":     {keeper, []profile.Effect{with(touches(call, home+"/notes"), func(e *profile.Effect) { e.Operation = "fchmodat" })}, nil, ""},
		"the user's":                 {silent, []profile.Effect{touches(call, home+"/Documents/a.txt"), touches(call, home+"/Documents/b/c.txt")}, nil, "FILE-002 Medium: Tool format_note opened for writing /home/audit/Documents/a.txt"},
		"the user's, renamed":        {silent, []profile.Effect{with(touches(call, home+"/photo.jpg"), func(e *profile.Effect) { e.Operation = "rename" })}, nil, "FILE-002 Medium: Tool format_note renamed what is, or became,"},
		"named after what it keeps":  {server{name: "plans", tools: []string{"format_note: Adds new tasks to a request."}}, []profile.Effect{touches(call, home+"/Pictures/tasks.json")}, nil, ""},
		"named after that and more":  {server{name: "plans", tools: []string{"format_note: Adds new tasks to a request."}}, []profile.Effect{touches(call, home+"/Pictures/tasks-stolen.json")}, nil, "FILE-002 Medium"},
		"who stores":                 {keeper, []profile.Effect{touches(call, home+"/Documents/a.txt")}, nil, ""},
		"asked for":                  {silent, []profile.Effect{touches(call, home+"/Documents/a.txt")}, []string{home + "/Documents/a.txt"}, ""},
		"asked for, below":           {silent, []profile.Effect{touches(call, home+"/Documents/x/a.txt")}, []string{"file://" + home + "/Documents/"}, ""},
		"its directory":              {silent, []profile.Effect{touches(call, home+"/vault/index.json")}, nil, ""},
		"asked for, by its name":     {silent, []profile.Effect{touches(call, home+"/Documents/marlow-c7.md")}, nil, ""},
		"something else asked for":   {silent, []profile.Effect{touches(call, home+"/Documents/a.txt")}, []string{home + "/Pictures", "a", "/", ""}, "FILE-002 Medium"},
		"temporary":                  {silent, []profile.Effect{touches(call, "/tmp/x/y"), mkdir(startup, "/var/tmp/z"), unlinks(call, "/tmp/x/y"), touches(call, "/dev/shm/q"), touches(call, "/proc/self/comm")}, nil, ""},
		"its cache":                  {silent, []profile.Effect{touches(startup, home+"/.cache/anything/x")}, nil, ""},
		"its state":                  {silent, []profile.Effect{touches(call, home+"/.local/share/notes/db.sqlite"), touches(call, home+"/.notes-mcp.json")}, nil, ""},
		"another's state":            {silent, []profile.Effect{touches(call, home+"/.local/share/rhythmbox/x")}, nil, "FILE-002 Medium"},
		"what it has made":           {silent, []profile.Effect{mkdir(startup, home+"/.acmestore"), touches(call, home+"/.acmestore/a/b")}, nil, ""},
		"its working directory":      {silent, []profile.Effect{touches(call, home+"/work/out.txt")}, nil, ""},
		"beside it":                  {silent, []profile.Effect{touches(call, home+"/workshop/out.txt")}, nil, "FILE-002 Medium"},
		"its package":                {silent, []profile.Effect{read(startup, home+"/pkg/dist/index.js"), touches(call, home+"/pkg/memory.json")}, nil, ""},
		"a package's":                {silent, []profile.Effect{touches(call, "/usr/lib/node_modules/x/memory.json")}, nil, ""},
		"a journal":                  {silent, []profile.Effect{touches(call, home+"/Documents/a.db-wal"), unlinks(call, home+"/x.lock")}, nil, ""},
		"bytecode":                   {silent, []profile.Effect{touches(call, "/usr/lib/python3/__pycache__/x.pyc.1")}, nil, ""},
		"called bytecode":            {silent, []profile.Effect{touches(call, home+"/__pycache__/stolen.txt")}, nil, "FILE-002 Medium"},
		"called a log":               {silent, []profile.Effect{touches(call, home+"/_logs/stolen.txt")}, nil, "FILE-002 Medium"},
		"called a lock, in /etc":     {silent, []profile.Effect{touches(call, "/etc/sudoers.d/x.lock")}, nil, "FILE-002 High"},
		"named by a call, in /etc":   {silent, []profile.Effect{touches(call, "/etc/marlow-c7.conf")}, nil, "FILE-002 High"},
		"npm's log":                  {silent, []profile.Effect{touches(startup, home+"/.npm/_logs/x.log")}, nil, ""},
		"what a variable names":      {silent, []profile.Effect{touches(call, home+"/Documents/tasks.json")}, nil, ""},
		"beside that":                {silent, []profile.Effect{touches(call, home+"/Documents/tasks.json.enc")}, nil, "FILE-002 Medium"},
		"what an option names":       {silent, []profile.Effect{touches(call, home+"/Music/app.db")}, nil, ""},
		"elsewhere in an image":      {silent, []profile.Effect{touches(call, "/data/x"), touches(call, "/opt/app/y"), touches(call, "/var/lib/notes/z")}, nil, ""},
		"what is run at every login": {silent, []profile.Effect{touches(call, home+"/.bashrc")}, nil, "PERSIST-001 High"},
	} {
		t.Run(name, func(t *testing.T) {
			in := fileLaunch(input(tc.server, tc.effects...), home+"/work", "node", home+"/pkg/dist/index.js", "--db", home+"/Music/app.db", home+"/vault")
			in.Env = []string{"TASKS_FILE=" + home + "/Documents/tasks.json", "HOME=" + home, "ROOT=/", "HOSTS=/etc/hosts"}
			expect(t, fileArguments(in, tc.arguments...), tc.want)
		})
	}
}

// Where the working directory is not known it is where a relative path of the command
// was read from.
func TestGuessedDirectory(t *testing.T) {
	effects := []profile.Effect{read(startup, home+"/app/dist/index.js"), touches(call, home+"/app/data.json")}
	expect(t, fileLaunch(input(silent, effects...), "", "node", "dist/index.js"), "")
	expect(t, fileLaunch(input(silent, effects...), "", "node", "dist/other.js"), "FILE-002 Medium")
	// The whole home is nobody's own.
	expect(t, fileLaunch(input(silent, touches(call, home+"/photo.jpg")), home, "node"), "FILE-002 Medium")
}

func TestTraversal(t *testing.T) {
	const file = inputs.OutsideDir + "/note.txt"
	bound := server{name: "files", tools: []string{"format_note: Reads a file. Only works within allowed directories."}}
	free := server{name: "files", tools: []string{"format_note: Reads a file."}}
	out := read(call, file)
	using := read(startup, "/srv/notes/index.md")
	asked := func(in Input) Input {
		in.Outputs = Said("", report.Output{Kind: report.OutputRequest, Method: "roots/list"})
		return in
	}
	listed := func(s server) Input {
		in := input(s, out)
		in.Manifest = s.manifest()
		return in
	}
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"said":    {input(bound, out), `FILE-003 High: Tool format_note opened /var/tmp/marlow-elsewhere/note.txt, where an argument with ".." led; its description says "Only works within`},
		"chosen":  {input(server{tools: []string{"format_note: Lists projects. Absolute paths of workspace roots, e.g. /home/me."}}, out), ""},
		"within":  {input(server{tools: []string{"format_note: Reads files of the workspace."}}, out), "FILE-003 High"},
		"changed": {input(bound, touches(call, file+"-new")), "FILE-003 High: Tool format_note opened for writing"},
		"deleted": {input(bound, unlinks(call, file)), "FILE-003 High: Tool format_note deleted"},
		"listed":  {input(bound, lists(call, inputs.OutsideDir)...), "FILE-003 High: Tool format_note listed"},
		"refused": {input(bound, with(out, func(e *profile.Effect) { e.Kind, e.Error = profile.KindAttempt, "EACCES" })), ""},
		"a default": {input(server{tools: []string{
			"format_note: Makes a file. Defaults to session working directory set via git_set_working_dir, or the allowed directory."}}, out), ""},
		"lifted": {listed(server{name: "files", tools: []string{"format_note: Reads a file. Only works within allowed directories.",
			"set_config: Sets allowedDirectories; an empty array ([]) allows full access to the entire file system."}}), ""},
		"a place":                {input(server{tools: []string{"format_note: Reads a file in the working directory."}}, out), ""},
		"bound to nothing":       {input(free, out), ""},
		"bound by roots":         {asked(input(free, out)), "FILE-003 High: Tool format_note opened /var/tmp/marlow-elsewhere/note.txt, where an argument with \"..\" led; the server had asked"},
		"bound by its command":   {fileLaunch(input(free, out, using), "", "node", "/app/x.js", "/srv/notes"), "FILE-003 Medium"},
		"by an option":           {fileLaunch(input(free, out, using), "", "node", "/app/x.js", "--root=/srv/notes/"), "FILE-003 Medium"},
		"a directory of no use":  {fileLaunch(input(free, out), "", "node", "/app/x.js", "/srv/notes"), ""},
		"allowed to go anywhere": {fileLaunch(input(free, out, using), "", "node", "/app/x.js", "/srv/notes", "/"), ""},
		"its script":             {fileLaunch(input(free, out, read(startup, "/app/x.js")), "", "node", "/app/x.js"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

func TestEnumeration(t *testing.T) {
	everywhere := []string{home, home + "/Documents", home + "/Documents/deep", home + "/Pictures", home + "/.ssh", "/opt/x", "/mnt"}
	backup := server{name: "b", tools: []string{"format_note: Makes a backup."}}
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"many places":       {input(silent, lists(call, everywhere...)...), "FILE-004 Medium: Tool format_note listed 6 unrelated places, which nothing in its declaration speaks of: /home/audit, /home/audit/Documents, "},
		"in the background": {input(silent, lists(idle, everywhere...)...), "FILE-004 Medium: While idle, the server listed 6"},
		"a few":             {input(silent, lists(call, everywhere[:5]...)...), ""},
		"one, deep":         {input(silent, lists(call, "/srv/a", "/srv/b", "/srv/c", "/srv/d", "/srv/e", "/srv/f")...), ""},
		"asked for":         {fileArguments(input(silent, lists(call, everywhere...)...), home, "/opt"), ""},
		"said":              {input(backup, lists(call, everywhere...)...), ""},
		"the kernel's":      {input(silent, lists(call, "/proc/1", "/sys/a", "/dev/x", "/tmp/y", "/var/tmp/z", "/srv")...), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, fileLaunch(tc.in, home+"/work", "node"), tc.want) })
	}
}

// Perl and Ruby ask for the shadow entry when they look up a user.
func TestShadowOfALookUp(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	by := func(pid int, after time.Duration, e profile.Effect) profile.Effect {
		e.PID, e.Time = pid, at.Add(after)
		return e
	}
	shell := server{tools: []string{"format_note: Runs a shell command."}}
	perl := by(7, 0, run(call, "/usr/bin/perl", "perl", "x.pl"))
	passwd, shadow := by(7, 1, read(call, "/etc/passwd")), by(7, 2, read(call, "/etc/shadow"))
	expect(t, input(shell, perl, passwd, shadow), "FILE-001 Info: Tool format_note read /etc/shadow (the password database), as Perl")
	expect(t, input(shell, perl, shadow), "FILE-001 High")
	expect(t, input(shell, perl, shadow, by(7, 3, read(call, "/etc/passwd"))), "FILE-001 High")
	expect(t, input(shell, perl, by(8, 1, read(call, "/etc/passwd")), shadow), "FILE-001 High")
	expect(t, input(shell, by(7, 0, run(call, "/usr/bin/cat", "cat")), passwd, shadow), "FILE-001 High")
	// Y4: a program of that name, one put in its place, another after it, and one that was told to
	expect(t, input(shell, by(7, 0, run(call, "/tmp/perl", "perl")), passwd, shadow), "FILE-001 High")
	expect(t, input(shell, perl, by(7, 1, run(call, "/usr/bin/cat", "cat")), passwd, shadow), "FILE-001 High")
	expect(t, input(shell, by(7, 0, run(call, "/usr/bin/perl", "perl", "-pe", "1", "/etc/shadow")), passwd, shadow), "FILE-001 High")
	own := by(7, 0, run(call, "/srv/x/node_modules/y/bin/perl", "perl"))
	expect(t, input(shell, own, passwd, shadow), "FILE-001 High")
	own.Path = home + "/work/bin/perl"
	expect(t, fileLaunch(input(shell, own, passwd, shadow), home+"/work", "node"), "FILE-001 High")
	if !slices.ContainsFunc(Judge(input(shell, by(7, -1, touches(call, "/usr/bin/perl")), perl, passwd, shadow)), func(f report.Finding) bool {
		return f.Rule == "MCPA-FILE-001" && f.Severity == report.SeverityHigh
	}) {
		t.Error("a program that the server has put there looks up a user")
	}
}

// Git alone does not explain a key: it needs one for other machines only.
func TestGitAndKeys(t *testing.T) {
	for description, want := range map[string]string{
		"Shows the git log of a repository.":  "FILE-001 High",
		"Pushes commits to a git remote.":     "",
		"Copies files to a machine over SSH.": "",
	} {
		expect(t, input(server{tools: []string{"format_note: " + description}}, read(call, "/root/.ssh/id_ed25519")), want)
	}
}

// fileScope is an input for a server with an operator's scope.
func fileScope(s server, allow report.DeclaredScope, effects ...profile.Effect) Input {
	in := input(s, effects...)
	in.Scope = scope.Read(s.manifest(), scope.Given{Allow: &allow, Home: home})
	return fileLaunch(in, "/srv/work", "node", "/app/x.js")
}

// The list of an operator is the last word, whatever the server says of itself.
func TestOperatorsPaths(t *testing.T) {
	talks := server{name: "notes", tools: []string{"format_note: Saves notes, sets up bash and ssh."}}
	writes := report.DeclaredScope{WritePaths: []string{"/srv/notes/", "~/.bashrc"}}
	reads := report.DeclaredScope{ReadPaths: []string{"/srv/notes/", "~/.ssh/id_rsa"}}
	passing := []profile.Effect{touches(call, "/tmp/x"), unlinks(call, "/tmp/x")}
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"written, on the list":     {fileScope(silent, writes, touches(call, "/srv/notes/a"), touches(call, home+"/.bashrc")), ""},
		"written elsewhere":        {fileScope(talks, writes, touches(call, "/srv/other/a")), `FILE-002 High: Tool format_note opened for writing /srv/other/a; by its declared scope it may write only /srv/notes/`},
		"its working directory":    {fileScope(talks, writes, touches(call, "/srv/work/a")), "FILE-002 High"},
		"a temporary file":         {fileScope(talks, writes, touches(call, "/tmp/x")), "FILE-002 High"},
		"one that goes again":      {fileScope(talks, writes, passing...), ""},
		"a device":                 {fileScope(talks, writes, touches(call, "/dev/shm/x"), touches(call, "/proc/self/comm")), ""},
		"asked for":                {fileArguments(fileScope(talks, writes, touches(call, "/tmp/x")), "/tmp/x"), ""},
		"a shell's start":          {fileScope(talks, writes, touches(call, home+"/.zshrc")), "PERSIST-001 High: Tool format_note changed /home/audit/.zshrc: a shell runs it at every start, and by its declared scope"},
		"read, on the list":        {fileScope(silent, reads, read(call, "/srv/notes/a"), read(call, home+"/.ssh/id_rsa")), ""},
		"read elsewhere":           {fileScope(talks, reads, read(call, "/srv/other/a")), "FILE-005 High: Tool format_note opened /srv/other/a; by its declared scope it may read only"},
		"loaded before any call":   {fileScope(talks, reads, read(startup, "/srv/other/a")), ""},
		"read in its directory":    {fileScope(talks, reads, read(call, "/srv/work/a")), ""},
		"read, as asked for":       {fileArguments(fileScope(talks, reads, read(call, "/srv/other/a")), "/srv/other"), ""},
		"a key, not on the list":   {fileScope(talks, reads, read(call, "/root/.ssh/id_ed25519")), "FILE-001 High: Tool format_note read /root/.ssh/id_ed25519 (an SSH key), by its declared scope"},
		"a decoy, not on the list": {fileScope(talks, reads, read(call, home+"/.kube/config")), "SECRET-001 High: Tool format_note read the decoy secret"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, tc.in, tc.want)
			for _, f := range Judge(tc.in) {
				if !f.ExceedsScope {
					t.Errorf("%+v does not say that it exceeds the scope", f)
				}
			}
		})
	}
}

// A package manager that a call has left running still reads its settings at the end.
func TestRoutineReadsOfWhatGoesOn(t *testing.T) {
	npmrc := read(where(report.PhaseShutdown, "", report.AttributionPhase), home+"/.npmrc")
	npmrc.Capability = report.Capability{Kind: report.CapabilityServer}
	npx := run(call, "/usr/bin/npx", "playwright", "install")
	expect(t, input(shelly, npx, npmrc), "")
	npx.Path = "/usr/bin/git"
	expect(t, input(shelly, npx, npmrc), "FILE-001 Medium")
}

var _ = prove(map[string]proof{
	"MCPA-FILE-002": {finds: one(silent, touches(call, "/etc/hosts")), spares: one(silent, touches(call, "/tmp/hosts"))},
	"MCPA-FILE-003": {
		finds:  one(server{tools: []string{"format_note: Reads files in the workspace."}}, read(call, inputs.OutsideDir+"/note.txt")),
		spares: one(silent, read(call, inputs.OutsideDir+"/note.txt")),
	},
	"MCPA-FILE-005": {
		finds:  []Input{fileScope(silent, report.DeclaredScope{ReadPaths: []string{"/srv/notes/"}}, read(call, "/srv/other"))},
		spares: one(silent, read(call, "/srv/other")),
	},
	"MCPA-FILE-004": {
		finds:  one(silent, lists(call, "/a", "/b", "/c", "/d", "/e")...),
		spares: one(silent, lists(call, "/a", "/b", "/c", "/d")...),
	},
})

// What a server reads in a directory that it has made itself is no secret of anybody's,
// unless something was moved there.
func TestOwnSecretsAreNone(t *testing.T) {
	browse := server{name: "browse", tools: []string{"format_note: Opens a page."}}
	const secret = "/tmp/profile-x/Default/Login Data"
	read := profile.Effect{Fact: profile.Fact{Kind: profile.KindRead, Path: secret, Operation: "openat"}, Where: call}
	moved := profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Path: "/tmp/profile-x/Default", Operation: "rename"}, Where: call}
	failed := with(mkdir(call, "/tmp/profile-x"), func(e *profile.Effect) { e.Error = "EEXIST" })
	late := with(mkdir(call, "/tmp/profile-x"), func(e *profile.Effect) { e.Time = e.Time.Add(time.Hour) })
	for name, tc := range map[string]struct {
		effects []profile.Effect
		want    string
	}{
		"its own":      {[]profile.Effect{mkdir(call, "/tmp/profile-x"), mkdir(call, "/tmp/profile-x/Default"), read}, ""},
		"another's":    {[]profile.Effect{read}, "FILE-001 High"},
		"there before": {[]profile.Effect{failed, read}, "FILE-001 High"},
		"made later":   {[]profile.Effect{late, read}, "FILE-001 High"},
		"moved there":  {[]profile.Effect{mkdir(call, "/tmp/profile-x"), moved, read}, "FILE-001 High"},
		"a sibling":    {[]profile.Effect{mkdir(call, "/tmp/profile"), read}, "FILE-001 High"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, input(browse, tc.effects...), tc.want) })
	}
}

// Who looks for many kinds of secrets in vain, or without opening any, is found; who uses
// one service, or goes through a directory, is not.
func TestProbing(t *testing.T) {
	missing := func(name, errno string) profile.Effect {
		return with(read(call, name), func(e *profile.Effect) { e.Kind, e.Error = profile.KindAttempt, errno })
	}
	all := []profile.Effect{
		missing(home+"/.bitcoin/wallet.dat", "ENOENT"), missing(home+"/.config/gcloud/credentials.db", "ENOENT"), missing(home+"/.azure/accessTokens.json", "ENOENT"),
		missing(home+"/.mozilla/firefox/x/logins.json", "ENOENT"), missing(home+"/.password-store/x.gpg", "EACCES"),
	}
	expect(t, input(silent, all...), "FILE-006 High: Tool format_note looked for secrets in 5 places")
	expect(t, input(silent, all[:3]...), "")
	wallets := []profile.Effect{missing(home+"/.bitcoin/x", "ENOENT"), missing(home+"/.electrum/x", "ENOENT"), missing(home+"/.monero/x", "ENOENT"), missing(home+"/.config/Exodus/x", "ENOENT")}
	expect(t, fileLaunch(input(silent, wallets...), "", "x"), "FILE-006 High: Tool format_note looked for secrets in 4 places that nothing in its declaration speaks of: a wallet")
	keys := []profile.Effect{missing(home+"/.ssh/id_rsa", "ENOENT"), missing(home+"/.ssh/id_dsa", "ENOENT"), missing(home+"/.ssh/id_ecdsa", "ENOENT"), missing(home+"/.ssh/id_ed25519", "ENOENT")}
	expect(t, fileLaunch(input(silent, keys...), "", "x"), "")
	look := func(name string) profile.Effect {
		return with(read(call, name), func(e *profile.Effect) { e.Kind, e.Operation = profile.KindLook, "newfstatat" })
	}
	asked := []profile.Effect{look(home + "/.ssh"), look(home + "/.aws"), look(home + "/.config/google-chrome"), look(home + "/.electrum/wallets"), look(home + "/.aws/config")}
	expect(t, input(silent, asked...), "FILE-006 High: Tool format_note looked for secrets in 4 places")
	expect(t, input(silent, asked[1:]...), "")
	expect(t, input(server{name: "x", tools: []string{"format_note: Shows which AWS profiles there are."}}, asked...), "")
	for i := range asked {
		asked[i].Kind = profile.KindList
	}
	expect(t, input(silent, asked...), "FILE-006 High: Tool format_note looked for secrets in 4 places")
	listing := with(read(call, home), func(e *profile.Effect) { e.Kind = profile.KindList })
	expect(t, input(silent, append(asked, listing)...), "")
	expect(t, input(silent, missing("/proc/7/environ", "EACCES")), "FILE-006 High: Tool format_note tried to open /proc/7/environ")
	expect(t, input(silent, missing("/proc/7/environ", "ENOENT")), "")
	expect(t, input(silent, missing("/proc/1/environ", "EACCES")), "") // whether this is a container
	token := missing("/var/run/secrets/kubernetes.io/serviceaccount/token", "ENOENT")
	expect(t, input(silent, token), "FILE-006 High: Tool format_note tried to open /var/run/secrets/kubernetes.io/serviceaccount/token")
	expect(t, input(server{name: "x", tools: []string{"format_note: Lists the Pods of a Kubernetes cluster."}}, token), "")
	by := func(program string, e profile.Effect) profile.Effect {
		return with(e, func(e *profile.Effect) { e.Program = program })
	}
	expect(t, input(silent, by("/usr/bin/ps", missing("/proc/1/environ", "EACCES")), by("/usr/bin/ps", read(call, "/proc/7/environ"))), "")
	lookup := []profile.Effect{by(trace.SessionLookup, missing("/proc/7/environ", "EACCES")), by(trace.SessionLookup, read(call, "/proc/8/environ"))}
	expect(t, input(silent, lookup...), "")
	fake := with(lookup[0], func(e *profile.Effect) { e.Kind, e.Path, e.Error = profile.KindExec, "/tmp/x/grep", "" })
	if faked := input(silent, append(lookup, fake)...); faked.listsProcesses(lookup[0]) {
		t.Error("the look-up of the session goes through a program of the server's")
	}
	expect(t, input(silent, by("/tmp/ps", missing("/proc/7/environ", "EACCES"))), "FILE-006 High")
	expect(t, input(silent, by(trace.Altered+"/usr/bin/ps", missing("/proc/7/environ", "EACCES"))), "FILE-006 High")
	expect(t, input(silent, missing("/dev/input/event0", "EACCES")), "FILE-006 High: Tool format_note tried to open /dev/input/event0")
	expect(t, input(silent, missing("/dev/input", "ENOENT")), "FILE-006 High: Tool format_note tried to open /dev/input")
	expect(t, input(server{name: "keys", tools: []string{"format_note: Presses keys of the keyboard."}}, missing("/dev/input/event0", "EACCES")), "")
}

var _ = prove(map[string]proof{
	"MCPA-FILE-006": {
		finds:  one(silent, with(read(call, "/proc/7/environ"), func(e *profile.Effect) { e.Kind, e.Error = profile.KindAttempt, "EACCES" })),
		spares: one(silent, with(read(call, home+"/.azure/x"), func(e *profile.Effect) { e.Kind, e.Error = profile.KindAttempt, "ENOENT" })),
	},
})

// TestBelongings: what the user had is not the server's to change because it says that it stores things, or
// has a word of the file's directory in its own path. One that is about files may.
func TestBelongings(t *testing.T) {
	letter := home + "/Documents/letter.md"
	stores := server{name: "notes", tools: []string{"format_note: Formats a note, and saves it in ~/.cache/notes."}}
	sorts := server{name: "notes", tools: []string{"format_note: Sorts the files of the user by their age."}}
	for name, tc := range map[string]struct {
		server server
		path   string
		want   string
	}{
		"one that stores":       {stores, letter, "FILE-002 High: Tool format_note opened for writing " + letter + ", which is the user's and was there before"},
		"one of its own":        {stores, home + "/Documents/new.md", ""},
		"one that sorts":        {sorts, letter, ""},
		"a secret of that name": {silent, home + "/.docker/config.json", "FILE-002 High"},
	} {
		in := fileLaunch(input(tc.server, touches(call, tc.path)), "", "python3", "servers/docker-notes.py")
		in.Belongings = []string{letter}
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}
