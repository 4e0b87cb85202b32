package profile_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/golden"
)

var (
	server = report.Capability{Kind: report.CapabilityServer}
	note   = report.Capability{Kind: report.CapabilityTool, Name: "format_note"}
	clock  = report.Capability{Kind: report.CapabilityTool, Name: "clock"}
)

// session: initialize, one call of each of two tools.
var session = ledger.Ledger{
	{Phase: report.PhaseHandshake, Capability: server, Method: "initialize", SentStart: 0, SentEnd: 100, Received: 200},
	{Phase: report.PhaseCall, Capability: note, Method: "tools/call", SentStart: 100, SentEnd: 200, Received: 300},
	{Phase: report.PhaseCall, Capability: clock, Method: "tools/call", SentStart: 200, SentEnd: 300, Received: 400},
}

// The positions of the session.
var (
	startup   = trace.Position{}
	handshake = trace.Position{In: 100, Out: 0}
	inNote    = trace.Position{In: 200, Out: 200}
	halfNote  = trace.Position{In: 200, Out: 250}
	afterNote = trace.Position{In: 200, Out: 300}
	inClock   = trace.Position{In: 300, Out: 300}
	idle      = trace.Position{In: 300, Out: 400}
	shutdown  = trace.Position{In: 300, Out: 400, EOF: true}
)

// recorder builds events with distinct numbers and times.
type recorder struct{ events []trace.Event }

func (r *recorder) add(at trace.Position, e trace.Event) {
	e.At, e.Seq, e.PID = at, uint64(len(r.events)+1), 7
	e.Time = time.Date(2026, 1, 2, 3, 4, 5, 1000*len(r.events), time.UTC)
	e.Detail = fmt.Sprintf("%s(%s) = ...", e.Syscall, e.Path)
	r.events = append(r.events, e)
}

func (r *recorder) build(limits profile.Limits) profile.Profile {
	b := profile.New(limits)
	for _, e := range r.events {
		b.Add(e)
	}
	return b.Build(session)
}

func read(path string) trace.Event {
	return trace.Event{Op: trace.OpRead, Syscall: "openat", Path: path, Flags: []string{"O_RDONLY", "O_CLOEXEC"}}
}

func failed(errno string, e trace.Event) trace.Event {
	e.Errno = errno
	return e
}

func write(path string) trace.Event {
	return trace.Event{Op: trace.OpWrite, Syscall: "openat", Path: path, Flags: []string{"O_WRONLY", "O_CREAT"}}
}

func connect(protocol, remote string) trace.Event {
	return trace.Event{Op: trace.OpConnect, Syscall: "connect",
		Socket: &trace.Socket{Family: "inet", Protocol: protocol, Remote: netip.MustParseAddrPort(remote)}}
}

func execute(argv ...string) trace.Event {
	return trace.Event{Op: trace.OpExec, Syscall: "execve", Path: argv[0], Argv: argv}
}

// summary returns an effect in one line: what, where and how often.
func summary(e profile.Effect) string {
	what := e.Path
	if e.Port != 0 {
		what = fmt.Sprintf("%s:%d/%s", e.Address, e.Port, e.Protocol)
	}
	return fmt.Sprintf("%s %s %s x%d: %s %s %s", e.Kind, what, e.Error, e.Count, e.Phase, e.Capability, e.Attribution)
}

func summaries(p profile.Profile) []string {
	var all []string
	for _, e := range p.Effects {
		all = append(all, summary(e))
	}
	return all
}

