package least_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/least"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/test/golden"
)

// stored reads the report of an audit that was made for this test; testdata/README.md
// says how.
func stored(t *testing.T, name string) least.Source {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return least.Source{Report: r}
}

func kind(t *testing.T, name string) least.Kind {
	t.Helper()
	k, ok := least.KindNamed(name)
	if !ok {
		t.Fatalf("there is no kind %q", name)
	}
	return k
}

func generate(t *testing.T, s least.Source, name string, o least.Options) least.Policy {
	t.Helper()
	p, err := least.Generate(s, kind(t, name), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGolden(t *testing.T) {
	sources := map[string]least.Source{"networked": networked()}
	for _, name := range []string{"honest", "leaky", "everything"} {
		sources[name] = stored(t, name)
	}
	for name, source := range sources {
		for _, k := range least.Kinds {
			t.Run(name+"/"+k.Name, func(t *testing.T) {
				got := generate(t, source, k.Name, least.Options{}).Text
				file := filepath.Join("testdata", name, k.File)
				golden.Compare(t, file, got)
			})
		}
	}
}

// networked is a server that does a bit of everything.
func networked() least.Source {
	r := report.Report{
		SchemaVersion: report.SchemaVersion, Server: report.ServerRun{Name: "Weather & Notes", Command: []string{"/server"}, Transport: report.TransportStreamableHTTP},
		Verdict: report.VerdictPass, Reason: "Passed", EndTime: report.At(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)),
		ManifestDigest: "sha256:" + strings.Repeat("ab", 32), Runner: report.Component{Name: "mcpaudit", Version: "v1.2.3"},
		Tracer:        report.Component{Name: "ptrace", Version: "v1.2.3"},
		DeclaredScope: &report.DeclaredScope{Egress: []string{"*.example.org:443", "192.0.2.0/24", "[2001:db8::1]:8443", "a b"}},
		Privileges: &report.Privileges{
			UID: 65532, GID: 65532, Home: "/home/ellis", Processes: true,
			Calls:   []string{"bind", "clone", "connect", "execve", "listen", "mkdirat", "openat", "socket", "unlinkat"},
			Sockets: []string{"inet"},
			Writes: []report.WrittenDirectory{{Path: "/data", Created: true}, {Path: "/home/ellis/.cache"},
				{Path: "/run/app"}, {Path: "/srv/www"}},
			Egress: []report.Peer{{Host: "api.weather.example", Port: 443, Protocol: "tcp"}, {Address: "198.51.100.7", Port: 5432, Protocol: "tcp"},
				{Address: "10.0.0.10", Port: 53, Protocol: "udp"}, {Host: "c1.pages.example.net", Port: 80, Protocol: "tcp"}},
			Listens:      []report.Peer{{Address: "::", Port: 80, Protocol: "tcp"}},
			Capabilities: []string{"CAP_CHOWN"},
		},
	}
	for _, name := range syscalls.Names() {
		if !slices.Contains(r.Privileges.Calls, name) && name != "read" && name != "write" && name != "mmap" {
			r.Privileges.Unmade = append(r.Privileges.Unmade, name)
		}
	}
	slices.Sort(r.Privileges.Unmade)
	return least.Source{Report: r, Image: "registry.example/weather:v1", ImageDigest: "sha256:" + strings.Repeat("cd", 32)}
}

// A policy is never made silently of an audit that did not see everything.
func TestRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*report.Report)
		want   error
		says   string
	}{
		"inconclusive": {func(r *report.Report) {
			r.Verdict, r.Incomplete = report.VerdictInconclusive, &report.Incomplete{Reason: report.ReasonTimeout, Message: "it took too long"}
		}, least.ErrIncomplete, "Timeout: it took too long"},
		"failed and incomplete": {func(r *report.Report) {
			r.Verdict, r.Incomplete = report.VerdictFail, &report.Incomplete{Reason: report.ReasonTimeout, Message: "it took too long"}
		}, least.ErrIncomplete, "Timeout"},
		"an unknown verdict":  {func(r *report.Report) { r.Verdict = "Splendid" }, least.ErrIncomplete, "did not end with a verdict"},
		"lists that were cut": {func(r *report.Report) { r.Privileges.Dropped = 3 }, least.ErrIncomplete, "no room for 3"},
		"findings that were cut": {func(r *report.Report) {
			r.Verdict, r.Truncated = report.VerdictFail, []report.Truncation{{Field: "findings", Dropped: 7}}
		}, least.ErrIncomplete, "no room for 7 of findings"},
		"an older runner": {func(r *report.Report) { r.Privileges = nil }, least.ErrNothing, "audit the server again"},
		"a remote server": {func(r *report.Report) { r.Privileges, r.Server.URL = nil, "https://mcp.example" }, least.ErrNothing, "runs elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			s := networked()
			privileges := *s.Report.Privileges
			s.Report.Privileges = &privileges
			tc.change(&s.Report)
			for _, k := range least.Kinds {
				_, err := least.Generate(s, k, least.Options{})
				if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: %v, want %v that says %q", k.Name, err, tc.want, tc.says)
				}
			}
			if errors.Is(tc.want, least.ErrIncomplete) {
				for _, k := range least.Kinds {
					made := generate(t, s, k.Name, least.Options{AllowIncomplete: true})
					if !strings.Contains(made.Text, "WARNING") || !strings.Contains(made.Text, tc.says) {
						t.Errorf("%s: the policy does not warn of %q:\n%s", k.Name, tc.says, made.Text)
					}
				}
			}
		})
	}
}

