package behavior_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/behavior"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var server = behavior.Server{Home: "/home/u", Command: []string{"node", "dist/server.js", "/data/given"},
	Search: []string{"audits.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"}}

func file(kind profile.Kind, path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: kind, Path: path, Operation: "openat"}, Where: ledger.Where{Phase: report.PhaseCall}}
}

func connect(protocol, address string, port int, host string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Protocol: protocol, Address: address, Port: port, Host: host}}
}

func listen(protocol, address string, port int) profile.Effect {
	e := connect(protocol, address, port, "")
	e.Kind = profile.KindListen
	return e
}

func at(phase report.Phase, e profile.Effect) profile.Effect {
	e.Phase = phase
	return e
}

func with(operation string, e profile.Effect) profile.Effect {
	e.Operation = operation
	return e
}

func TestEntries(t *testing.T) {
	mark := inputs.Mark{Seed: 7, Call: 12}
	for name, c := range map[string]struct {
		effect profile.Effect
		want   string // "" for none
	}{
		"a key":                 {file(profile.KindRead, "/home/u/.ssh/id_rsa"), "read ~/.ssh/"},
		"a list of keys":        {file(profile.KindList, "/home/u/.ssh"), "read ~/.ssh/"},
		"a start file":          {file(profile.KindWrite, "/home/u/.bashrc"), "write ~/.bashrc"},
		"settings":              {file(profile.KindWrite, "/home/u/.config/notes/x/y.json"), "write ~/.config/notes/"},
		"settings in one file":  {file(profile.KindWrite, "/home/u/.config/notes.json"), "write ~/.config/notes.json"},
		"data":                  {file(profile.KindDelete, "/home/u/.local/share/notes/3f2a77b1"), "delete ~/.local/share/notes/"},
		"a user's file":         {file(profile.KindRead, "/home/u/taxes.pdf"), "read ~/"},
		"a user's directory":    {file(profile.KindRead, "/home/u/Documents/taxes.pdf"), "read ~/Documents/"},
		"home itself":           {file(profile.KindList, "/home/u"), "read ~/"},
		"another home":          {file(profile.KindRead, "/home/v/.ssh/id_rsa"), "read /home/v/"},
		"a made-up directory":   {file(profile.KindWrite, "/home/u/tmp8x3k2q9f71/a"), "write ~/*/"},
		"a temporary file":      {file(profile.KindWrite, "/tmp/notes-8x3k2q/a"), "write /tmp/"},
		"of the probe":          {file(profile.KindWrite, "/home/u/"+mark.ID()+"/a"), "write ~/*/"},
		"of another process":    {file(profile.KindRead, "/proc/714/environ"), "read /proc/PID/"},
		"of the kernel":         {file(profile.KindRead, "/proc/sys/kernel/ostype"), "read /proc/"},
		"of the system":         {file(profile.KindRead, "/etc/hosts"), "read /etc/hosts"},
		"of a package":          {file(profile.KindRead, "/usr/share/dict/words"), "read /usr/share/dict/"},
		"a mounted file":        {file(profile.KindRead, "/data/given/a.txt"), "read /data/"},
		"at the root":           {file(profile.KindRead, "/notes.db"), "read /"},
		"a directory made":      {with("mkdir", file(profile.KindWrite, "/home/u/.notes")), "write ~/.notes/"},
		"of its own":            {file(profile.KindRead, "/srv/app/dist/views/index.html"), "read ./"},
		"a failed open":         {file(profile.KindAttempt, "/home/u/.ssh/id_rsa"), ""},
		"a program":             {at(report.PhaseCall, file(profile.KindExec, "/usr/bin/git")), "execute git"},
		"a runtime":             {at(report.PhaseCall, file(profile.KindExec, "/usr/bin/python3.11")), "execute python"},
		"the server itself":     {at(report.PhaseStartup, file(profile.KindExec, "/usr/bin/node")), ""},
		"its like later":        {at(report.PhaseCall, file(profile.KindExec, "/usr/bin/node")), "execute node"},
		"a dropped program":     {at(report.PhaseCall, file(profile.KindExec, "/tmp/x/payload")), "execute /tmp/payload"},
		"a helper of its own":   {at(report.PhaseCall, file(profile.KindExec, "/srv/app/dist/helper")), "execute ./helper"},
		"a host":                {connect("tcp", "28.18.0.9", 443, "api.Example.com."), "connect api.example.com:443"},
		"in a cluster":          {connect("tcp", "28.18.0.9", 443, "api.example.com.audits.svc.cluster.local"), "connect api.example.com:443"},
		"an address":            {connect("tcp", "93.184.216.34", 80, ""), "connect 93.184.216.34:80"},
		"a tunnel":              {connect("udp", "10.0.0.2", 53, "0a1b2c3d4e5f.6a7b8c9d0e1f.evil.example"), "resolve *.evil.example"},
		"a look-up":             {connect("udp", "10.0.0.2", 53, "api.example.com"), "resolve api.example.com"},
		"the start of one":      {connect("udp", "10.0.0.2", 53, ""), ""},
		"a host of the probe":   {connect("tcp", "28.18.0.9", 80, mark.Host()), ""},
		"a made-up domain":      {connect("tcp", "28.18.0.9", 443, "x1.3f2a77b1c0.example"), "connect x1.3f2a77b1c0.example:443"},
		"data to that port":     {with("sendto", connect("udp", "93.184.216.34", 53, "")), "connect 93.184.216.34:53"},
		"a database":            {connect("tcp", "127.0.0.1", 5432, ""), "connect localhost:5432"},
		"a port of the kernel":  {connect("tcp", "127.0.0.1", 43210, ""), "connect localhost"},
		"a control socket":      {connect("unix", "/var/run/docker.sock", 0, ""), "connect unix /var/run/docker.sock"},
		"a socket of its own":   {connect("unix", "/tmp/notes.8x3k2q/s", 0, ""), "connect unix /tmp/"},
		"netlink":               {connect("netlink", "", 0, ""), ""},
		"listens to all":        {listen("tcp", "0.0.0.0", 8080), "listen tcp *:8080"},
		"listens to all by six": {listen("tcp", "::", 8080), "listen tcp *:8080"},
		"listens here":          {listen("tcp", "127.0.0.1", 40123), "listen tcp localhost"},
		"listens on an address": {listen("tcp", "10.1.2.3", 9000), "listen tcp an address:9000"},
		"bytes":                 {profile.Effect{Fact: profile.Fact{Kind: profile.KindSend, Address: "93.184.216.34", Port: 80}}, ""},
		"evasion":               {profile.Effect{Fact: profile.Fact{Kind: profile.KindEvade, Operation: "ptrace"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			// The server's reads of its own files show where it is installed.
			p := profile.Profile{Effects: []profile.Effect{file(profile.KindRead, "/srv/app/dist/server.js"), c.effect}}
			want := []string{"read ./"}
			if c.want != "" && c.want != "read ./" {
				want = []string{c.want, "read ./"}
				if c.want > want[1] {
					want = []string{"read ./", c.want}
				}
			}
			if diff := cmp.Diff(want, behavior.Of(p, server, false).Entries); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLookUps: a name that is connected to has no look-up entry, nor has a name that
// was tried with a search domain.
func TestLookUps(t *testing.T) {
	p := profile.Profile{Effects: []profile.Effect{
		connect("udp", "10.0.0.2", 53, "api.example.com"), connect("udp", "10.0.0.2", 53, "api.example.com.corp.example"),
		connect("tcp", "28.18.0.9", 443, "api.example.com"),
		connect("udp", "10.0.0.2", 53, "other.example"), connect("udp", "10.0.0.2", 53, "other.example.corp.example"),
		connect("udp", "10.0.0.2", 53, "localhost"), connect("udp", "10.0.0.2", 53, "api.example.com.evil.test"),
		connect("udp", "10.0.0.2", 53, inputs.Mark{Seed: 7, Call: 12}.Host()+".evil.test"),
	}}
	want := []string{"connect api.example.com:443", "resolve api.example.com.evil.test",
		"resolve c12.pages.example.net.evil.test", "resolve other.example"}
	if diff := cmp.Diff(want, behavior.Of(p, server, false).Entries); diff != "" {
		t.Error(diff)
	}
}

// TestDigestIsSteady: two runs differ only in details that must not change the digest.
func TestDigestIsSteady(t *testing.T) {
	run := func(random string, count, port int, phase report.Phase) report.Behavior {
		p := profile.Profile{Effects: []profile.Effect{
			at(phase, file(profile.KindWrite, "/tmp/"+random)), at(phase, file(profile.KindWrite, "/home/u/.cache/notes/"+random)),
			connect("tcp", "127.0.0.1", port, ""), listen("tcp", "127.0.0.1", port), connect("tcp", "28.18.0."+strconv.Itoa(count), 443, "api.example.com"),
		}}
		for i := range p.Effects {
			p.Effects[i].Count, p.Effects[i].PID = count, port
		}
		return behavior.Of(p, server, false)
	}
	a, b := run("tmp8x3k2q9f", 1, 40001, report.PhaseCall), run("tmpzz71ab0c", 9, 51234, report.PhaseIdle)
	if diff := cmp.Diff(a, b); diff != "" || a.Digest == "" {
		t.Errorf("digest %q\n%s", a.Digest, diff)
	}
}

func TestIncomplete(t *testing.T) {
	p := profile.Profile{Effects: []profile.Effect{file(profile.KindRead, "/etc/hosts")}}
	if b := behavior.Of(p, server, true); b.Digest != "" || len(b.Entries) != 1 {
		t.Errorf("%+v", b)
	}
	p.Effects = nil
	for i := range 2 * report.MaxBehavior {
		p.Effects = append(p.Effects, connect("tcp", "10.0."+strconv.Itoa(i/256)+"."+strconv.Itoa(i%256), 80, ""))
	}
	if b := behavior.Of(p, server, false); b.Digest != "" {
		t.Errorf("%d entries have a digest", len(b.Entries))
	}
}

func FuzzOf(f *testing.F) {
	f.Add("/home/u/.config/x", "api.example.com", "dist/server.js")
	f.Add("//proc/1/../x", "..cluster.local", "./../x.py")
	f.Add("", ".svc.cluster.local", "")
	f.Fuzz(func(t *testing.T, path, host, command string) {
		p := profile.Profile{Effects: []profile.Effect{
			file(profile.KindRead, path), file(profile.KindExec, path), connect("tcp", path, 80, host), connect("udp", "10.0.0.2", 53, host),
			connect("unix", path, 0, ""), listen("unix", path, 0),
		}}
		b := behavior.Of(p, behavior.Server{Home: "/home/u", Command: []string{"node", command}}, false)
		for _, entry := range b.Entries {
			if verb, what, ok := strings.Cut(entry, " "); !ok || verb == "" || what == "" {
				t.Errorf("entry %q", entry)
			}
		}
	})
}
