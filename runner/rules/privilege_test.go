package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

func listen(at ledger.Where, protocol, address string, port int) profile.Effect {
	e := connect(at, protocol, address, port)
	e.Kind, e.Operation = profile.KindListen, "listen"
	return e
}

// overHTTP is a server that the audit talks to on a port; 0: on the first.
func overHTTP(in Input, port uint16) Input {
	in.Transport, in.Port = report.TransportStreamableHTTP, port
	return in
}

func TestListeners(t *testing.T) {
	all := listen(startup, "tcp", "0.0.0.0", 8080)
	listed := func(in Input, ports ...string) Input {
		in.Scope = scope.Read(manifest.Manifest{}, scope.Given{Allow: &report.DeclaredScope{Listen: ports}})
		return in
	}
	hooks := server{name: "hooks", instructions: "Listens for webhooks on port 8080.", tools: []string{"format_note: Formats."}}
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"for all":                  {input(silent, all), "LISTEN-001 Medium: At start-up the server listens on 0.0.0.0:8080 (tcp), which others can reach"},
		"for all, IPv6":            {input(silent, listen(call, "tcp", "::", 9000)), "LISTEN-001 Medium: Tool format_note listens on [::]:9000"},
		"for an interface":         {input(silent, listen(call, "tcp", "10.0.0.7", 9000)), "LISTEN-001 Medium"},
		"datagrams":                {input(silent, listen(call, "udp", "0.0.0.0", 5353)), "LISTEN-001 Medium"},
		"on the loopback":          {input(silent, listen(call, "tcp", "127.0.0.1", 9229), listen(call, "tcp", "::1", 9229)), ""},
		"unix":                     {input(silent, listen(call, "unix", "/tmp/x.sock", 0)), ""},
		"without success":          {input(silent, with(all, func(e *profile.Effect) { e.Error = "EADDRINUSE" })), ""},
		"declared":                 {input(hooks, all), ""},
		"the audited port":         {overHTTP(input(silent, all), 8080), ""},
		"the first":                {overHTTP(input(silent, all), 0), ""},
		"another besides":          {overHTTP(input(silent, all, listen(startup, "tcp", "0.0.0.0", 9090)), 8080), "LISTEN-001 Medium: At start-up the server listens on 0.0.0.0:9090"},
		"another besides, first":   {overHTTP(input(silent, all, listen(startup, "tcp", "0.0.0.0", 9090)), 0), "LISTEN-001 Medium: At start-up the server listens on 0.0.0.0:9090"},
		"on the list":              {listed(input(silent, all), "8080"), ""},
		"not on the list":          {listed(input(silent, all), "9090"), "LISTEN-001 High: At start-up the server listens on 0.0.0.0:8080 (tcp); by the declared scope it may listen only on 9090"},
		"audited, not on the list": {overHTTP(listed(input(silent, all), "9090"), 8080), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

func TestElevation(t *testing.T) {
	admin := server{name: "admin", tools: []string{"format_note: Runs a command as root."}}
	sudo := run(call, "/usr/bin/sudo", "-n", "id")
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"sudo":              {input(silent, sudo), "PRIV-001 High: Tool format_note started /usr/bin/sudo"},
		"of a shell tool":   {input(shelly, sudo), "PRIV-001 High"},
		"refused":           {input(silent, with(sudo, func(e *profile.Effect) { e.Error = "EACCES" })), "PRIV-001 High"},
		"not there":         {input(silent, with(sudo, func(e *profile.Effect) { e.Error = "ENOENT" })), ""},
		"declared":          {input(admin, sudo), ""},
		"its argument":      {calledWith(input(shelly, sudo), "command=cd /tmp && sudo -n id"), ""},
		"by a launcher":     {input(silent, run(startup, "/bin/su", "su", "app")), ""},
		"an ordinary other": {input(silent, run(call, "/usr/bin/sum", "sum")), "EXEC-001 Medium"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

var _ = prove(map[string]proof{
	"MCPA-LISTEN-001": {
		finds:  one(silent, listen(startup, "tcp", "0.0.0.0", 8080)),
		spares: []Input{overHTTP(input(silent, listen(startup, "tcp", "0.0.0.0", 8080)), 8080)},
	},
	"MCPA-LISTEN-002": {finds: []Input{listening("127.0.0.1")}, spares: []Input{overHTTP(input(silent, listen(startup, "tcp", "127.0.0.1", 8080)), 8080)}},
	"MCPA-LISTEN-003": {
		finds:  []Input{posing(attack.Posture{Sessions: []string{"s-1", "s-2", "s-3"}}), posing(attack.Posture{Sessions: []string{"a"}, Unissued: "0f1c"})},
		spares: []Input{posing(attack.Posture{Sessions: []string{"s-1", "s-2", "x-3"}})},
	},
	"MCPA-LISTEN-004": {finds: []Input{posing(attack.Posture{Ended: "null"})}, spares: []Input{posing(attack.Posture{})}},
	"MCPA-LISTEN-005": {finds: []Input{posing(attack.Posture{Evaded: "at /mcp/"})}, spares: []Input{posing(attack.Posture{})}},
	"MCPA-PRIV-001":   {finds: one(silent, run(call, "/usr/bin/sudo", "sudo", "id")), spares: one(silent, run(startup, "/bin/su", "su", "app"))},
})

// TestForeign: who answers the web pages of other sites is told by where it listens.
func TestForeign(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": `LISTEN-002 Medium: The server listens on 127.0.0.1:8080, and answered a request with the Host and the Origin of another site (http://c1.pages.example.net:8080)`,
		"::1":       "LISTEN-002 Medium",
		"0.0.0.0":   "LISTEN-002 Info: The server listens on 0.0.0.0:8080, which other machines reach as well",
	} {
		expect(t, listening(address), want)
	}
}

// listening is an input of a server that listens on an address, and answers web pages of another site.
func listening(address string) Input {
	in := overHTTP(input(silent, listen(startup, "tcp", address, 8080), listen(startup, "tcp", "127.0.0.1", 9090)), 8080)
	in.Attack.Posture = attack.Posture{Origin: "http://c1.pages.example.net:8080", How: attack.Rebound}
	return in
}

// posing is an input of a server that listens and answers others so.
func posing(p attack.Posture) Input {
	in := listening("127.0.0.1")
	in.Attack.Posture = p
	return in
}
