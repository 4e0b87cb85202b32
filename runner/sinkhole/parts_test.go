package sinkhole

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

func TestRegistriesOf(t *testing.T) {
	for _, tc := range []struct {
		command []string
		want    string
	}{
		{[]string{"node", "server.js"}, ""},
		{[]string{"npx", "-y", "notes"}, "npmjs.org"},
		{[]string{"/usr/bin/npx", "notes"}, "npmjs.org"},
		{[]string{"env", "A=1", "uvx", "notes"}, "pypi.org"},
		{[]string{"sh", "-c", "cd /srv && npx -y notes; exit"}, "npmjs.org"},
		{[]string{"node", "/srv/npxish.js"}, ""},
	} {
		got := RegistriesOf(tc.command)
		if tc.want == "" && (got.Absent != nil || got.Env != nil) || tc.want != "" && (!slices.Contains(got.Absent, tc.want) || len(got.Env) == 0) {
			t.Errorf("%q: %+v, want %q", tc.command, got, tc.want)
		}
	}
	if both := RegistriesOf([]string{"sh", "-c", "npx a; npm b; uvx c"}); len(both.Env) != len(registries[pkgmanager.NPM].Env)+len(registries[pkgmanager.PyPI].Env) {
		t.Errorf("twice the same: %+v", both)
	}
}

func TestContentFor(t *testing.T) {
	for _, tc := range []struct {
		accept, path string
		want         content
	}{
		{"", "/", asJSON}, {"*/*", "/api", asJSON}, {"text/html,application/xml;q=0.9", "/", asHTML},
		{"application/json, text/html", "/", asJSON}, {"text/html", "/x.json", asJSON}, {"application/json", "/README.md", asJSON}, {"*/*", "/README.md", asText},
		{"application/rss+xml", "/", asXML}, {"text/plain", "/", asText}, {"*/*", "/page.HTML", asHTML},
	} {
		if got := contentFor(tc.accept, tc.path); got != tc.want {
			t.Errorf("%q of %q: %s, want %s", tc.path, tc.accept, got.kind, tc.want.kind)
		}
	}
}

