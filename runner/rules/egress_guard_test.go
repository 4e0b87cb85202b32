package rules

import (
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// tried is an attempt of family Egress at "url".
func tried(number int, aim attack.Aim, control, accepted bool, answer string) attack.Attempt {
	return attack.Attempt{Of: call.Capability, Family: attack.Egress, Form: "as a decimal number", Aim: aim, Control: control, Field: "url", Value: "http://x",
		Call: number, Port: 21000 + number, Allowed: "docs.example.com", Answered: true, Accepted: accepted, Answer: answer}
}

// cameTo is a connection of the attempt with a number.
func cameTo(number int, address, host string) profile.Effect {
	e := connect(call, "tcp", address, 21000+number)
	e.Host = host
	return e
}

// guarded is a server that was led to some hosts.
func guarded(s server, attempts []attack.Attempt, effects ...profile.Effect) Input {
	in := input(s)
	in.Manifest = s.manifest()
	in.Attack.Attempts, in.Attack.Profile.Effects = attempts, effects
	return in
}

var (
	anyName  = tried(1, attack.AimName, true, true, "")
	anyIP    = tried(2, attack.AimPublic, true, true, "")
	loopback = tried(3, attack.AimLoopback, true, false, "not this one")
	decimal  = tried(4, attack.AimLoopback, false, true, "")
	byName   = cameTo(1, "28.0.0.9", "c1.pages.example.net")
	numeric  = cameTo(2, "28.77.7.7", "")
)

var _ = prove(map[string]proof{
	"MCPA-EGRESS-008": {
		finds:  []Input{guarded(silent, []attack.Attempt{anyName, anyIP, loopback, decimal}, byName, numeric, cameTo(4, "127.0.0.1", ""))},
		spares: []Input{guarded(silent, []attack.Attempt{anyName, anyIP, loopback, decimal}, byName, numeric)},
	},
})

// TestBrokenGuards: a connection to what was refused where it hid nothing is a finding, and
// none where there is no guard.
func TestBrokenGuards(t *testing.T) {
	says := server{name: "web", tools: []string{"format_note: Fetches a web page. Private addresses are blocked."}}
	inside := cameTo(4, "127.0.0.1", "")
	open, speaking := tried(3, attack.AimLoopback, true, true, ""), tried(3, attack.AimLoopback, true, false, "private addresses are not allowed")
	resolved := tried(4, attack.AimResolved, false, true, "")
	metadata := tried(4, attack.AimLinkLocal, true, true, "")
	refusedName := tried(1, attack.AimName, true, false, "the host is not allowed")
	onlyDocs, led := tried(1, attack.AimName, true, false, "only docs.example.com is allowed"), tried(4, attack.AimLed, false, true, "")
	allowed, foreign := tried(5, attack.AimAllowed, true, true, ""), tried(4, attack.AimForeign, false, true, "")
	evil := cameTo(4, "28.0.0.8", "docs.example.com.c4.pages.example.net")
	theirs := cameTo(5, "28.0.0.7", "docs.example.com")
	beside, same := tried(4, attack.AimBeside, false, true, ""), cameTo(4, "28.0.0.8", "marlow-c4-docs.example.com")
	partial := tried(4, attack.AimPart, false, true, "")
	asked := evil
	asked.Address, asked.Port, asked.Protocol = "127.0.0.1", 53, "udp"
	for name, tc := range map[string]struct {
		server   server
		attempts []attack.Attempt
		effects  []profile.Effect
		want     string
	}{
		"past a refusal":                                {webby, []attack.Attempt{anyName, anyIP, loopback, decimal}, []profile.Effect{byName, numeric, inside}, `EGRESS-008 High: Tool format_note tried to connect to 127.0.0.1:21004, where its argument "url" led as a decimal number`},
		"no guard":                                      {webby, []attack.Attempt{anyName, anyIP, open, decimal}, []profile.Effect{byName, numeric, cameTo(3, "127.0.0.1", ""), inside}, ""},
		"takes no addresses":                            {webby, []attack.Attempt{anyName, tried(2, attack.AimPublic, true, false, "not a URL"), loopback, resolved}, []profile.Effect{byName, inside}, ""},
		"takes none that are private":                   {webby, []attack.Attempt{anyName, tried(2, attack.AimPublic, true, false, "not a URL"), speaking, resolved}, []profile.Effect{byName, inside}, "EGRESS-008 Medium"},
		"fetches nothing":                               {webby, []attack.Attempt{anyName, anyIP, loopback, decimal}, []profile.Effect{inside}, ""},
		"a public host on that port":                    {webby, []attack.Attempt{anyName, anyIP, loopback, decimal}, []profile.Effect{byName, numeric, cameTo(4, "28.0.0.8", "")}, ""},
		"by a name":                                     {webby, []attack.Attempt{anyName, anyIP, loopback, resolved}, []profile.Effect{byName, numeric, inside}, "EGRESS-008 Medium"},
		"by a name, although it says":                   {says, []attack.Attempt{anyName, anyIP, loopback, resolved}, []profile.Effect{byName, numeric, inside}, "EGRESS-008 High"},
		"but metadata":                                  {webby, []attack.Attempt{anyName, anyIP, loopback, metadata}, []profile.Effect{byName, numeric, cameTo(4, "169.254.169.254", "")}, "EGRESS-008 Medium"},
		"no guard, although it says":                    {says, []attack.Attempt{anyName, anyIP, open}, []profile.Effect{byName, numeric, cameTo(3, "127.0.0.1", "")}, "EGRESS-008 High"},
		"by a redirect from an allowed host":            {webby, []attack.Attempt{onlyDocs, allowed, led}, []profile.Effect{theirs, inside}, "EGRESS-008 Medium"},
		"by a redirect from a host that may be trusted": {webby, []attack.Attempt{refusedName, allowed, led}, []profile.Effect{theirs, inside}, ""},
		"by a redirect where every host is allowed":     {webby, []attack.Attempt{anyName, allowed, led}, []profile.Effect{byName, theirs, inside}, ""},
		"past an allowed host":                          {webby, []attack.Attempt{refusedName, allowed, foreign}, []profile.Effect{theirs, evil}, "EGRESS-008 High: Tool format_note tried to connect to docs.example.com.c4"},
		"beside an allowed host":                        {webby, []attack.Attempt{refusedName, allowed, tried(6, attack.AimSibling, true, false, "not allowed"), beside}, []profile.Effect{theirs, same}, "EGRESS-008 High"},
		"in an allowed domain":                          {webby, []attack.Attempt{refusedName, allowed, tried(6, attack.AimSibling, true, true, ""), beside}, []profile.Effect{theirs, same, cameTo(6, "28.0.0.6", "marlow-c6.example.com")}, ""},
		"only looked up":                                {webby, []attack.Attempt{refusedName, allowed, foreign}, []profile.Effect{theirs, asked}, ""},
		"a part of a host":                              {webby, []attack.Attempt{partial}, []profile.Effect{cameTo(4, "28.0.0.8", "c4.pages.example.net")}, "EGRESS-008 High: Tool format_note tried to connect to c4.pages.example.net"},
		"a part of a label":                             {webby, []attack.Attempt{partial}, []profile.Effect{cameTo(4, "28.0.0.8", "api-c4.pages.example.net")}, "EGRESS-008 High"},
		"below a host":                                  {webby, []attack.Attempt{partial}, []profile.Effect{cameTo(4, "28.0.0.8", "c4.pages.example.net.api.example.com")}, ""},
		"no host is allowed":                            {webby, []attack.Attempt{refusedName, allowed, foreign}, []profile.Effect{evil}, ""},
		"every host is allowed":                         {webby, []attack.Attempt{anyName, allowed, foreign}, []profile.Effect{byName, theirs, evil}, ""},
	} {
		in := guarded(tc.server, tc.attempts, tc.effects...)
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}

// TestGuardedElsewhere: a stored URL is fetched by another tool, and the guard of the tool that creates it is missing in
// the one that changes it.
func TestGuardedElsewhere(t *testing.T) {
	fire := report.Capability{Kind: report.CapabilityTool, Name: "fire"}
	of := func(tool string, a attack.Attempt) attack.Attempt {
		a.Of, a.Users = report.Capability{Kind: report.CapabilityTool, Name: tool}, []report.Capability{fire}
		return a
	}
	by := func(number int, address, host string) profile.Effect {
		e := cameTo(number, address, host)
		e.Capability = fire
		return e
	}
	create, open := of("create", tried(3, attack.AimLoopback, true, false, "private addresses are not allowed")), of("edit", tried(4, attack.AimLoopback, true, true, ""))
	silently, alone := create, open
	silently.Answer, alone.Users = "cannot create", nil
	named, fired := of("edit", anyName), []profile.Effect{by(1, "28.0.0.9", "c1.pages.example.net"), by(4, "127.0.0.1", "")}
	for name, tc := range map[string]struct {
		attempts []attack.Attempt
		want     string
	}{
		"forgotten":        {[]attack.Attempt{named, create, open}, "EGRESS-008 High: Tool edit tried to connect to 127.0.0.1:21004"},
		"no guard":         {[]attack.Attempt{named, open}, ""},
		"for other causes": {[]attack.Attempt{named, silently, open}, ""},
		"for other users":  {[]attack.Attempt{named, create, alone}, ""},
	} {
		in := guarded(webby, tc.attempts, fired...)
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
	past := of("create", decimal)
	t.Run("stored by another tool", func(t *testing.T) {
		later, fetched := open, slices.Clone(fired)
		later.Sent = time.Now()
		fetched[1].Time = later.Sent.Add(time.Second)
		expect(t, guarded(webby, []attack.Attempt{of("create", anyName), named, create, past, later}, fetched...), "EGRESS-008 High: Tool edit tried to connect to 127.0.0.1:21004")
	})
	t.Run("past a guard", func(t *testing.T) {
		expect(t, guarded(webby, []attack.Attempt{of("create", anyName), create, past}, fired...), "EGRESS-008 High: Tool create tried to connect to 127.0.0.1:21004")
	})
}

// TestUnguardedBeside: one address of a tool is guarded, and another one of the same kind is not, there or at another tool.
func TestUnguardedBeside(t *testing.T) {
	at := func(tool, field string, a attack.Attempt) attack.Attempt {
		a.Of, a.Field, a.Place = report.Capability{Kind: report.CapabilityTool, Name: tool}, field, field
		return a
	}
	by := func(tool string, number int, address, host string) profile.Effect {
		e := cameTo(number, address, host)
		e.Capability = report.Capability{Kind: report.CapabilityTool, Name: tool}
		return e
	}
	denied, open := tried(3, attack.AimLoopback, true, false, "internal addresses are not allowed"), tried(4, attack.AimLoopback, true, true, "")
	other := tried(5, attack.AimName, true, true, "")
	for name, tc := range map[string]struct {
		tool, field, guarded string
		server               server
		answer               string
		want                 string
	}{
		"in another argument":       {"compare", "left", "right", webby, denied.Answer, `EGRESS-008 High: Tool compare tried to connect to 127.0.0.1:21004`},
		"at another tool":           {"title", "url", "url", webby, denied.Answer, "EGRESS-008 High: Tool title"},
		"in an argument of another": {"title", "link", "url", webby, denied.Answer, ""},
		"for another reason":        {"title", "url", "url", webby, "no such page", ""},
		"of the user's own service": {"compare", "proxy_url", "url", webby, denied.Answer, ""},
		"of a tool for local hosts": {"title", "url", "url", server{name: "web", tools: []string{"title: Shows the title of a page on the local network."}}, denied.Answer, ""},
	} {
		refuses := denied
		refuses.Answer = tc.answer
		where := tc.tool
		if tc.tool == "title" {
			where = "read"
		}
		in := guarded(tc.server, []attack.Attempt{at(tc.tool, tc.field, anyName), at(where, tc.guarded, other), at(where, tc.guarded, refuses), at(tc.tool, tc.field, open)},
			by(tc.tool, 1, "28.0.0.9", "c1.pages.example.net"), by(where, 5, "28.0.0.9", "c5.pages.example.net"), by(tc.tool, 4, "127.0.0.1", ""))
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}

// TestPublicOnly: what a tool says of the addresses that it keeps to.
func TestPublicOnly(t *testing.T) {
	for text, want := range map[string]bool{
		"Only fetches from public addresses":                     true,
		"Requests to private IP ranges are blocked":              true,
		"localhost and internal addresses are rejected":          true,
		"Protected against SSRF":                                 true,
		"Blocks access to localhost":                             true,
		"Fetches a public web page":                              false,
		"Reads private notes; the internal format is not stable": false,
		"Lists private repositories":                             false,
		"Never store secrets in a URL":                           false,
	} {
		if got := publicOnly.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