func TestEffects(t *testing.T) {
	rw := trace.Event{Op: trace.OpWrite, Syscall: "openat", Path: "/data/db", Flags: []string{"O_RDWR"}}
	created := trace.Event{Op: trace.OpWrite, Syscall: "openat", Path: "/data/db", Flags: []string{"O_RDONLY", "O_CREAT"}}
	dir := trace.Event{Op: trace.OpRead, Syscall: "openat", Path: "/data", Flags: []string{"O_RDONLY", "O_DIRECTORY"}}
	listen := trace.Event{Op: trace.OpListen, Syscall: "listen",
		Socket: &trace.Socket{Family: "inet", Protocol: "tcp", Local: netip.MustParseAddrPort("0.0.0.0:80")}}
	bind := func(protocol, local string) trace.Event {
		return trace.Event{Op: trace.OpBind, Syscall: "bind",
			Socket: &trace.Socket{Family: "inet", Protocol: protocol, Local: netip.MustParseAddrPort(local)}}
	}
	unix := trace.Event{Op: trace.OpConnect, Syscall: "connect",
		Socket: &trace.Socket{Family: "unix", Protocol: "unix", Path: "/run/docker.sock"}}
	const inflight = ": Call tool format_note InFlight"
	for name, tc := range map[string]struct {
		event trace.Event
		want  []string
	}{
		"a read":                   {read("/home/u/x"), []string{"Read /home/u/x  x1" + inflight}},
		"a failed read is none":    {failed("ENOENT", read("/home/u/x")), []string{"Attempt /home/u/x ENOENT x1" + inflight}},
		"a directory":              {dir, []string{"List /data  x1" + inflight}},
		"a write":                  {write("/data/x"), []string{"Write /data/x  x1" + inflight}},
		"read and write":           {rw, []string{"Read /data/db  x1" + inflight, "Write /data/db  x1" + inflight}},
		"a failed read and write":  {failed("EACCES", rw), []string{"Attempt /data/db EACCES x1" + inflight}},
		"a rename gives access":    {trace.Event{Op: trace.OpRename, Syscall: "renameat2", Path: "/d/a", Target: "/d/b"}, []string{"Read /d/a  x1" + inflight, "Write /d/a  x1" + inflight, "Write /d/b  x1" + inflight}},
		"a read that may create":   {created, []string{"Read /data/db  x1" + inflight, "Write /data/db  x1" + inflight}},
		"a hard link gives access": {trace.Event{Op: trace.OpLink, Syscall: "linkat", Path: "/d/a", Target: "/d/b"}, []string{"Read /d/b  x1" + inflight, "Write /d/a  x1" + inflight}},
		"a symbolic link does not": {trace.Event{Op: trace.OpLink, Syscall: "symlink", Path: "/d/a", Target: "/d/b"}, []string{"Write /d/a  x1" + inflight}},
		"a link to a secret":       {trace.Event{Op: trace.OpLink, Syscall: "symlink", Path: "/d/a", Target: "/h/.ssh/id_rsa"}, []string{"Look /h/.ssh/id_rsa  x1" + inflight, "Write /d/a  x1" + inflight}},
		"a failed symbolic link":   {trace.Event{Op: trace.OpLink, Syscall: "symlink", Path: "/d/a", Target: "/d/b", Errno: "EEXIST"}, []string{"Attempt /d/a EEXIST x1" + inflight}},
		"a writable mapping":       {trace.Event{Op: trace.OpMap, Syscall: "mmap", Path: "/data/db-shm"}, []string{"Write /data/db-shm  x1" + inflight}},
		"a change of user":         {trace.Event{Op: trace.OpCredential, Syscall: "setuid"}, nil},
		"a removal":                {trace.Event{Op: trace.OpDelete, Syscall: "unlinkat", Path: "/d/a"}, []string{"Delete /d/a  x1" + inflight}},
		"a change of mode":         {trace.Event{Op: trace.OpAttribute, Syscall: "fchmodat", Path: "/d/a"}, []string{"Write /d/a  x1" + inflight}},
		"a failed rename":          {trace.Event{Op: trace.OpRename, Syscall: "rename", Path: "/d/a", Target: "/d/b", Errno: "EXDEV"}, []string{"Attempt /d/a EXDEV x1" + inflight, "Attempt /d/b EXDEV x1" + inflight}},
		"a program":                {execute("/bin/sh", "-c", "ls"), []string{"Exec /bin/sh  x1" + inflight}},
		"a connection":             {connect("tcp", "192.0.2.1:443"), []string{"Connect 192.0.2.1:443/tcp  x1" + inflight}},
		"a connection in progress": {failed("EINPROGRESS", connect("tcp", "192.0.2.1:443")), []string{"Connect 192.0.2.1:443/tcp  x1" + inflight}},
		"a refused connection":     {failed("ECONNREFUSED", connect("tcp", "192.0.2.1:443")), []string{"Connect 192.0.2.1:443/tcp ECONNREFUSED x1" + inflight}},
		"a unix socket":            {unix, []string{"Connect /run/docker.sock  x1" + inflight}},
		"a listener":               {listen, []string{"Listen 0.0.0.0:80/tcp  x1" + inflight}},
		"a datagram listener":      {bind("udp", "0.0.0.0:5353"), []string{"Listen 0.0.0.0:5353/udp  x1" + inflight}},
		"a client's bind":          {bind("udp", "0.0.0.0:0"), nil},
		"a stream's bind":          {bind("tcp", "0.0.0.0:80"), nil},
		"bytes":                    {trace.Event{Op: trace.OpSend, Syscall: "write", Socket: connect("tcp", "192.0.2.1:443").Socket}, nil},
		"evasion":                  {trace.Event{Op: trace.OpEvade, Syscall: "ptrace", Errno: "EPERM", Refused: true}, []string{"Evade  EPERM x1" + inflight}},
		"bytes to a file":          {trace.Event{Op: trace.OpStore, Syscall: "pwrite64", Path: "/data/x", Size: 5}, []string{"Store /data/x  x1" + inflight}},
		"bytes to a device":        {trace.Event{Op: trace.OpStore, Syscall: "write", Path: "/dev/null", Size: 5}, nil},
		"a library":                {read("/usr/lib/x86_64-linux-gnu/libc.so.6"), nil},
		"a missing locale":         {failed("ENOENT", read("/usr/lib/locale/C.UTF-8/LC_TIME")), nil},
		"a package":                {read("/app/node_modules/zod/index.js"), nil},
		"a key among packages":     {read("/app/node_modules/zod/.env"), []string{"Read /app/node_modules/zod/.env  x1" + inflight}},
		"a change to a library":    {write("/usr/lib/libc.so.6"), []string{"Write /usr/lib/libc.so.6  x1" + inflight}},
		"itself":                   {read("/proc/self/status"), nil},
		"its own environment":      {read("/proc/self/environ"), []string{"Read /proc/self/environ  x1" + inflight}},
		"another's environment":    {read("/proc/1/environ"), []string{"Read /proc/1/environ  x1" + inflight}},
		"its own memory, written":  {write("/proc/self/mem"), []string{"Write /proc/self/mem  x1" + inflight}},
		"the null device":          {write("/dev/null"), nil},
		"who is who":               {read("/etc/passwd"), []string{"Read /etc/passwd  x1" + inflight}},
		"a certificate":            {read("/etc/ssl/certs/ca-certificates.crt"), nil},
		"a private key":            {read("/etc/ssl/private/server.key"), []string{"Read /etc/ssl/private/server.key  x1" + inflight}},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			r.add(inNote, tc.event)
			if diff := cmp.Diff(tc.want, summaries(r.build(profile.Limits{}))); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProcessesAreListedOnce: a program that lists processes reads the same files of each, and each call has others.
func TestProcessesAreListedOnce(t *testing.T) {
	var r recorder
	for pid := 30; pid < 60; pid++ {
		for _, file := range []string{"stat", "cmdline", "environ"} {
			r.add(inNote, read(fmt.Sprintf("/proc/%d/%s", pid, file)))
		}
	}
	r.add(inNote, failed("ENOENT", read("/proc/99/stat")))
	got := summaries(r.build(profile.Limits{}))
	for _, want := range []string{"Read /proc/PID/stat  x30", "Read /proc/PID/cmdline  x30", "Attempt /proc/PID/stat ENOENT x1", "Read /proc/59/environ  x1"} {
		if !slices.ContainsFunc(got, func(effect string) bool { return strings.HasPrefix(effect, want) }) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	if len(got) != 33 { // each environment is a separate secret
		t.Errorf("%d effects: %q", len(got), got)
	}
}

// TestDetails: fields that rules use and the report merges.
func TestDetails(t *testing.T) {
	opened := func(flags ...string) trace.Event {
		return trace.Event{Op: trace.OpWrite, Syscall: "openat", Path: "/data/x", Flags: flags}
	}
	within := execute("/bin/ls")
	within.Within = "/bin/sh"
	detached := connect("tcp", "192.0.2.1:443")
	detached.Daemon = true
	listed, own := read("/proc/7/environ"), read("/proc/7/environ")
	listed.Program = "/usr/bin/ps"
	var r recorder
	for _, e := range []trace.Event{opened("O_WRONLY", "O_TRUNC"), opened("O_WRONLY", "O_APPEND"), opened("O_WRONLY"),
		execute("/bin/ls"), within, connect("tcp", "192.0.2.1:443"), detached, listed, own} {
		r.add(inNote, e)
	}
	var got []string
	p := r.build(profile.Limits{})
	for _, e := range p.Effects {
		got = append(got, fmt.Sprintf("%s %s%s%s %t", e.Kind, e.Opening, e.Within, e.Program, e.Detached))
	}
	want := []string{"Write O_TRUNC false", "Write O_APPEND false", "Write  false", "Exec  false", "Exec /bin/sh false",
		"Connect  false", "Connect  true", "Read /usr/bin/ps false", "Read  false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	c := p.Report().Capabilities[0]
	if len(c.Writes) != 1 || c.Writes[0].Count != 3 || len(c.Execs) != 1 || c.Execs[0].Count != 2 || len(c.Connects) != 1 || len(c.Reads) != 1 {
		t.Errorf("report: %+v", c)
	}
}

func TestWhere(t *testing.T) {
	for name, tc := range map[string]struct {
		at   []trace.Position
		want []string
	}{
		"startup":   {[]trace.Position{startup}, []string{"Read /x  x1: Startup server Phase"}},
		"handshake": {[]trace.Position{handshake}, []string{"Read /x  x1: Handshake server InFlight"}},
		"one call, however much is written": {[]trace.Position{inNote, halfNote, halfNote},
			[]string{"Read /x  x3: Call tool format_note InFlight"}},
		"before and after the response": {[]trace.Position{inNote, halfNote, afterNote},
			[]string{"Read /x  x2: Call tool format_note InFlight", "Read /x  x1: Call tool format_note AfterResponse"}},
		"two calls": {[]trace.Position{inNote, inClock},
			[]string{"Read /x  x1: Call tool format_note InFlight", "Read /x  x1: Call tool clock InFlight"}},
		"idle and shutdown": {[]trace.Position{idle, shutdown},
			[]string{"Read /x  x1: Idle server Background", "Read /x  x1: Shutdown server Phase"}},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			for _, at := range tc.at {
				r.add(at, read("/x"))
			}
			p := r.build(profile.Limits{})
			if diff := cmp.Diff(tc.want, summaries(p)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if got := p.Effects[0].Time; !got.Equal(r.events[0].Time) {
				t.Errorf("evidence is of %v, want the first call, %v", got, r.events[0].Time)
			}
		})
	}
}

func TestNoiseIsCounted(t *testing.T) {
	var r recorder
	for range 5 {
		r.add(startup, read("/usr/lib/libz.so"))
	}
	p := r.build(profile.Limits{})
	want := []report.Noise{{Reason: "Loader", Count: 5, Samples: []string{"/usr/lib/libz.so"}}}
	if diff := cmp.Diff(want, p.Noise); diff != "" || p.Dropped != 0 || len(p.Effects) != 0 {
		t.Errorf("noise (-want +got):\n%s%d dropped, %d effects; want none", diff, p.Dropped, len(p.Effects))
	}
}

func TestEvidence(t *testing.T) {
	var r recorder
	r.add(inNote, read("/home/u/.ssh/id_rsa"))
	want := report.Evidence{Time: report.At(r.events[0].Time), PID: 7, Syscall: "openat",
		Detail: "openat(/home/u/.ssh/id_rsa) = ...", Attribution: report.AttributionInFlight}
	if diff := cmp.Diff(want, r.build(profile.Limits{}).Effects[0].Evidence()); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

func TestReport(t *testing.T) {
	var r recorder
	r.add(startup, execute("/usr/bin/node", "server.js"))
	r.add(startup, read("/app/server.js"))
	r.add(startup, read("/usr/lib/libc.so.6"))
	r.add(startup, failed("ENOENT", read("/app/package.json")))
	r.add(inNote, read("/data/notes.md"))
	r.add(inNote, read("/home/u/.ssh/id_rsa"))
	r.add(inNote, read("/data/notes.md"))
	lookup := connect("udp", "192.0.2.53:53")
	lookup.Syscall, lookup.Socket.Host = "sendto", "example.com"
	r.add(inNote, lookup)
	r.add(inNote, failed("EINPROGRESS", connect("tcp", "192.0.2.1:80")))
	r.add(inNote, failed("ENOENT", execute("/usr/local/bin/curl", "-s")))
	r.add(inNote, execute("/usr/bin/curl", "-s"))
	r.add(inNote, failed("ENOENT", execute("/usr/bin/wget")))
	r.add(afterNote, read("/data/notes.md"))
	r.add(inClock, write("/tmp/cache"))
	r.add(idle, trace.Event{Op: trace.OpListen, Syscall: "listen",
		Socket: &trace.Socket{Family: "unix", Protocol: "unix", Path: "@hidden"}})
	got, err := json.MarshalIndent(r.build(profile.Limits{}).Report(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/report.json", append(got, '\n'))
}

// TestW2KilledCalls: a process that is killed in a call may have done its work, so the call counts.
func TestW2KilledCalls(t *testing.T) {
	var r recorder
	r.add(inNote, failed("?", write("/home/ellis/.bashrc")))
	r.add(inNote, failed("?", read("/home/ellis/.ssh/id_rsa")))
	r.add(inNote, failed("?", trace.Event{Op: trace.OpRename, Syscall: "rename", Path: "/tmp/a", Target: "/home/ellis/.profile"}))
	r.add(inNote, failed("?", trace.Event{Op: trace.OpDelete, Syscall: "unlink", Path: "/home/ellis/notes"}))
	r.add(inNote, failed("ENOENT", read("/home/ellis/.netrc")))
	var got []string
	for _, e := range r.build(profile.Limits{}).Effects {
		got = append(got, string(e.Kind)+" "+e.Path)
	}
	for _, want := range []string{"Write /home/ellis/.bashrc", "Read /home/ellis/.ssh/id_rsa", "Write /home/ellis/.profile", "Delete /home/ellis/notes", "Attempt /home/ellis/.netrc"} {
		if !slices.Contains(got, want) {
			t.Errorf("effects %q: no %q", got, want)
		}
	}
}