// TestMail: the passwords of all ways to log in are asked for, as often as they
// have words.
func TestMail(t *testing.T) {
	var m mail
	var heard []string
	for _, text := range []string{"AUTH PLAIN AGEAYg==", "AUTH PLAIN", "AGEAYg==", "AUTH LOGIN", "YQ==", "Yg==", "AUTH LOGIN YQ==", "Yg==", "DATA", "QUIT", ".", "QUIT"} {
		heard = append(heard, m.answer(text))
	}
	want := []string{
		"235 Welcome", "334 UGFzc3dvcmQ6", "235 Welcome", "334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6", "235 Welcome",
		"334 UGFzc3dvcmQ6", "235 Welcome", "354 Go on", "", "250 OK: queued", "221 Bye",
	}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

// TestNamesAreBounded: a tunnel of labels gets its addresses, which lead nowhere.
func TestNamesAreBounded(t *testing.T) {
	n := newNames()
	for i := range maxNames + 100 {
		if a := n.address(strings.Repeat("x", i%60) + string(rune('a'+i%26)) + strings.Repeat("y", i/60)); !Fake.Contains(a) {
			t.Fatalf("address %s", a)
		}
	}
	if len(n.addresses) > maxNames || len(n.held) != len(n.addresses) {
		t.Errorf("%d names, %d addresses", len(n.addresses), len(n.held))
	}
}

// TestOwnedNames: well-known hosts have addresses of their owners, whatever is below their names; a tunnel of such names
// does not run out of addresses.
func TestOwnedNames(t *testing.T) {
	n := newNames()
	for name, want := range map[string]string{
		"api.github.com": "140.82.112.0/20", "raw.githubusercontent.com": "185.199.108.0/22", "API.OpenAI.com": "104.16.0.0/14",
		"notgithub.com": Fake.String(), "github.com.example.org": Fake.String(), "com": Fake.String(), "registry.npmjs.org": "104.16.0.0/14",
	} {
		if a := n.address(name); !netip.MustParsePrefix(want).Contains(a) || n.name(a) != strings.ToLower(name) || !Gave(name, a) || Gave(name, netip.MustParseAddr("104.18.66.66")) {
			t.Errorf("%s has %s (%s), want one of %s", name, a, n.name(a), want)
		}
	}
	seen := map[netip.Addr]bool{}
	for i := range 3000 {
		a := n.address("x" + strconv.Itoa(i) + ".github.io")
		if seen[a] {
			t.Fatalf("%s twice", a)
		}
		seen[a] = true
	}
}

// TestUnredirected: our own port is none that a client of MPTCP has asked for.
func TestUnredirected(t *testing.T) {
	for local, want := range map[string]string{"192.0.2.1:61713": "192.0.2.1:0", "192.0.2.1:80": "192.0.2.1:80"} {
		if got := unredirected(netip.MustParseAddrPort(local)); got.String() != want {
			t.Errorf("%s: %s, want %s", local, got, want)
		}
	}
}

// TestWire: what is sent is received.
func TestWire(t *testing.T) {
	at := netip.MustParseAddrPort("[2001:db8::1]:443")
	sent := []Capture{
		{Flow: 1, Source: at, Destination: at, Host: "x", Protocol: "https", Request: "GET / HTTP/1.1", Data: bytes.Repeat([]byte{0xff, '\n'}, maxData/2), Offset: 7, Size: 1 << 40},
		{Flow: 2, Datagram: true, Protocol: strings.Repeat("p", 8), Host: strings.Repeat("\"", maxHost), Request: strings.Repeat("<", maxRequest), Opaque: true},
	}
	captures := make(chan Capture, len(sent))
	for _, c := range sent {
		captures <- c
	}
	close(captures)
	var wire bytes.Buffer
	if err := Send(&wire, captures); err != nil {
		t.Fatal(err)
	}
	var received []Capture
	if err := Receive(&wire, func(c Capture) { received = append(received, c) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sent, received, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

// TestSendGoesOn: a reader that is gone holds nobody up.
func TestSendGoesOn(t *testing.T) {
	r, w := io.Pipe()
	_ = r.Close() // every write fails
	captures := make(chan Capture)
	failed := make(chan error)
	go func() { failed <- Send(w, captures) }()
	for range 3 {
		captures <- Capture{}
	}
	close(captures)
	if <-failed == nil {
		t.Error("no error")
	}
}

// TestInsideNames: names lead to this machine at once, in IPv6 alone, or after some look-ups.
func TestInsideNames(t *testing.T) {
	r := resolver{names: newNames()}
	look := func(host string, kind dnsmessage.Type) string {
		name := dnsmessage.MustNewName(host + ".")
		var m dnsmessage.Message
		if err := m.Unpack(r.answer(question{Question: dnsmessage.Question{Name: name, Type: kind, Class: dnsmessage.ClassINET}})); err != nil {
			t.Fatal(err)
		}
		switch {
		case len(m.Answers) == 0:
			return ""
		case kind == dnsmessage.TypeAAAA:
			return netip.AddrFrom16(m.Answers[0].Body.(*dnsmessage.AAAAResource).AAAA).String()
		}
		a := netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A)
		if Fake.Contains(a) {
			return "public"
		}
		return a.String()
	}
	for _, tc := range []struct {
		host string
		kind dnsmessage.Type
		want []string
	}{
		{"inside.c7.pages.example.net", dnsmessage.TypeA, []string{"127.0.0.1", "127.0.0.1"}},
		{"inside.c7.pages.example.net", dnsmessage.TypeAAAA, []string{""}},
		{"inside6.c7.pages.example.net", dnsmessage.TypeA, []string{""}},
		{"Inside6.c7.pages.example.net", dnsmessage.TypeAAAA, []string{"::1"}},
		{"rebound1.c7.pages.example.net", dnsmessage.TypeA, []string{"public", "127.0.0.1", "127.0.0.1"}},
		{"rebound2.c7.pages.example.net", dnsmessage.TypeA, []string{"public", "public", "127.0.0.1"}},
		{"inside.example.com", dnsmessage.TypeA, []string{"public"}},
		{"c7.pages.example.net", dnsmessage.TypeA, []string{"public"}},
	} {
		for i, want := range tc.want {
			if got := look(tc.host, tc.kind); got != want {
				t.Errorf("look-up %d of %s: %q, want %q", i+1, tc.host, got, want)
			}
		}
	}
}

// TestLeads: only a path or a name of ours redirects, and it says where to.
func TestLeads(t *testing.T) {
	to, name := netip.MustParseAddrPort("127.0.0.1:21007"), inputs.Mark{Call: 7}.Lead
	if got, ok := inputs.LedTo("docs.example.com", inputs.LeadPath(to)); !ok || got != to {
		t.Errorf("led to %s, %v", got, ok)
	}
	for host, tc := range map[string]struct {
		secure bool
		want   string
	}{
		name(to): {true, "https://127.0.0.1:21007/"},
		name(netip.AddrPortFrom(to.Addr(), 0)) + ":80": {false, "http://127.0.0.1/"},
		"go-1-2-3-999-80.c7.pages.example.net":         {false, ""},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodOptions, "/notes.json", nil)
		r.Host = strings.ToUpper(host)
		c := &conversation{server: &Server{}, secure: tc.secure}
		c.answer(w, r, nil)
		if got := w.Header().Get("Location"); got != tc.want {
			t.Errorf("%s leads to %q, want %q", host, got, tc.want)
		}
	}
	for _, other := range []string{"/", "/notes", "/marlow-go/", "/marlow-go/example.com:80"} {
		if got, ok := inputs.LedTo("go.example.com", other); ok {
			t.Errorf("%s leads to %s", other, got)
		}
	}
}