// What a server writes never becomes a line, a key or an object of a policy.
func TestHostileNames(t *testing.T) {
	const evil = "x\"\n- evil: true\u2028\u202e\u200b\x1b[31m# "
	s := networked()
	s.Report.Server.Name = evil
	s.Report.ManifestDigest, s.Report.Runner.Version, s.Report.Tracer.Name, s.Image = evil, evil, evil, evil
	p := s.Report.Privileges
	p.Home, p.Capabilities = evil, []string{evil}
	p.Writes = append(p.Writes, report.WrittenDirectory{Path: "/" + evil}, report.WrittenDirectory{Path: "/c" + evil, Created: true}, report.WrittenDirectory{Path: "relative"}, report.WrittenDirectory{Path: "/"})
	p.Egress = append(p.Egress, report.Peer{Host: evil, Address: evil, Port: 1, Protocol: evil})
	p.Sockets, p.Calls, p.Unmade = append(p.Sockets, evil), append(p.Calls, evil), append(p.Unmade, evil)
	s.Report.Findings = []report.Finding{{Rule: evil, Message: "198.51.100.7"}}
	for _, k := range least.Kinds {
		text := generate(t, s, k.Name, least.Options{}).Text
		for _, r := range text {
			if r != '\n' && (r < ' ' || r > '~') {
				t.Errorf("%s: there is a %q", k.Name, r)
			}
		}
		var decoded any
		if err := yaml.UnmarshalStrict([]byte(text), &decoded); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "- evil") {
				t.Errorf("%s: a line of the server's: %q", k.Name, line)
			}
		}
	}
}

// A patch never lays an empty volume over what a container is made of, nor one that no
// API server takes: where HOME is, and what is made where, the image and the server say.
func TestHarmfulMounts(t *testing.T) {
	for _, tc := range []struct {
		home string
		made report.WrittenDirectory
	}{
		{"/", report.WrittenDirectory{Path: "/data"}}, {"/home/../etc", report.WrittenDirectory{Path: "/home/../etc"}}, {"relative", report.WrittenDirectory{Path: "relative/a"}},
		{"/etc", report.WrittenDirectory{Path: "/etc/app"}}, {"/usr/local", report.WrittenDirectory{Path: "/usr/local/app"}},
		{"", report.WrittenDirectory{Path: "/etc", Created: true}},
		{"", report.WrittenDirectory{Path: "/proc/self", Created: true}}, {"", report.WrittenDirectory{Path: "/run/secrets/kubernetes.io/serviceaccount", Created: true}},
		{"", report.WrittenDirectory{Path: "/data/a:b", Created: true}}, {"/home/a:b", report.WrittenDirectory{Path: "/home/a:b/c"}},
	} {
		s := networked()
		privileges := *s.Report.Privileges
		privileges.Home, privileges.Writes = tc.home, []report.WrittenDirectory{tc.made}
		s.Report.Privileges, s.Report.Server.Command = &privileges, []string{"server"}
		var patch struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							VolumeMounts []struct{ MountPath string }
						}
					}
				}
			}
		}
		made := generate(t, s, "securitycontext", least.Options{})
		if err := yaml.Unmarshal([]byte(made.Text), &patch); err != nil {
			t.Fatal(err)
		}
		for _, m := range patch.Spec.Template.Spec.Containers[0].VolumeMounts {
			if m.MountPath != "/tmp" {
				t.Errorf("HOME %q, written %+v: an empty volume at %q", tc.home, tc.made, m.MountPath)
			}
		}
		if !slices.ContainsFunc(made.Notes, func(n string) bool { return strings.Contains(n, "readOnlyRootFilesystem is false") }) {
			t.Errorf("HOME %q, written %+v: nothing is said of it: %q", tc.home, tc.made, made.Notes)
		}
	}
}

