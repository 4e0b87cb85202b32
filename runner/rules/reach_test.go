package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

func TestPersistence(t *testing.T) {
	write := func(path string) profile.Effect {
		return with(read(call, path), func(e *profile.Effect) { e.Kind = profile.KindWrite })
	}
	moved := func(path string) profile.Effect {
		return with(write(path), func(e *profile.Effect) { e.Operation = "rename" })
	}
	git := server{name: "git", tools: []string{"format_note: Clones a git repository."}}
	hooks := server{name: "git", tools: []string{"format_note: Installs a hook in a git repository."}}
	for name, tc := range map[string]struct {
		server server
		effect profile.Effect
		want   string
	}{
		"a shell":                      {silent, write(home + "/.bashrc"), "PERSIST-001 High: Tool format_note changed " + home + "/.bashrc: a shell runs it at every start, and nothing"},
		"cron":                         {silent, write("/etc/cron.d/x"), "PERSIST-001 High"},
		"its own crontab":              {silent, write("/var/spool/cron/crontabs/root"), "PERSIST-001 High"},
		"autostart":                    {silent, write(home + "/.config/autostart/x.desktop"), "PERSIST-001 High"},
		"SSH":                          {silent, write(home + "/.ssh/authorized_keys"), "PERSIST-001 High"},
		"a unit":                       {silent, write(home + "/.config/systemd/user/x.service"), "PERSIST-001 High"},
		"a hook":                       {silent, write("/src/.git/hooks/pre-commit"), "PERSIST-001 High"},
		"a hook, by git":               {git, write("/src/.git/hooks/pre-commit"), "PERSIST-001 High"},
		"a hook, said so":              {hooks, write("/src/.git/hooks/pre-commit"), ""},
		"git's samples":                {silent, write("/src/.git/hooks/pre-commit.sample"), ""},
		"a preload":                    {git, write("/etc/ld.so.preload"), "PERSIST-001 High"},
		"an agent":                     {silent, write(home + "/.claude.json"), "PERSIST-001 High"},
		"W4, the one above":            {silent, moved(home + "/.config/systemd"), "PERSIST-001 High: Tool format_note changed " + home + "/.config/systemd: systemd runs it"},
		"W4, of settings":              {silent, moved(home + "/.config"), "PERSIST-001 High"},
		"W4, of a project":             {silent, moved("/src/.git"), "PERSIST-001 High"},
		"W4, one that is written to":   {silent, write(home + "/.config/systemd/notes"), ""},
		"W4, another of the home":      {silent, moved(home + "/.config/notes"), ""},
		"W4, one that is called so":    {silent, moved("/src/gen/go"), ""},
		"W4, the directory of modules": {silent, moved("/src/node_modules/x/.github"), ""},
		"its directory":                {silent, with(write(home+"/.config/autostart"), func(e *profile.Effect) { e.Operation = "symlink" }), "PERSIST-001 High"},
		"a plain mkdir":                {silent, with(write(home+"/.config/autostart"), func(e *profile.Effect) { e.Operation = "mkdir" }), ""},
		"a lock file":                  {silent, write("/src/package-lock.json"), "PERSIST-001 High"},
		"a note":                       {silent, write(home + "/profile.txt"), ""},
		"read only":                    {silent, read(call, home+"/.bashrc"), ""},
		"not achieved":                 {silent, with(write(home+"/.bashrc"), func(e *profile.Effect) { e.Kind, e.Error = profile.KindAttempt, "EROFS" }), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, input(tc.server, tc.effect), tc.want) })
	}
}

func TestControlSockets(t *testing.T) {
	docker := server{name: "docker", tools: []string{"format_note: Lists Docker containers."}}
	unix := func(path string) profile.Effect { return connect(call, "unix", path, 0) }
	for name, tc := range map[string]struct {
		server server
		effect profile.Effect
		want   string
	}{
		"docker":           {silent, unix("/var/run/docker.sock"), "SOCKET-001 High: Tool format_note tried to connect to /var/run/docker.sock (the container runtime"},
		"not there":        {silent, with(unix("/run/containerd/containerd.sock"), func(e *profile.Effect) { e.Error = "ENOENT" }), "SOCKET-001 High"},
		"docker, declared": {docker, unix("/var/run/docker.sock"), ""},
		"systemd":          {silent, unix("/run/systemd/private"), "SOCKET-001 High"},
		"an SSH agent":     {silent, unix("/tmp/ssh-XXyfO1/agent.12"), "SOCKET-001 High"},
		"a GnuPG agent":    {silent, unix("/run/user/1000/gnupg/S.gpg-agent"), "SOCKET-001 High"},
		"a database":       {silent, unix("/run/postgresql/.s.PGSQL.5432"), ""},
		"the journal":      {silent, unix("/run/systemd/journal/socket"), ""},
		"a private one":    {silent, unix("/run/app/private"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, input(tc.server, tc.effect), tc.want) })
	}
}