// An end point that is none allows nothing: not every port, not every address.
func TestNoEndPoint(t *testing.T) {
	for _, p := range []report.Peer{
		{Port: 443, Protocol: "tcp"}, {Address: "192.0.2.1", Protocol: "tcp"}, {Address: "192.0.2.1", Port: 70000, Protocol: "tcp"},
		{Address: "0.0.0.0/0", Port: 1, Protocol: "tcp"}, {Host: "*.example", Port: 1, Protocol: "tcp"}, {Host: "a b", Port: 1, Protocol: "tcp"},
		{Host: "api.example", Port: 1, Protocol: "icmp"},
	} {
		s := stored(t, "honest")
		want := generate(t, s, "cilium", least.Options{}).Text
		s.Report.Privileges.Egress = []report.Peer{p}
		made := generate(t, s, "cilium", least.Options{})
		if _, rest, _ := strings.Cut(made.Text, "apiVersion"); !strings.HasSuffix(want, rest) || len(made.Notes) != 1 {
			t.Errorf("%+v allows something, or is left out without a word: %q\n%s", p, made.Notes, rest)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []least.Options{
		{Name: "Not a label"}, {Container: "a_b"}, {Workload: "StatefulSet"}, {Selector: "app"}, {Selector: "a=b=c\n"},
		{LocalhostProfile: "../escape.json"}, {LocalhostProfile: "/etc/passwd"},
	} {
		if _, err := least.Generate(networked(), kind(t, "seccomp"), o); err == nil || !strings.Contains(err.Error(), "--") {
			t.Errorf("%+v: %v, want an error that names the flag", o, err)
		}
	}
}

// profileOf reads a seccomp profile, and answers what becomes of a call.
func profileOf(t *testing.T, s least.Source) func(name string, first uint64) string {
	t.Helper()
	var p struct {
		DefaultAction string
		Syscalls      []struct {
			Names  []string
			Action string
			Args   []struct {
				Value, ValueTwo uint64
				Op              string
			}
		}
	}
	if err := json.Unmarshal([]byte(generate(t, s, "seccomp", least.Options{}).Text), &p); err != nil {
		t.Fatal(err)
	}
	return func(name string, first uint64) string {
		for _, rule := range p.Syscalls {
			holds := slices.Contains(rule.Names, name)
			for _, a := range rule.Args {
				switch a.Op {
				case "SCMP_CMP_EQ":
					holds = holds && first == a.Value
				case "SCMP_CMP_NE":
					holds = holds && first != a.Value
				case "SCMP_CMP_MASKED_EQ":
					holds = holds && first&a.Value == a.ValueTwo
				}
			}
			if holds {
				return rule.Action
			}
		}
		return p.DefaultAction
	}
}

// Calls that have to stay, whatever was seen, and calls that go.
func TestSeccomp(t *testing.T) {
	const allowed, refused = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
	const fork, thread, namespace = 17, 0x3d0f00, 0x10000000 | 17
	quiet, busy := profileOf(t, stored(t, "honest")), profileOf(t, networked())
	for _, tc := range []struct {
		call        string
		first       uint64
		quiet, busy string
	}{
		{"execve", 0, allowed, allowed}, {"prctl", 0, allowed, allowed}, {"capset", 0, allowed, allowed}, {"setuid", 0, allowed, allowed},
		{"setgroups", 0, allowed, allowed}, {"tgkill", 0, allowed, allowed}, {"futex", 0, allowed, allowed}, {"fchown", 0, allowed, allowed},
		{"clone", thread, allowed, allowed}, {"clone", fork, refused, allowed}, {"clone", namespace, refused, refused},
		{"clone3", 0, refused, refused}, {"fork", 0, refused, allowed}, {"io_uring_setup", 0, refused, refused}, {"ptrace", 0, refused, refused},
		{"unlink", 0, refused, allowed}, {"rmdir", 0, refused, allowed}, {"mkdir", 0, refused, allowed}, {"chmod", 0, refused, refused},
		{"socket", 2, refused, allowed}, {"socket", 10, refused, allowed}, {"socket", 16, refused, allowed}, {"socket", 40, refused, refused},
		{"socket", 17, refused, refused}, {"listen", 0, refused, allowed}, {"accept4", 0, refused, allowed}, {"mount", 0, refused, refused},
		{"unshare", 0, refused, refused}, {"bpf", 0, refused, refused}, {"personality", 0, refused, refused}, {"read", 0, allowed, allowed},
	} {
		if got := quiet(tc.call, tc.first); got != tc.quiet {
			t.Errorf("of a quiet server %s(%#x): %s, want %s", tc.call, tc.first, got, tc.quiet)
		}
		if got := busy(tc.call, tc.first); got != tc.busy {
			t.Errorf("of a busy server %s(%#x): %s, want %s", tc.call, tc.first, got, tc.busy)
		}
	}
}

// Of a call that the tracer did not watch, nothing is concluded.
func TestUnwatchedStays(t *testing.T) {
	s := stored(t, "honest")
	s.Report.Privileges.Unmade = slices.DeleteFunc(s.Report.Privileges.Unmade, func(name string) bool { return name == "fchmodat2" || name == "socket" })
	answer := profileOf(t, s)
	for _, name := range []string{"chmod", "fchmodat2"} {
		if got := answer(name, 0); got != "SCMP_ACT_ALLOW" {
			t.Errorf("%s: %s, though not all of its family was watched", name, got)
		}
	}
	if got := answer("socket", 2); got != "SCMP_ACT_ALLOW" {
		t.Errorf("socket: %s, though it was not watched", got)
	}
	if got := answer("mkdir", 0); got != "SCMP_ACT_ERRNO" {
		t.Errorf("mkdir: %s", got)
	}
}

// The policy of a server that failed does not allow what it failed for.
func TestFailed(t *testing.T) {
	s := stored(t, "leaky")
	address := s.Report.Privileges.Egress[0].Address
	for _, name := range []string{"networkpolicy", "cilium", "toolhive"} {
		made := generate(t, s, name, least.Options{})
		if !slices.ContainsFunc(made.Notes, func(n string) bool { return strings.Contains(n, "left out") && strings.Contains(n, address) }) {
			t.Errorf("%s: it does not say that %s is left out: %q", name, address, made.Notes)
		}
		for line := range strings.Lines(made.Text) {
			if strings.Contains(line, address) && !strings.Contains(line, "left out") {
				t.Errorf("%s: it allows what findings are about: %q", name, line)
			}
		}
	}
	if got := profileOf(t, s)("socket", 2); got != "SCMP_ACT_ERRNO" {
		t.Errorf("socket(AF_INET): %s, though it was used for nothing but what findings are about", got)
	}

	s.Report.Findings = nil
	if got := profileOf(t, s)("socket", 2); got != "SCMP_ACT_ALLOW" {
		t.Errorf("without findings socket(AF_INET): %s", got)
	}
}

// A rule names hosts in small letters, and a Service of the cluster without the search domain:
// what a finding is about is left out all the same.
func TestFailedForCanonicalName(t *testing.T) {
	for _, tc := range []struct {
		host, message string
		left          bool
	}{
		{"db.prod.svc.cluster.local", "tried to connect to db:5432 (10.96.3.4:5432, refused)", true},
		{"db.prod.svc.cluster.local", "tried to connect to db.prod:5432 (10.96.3.4:5432, refused)", true},
		{"db.prod.svc.cluster.local", "tried to connect to db.evil:5432 (10.96.3.5:5432, refused)", false},
		{"Evil.Example", "tried to connect to evil.example:5432 (28.18.0.3:5432, refused)", true},
		{"db.prod.svc.cluster.local", "tried to connect to mydb:5432 (10.96.3.5:5432, refused)", false},
		{"db.prod.svc.cluster.local", "tried to connect to db:80 (10.96.3.4:80, refused)", false},
	} {
		s := networked()
		privileges := *s.Report.Privileges
		privileges.Egress = []report.Peer{{Host: tc.host, Port: 5432, Protocol: "tcp"}}
		s.Report.Privileges, s.Report.Verdict = &privileges, report.VerdictFail
		s.Report.Findings = []report.Finding{{Rule: "MCPA-EGRESS-001", Severity: report.SeverityHigh, Message: tc.message}}
		text := generate(t, s, "cilium", least.Options{}).Text
		if left := !strings.Contains(text, "matchName: "+tc.host); left != tc.left {
			t.Errorf("%s, of which a finding says %q: left out %t\n%s", tc.host, tc.message, left, text)
		}
	}
}
