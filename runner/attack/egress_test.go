package attack

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// egress are the attempts of family Egress on one honest call.
func egress(p Plan, target Target) (made []Attempt) {
	s := p.Against(target)
	for call := 1; ; call++ {
		a, more := s.Next(inputs.Mark{Call: call})
		if !more {
			return made
		}
		if a.Family == Egress {
			made = append(made, a)
		}
	}
}

// TestEgress: each attempt leads to a port of its own, or is one that its name tells.
func TestEgress(t *testing.T) {
	page := Target{Of: tool, Honest: json.RawMessage(`{"url":"https://c3.pages.example.net/notes?a=b"}`)}
	made := egress(Plan{Closed: true}, page)
	ports, controls := map[int]bool{}, map[Aim]bool{}
	for _, a := range made {
		if ports[a.Port] {
			t.Errorf("port %d twice", a.Port)
		}
		ports[a.Port], controls[a.Aim] = true, controls[a.Aim] || a.Control
		if a.Aim == AimForeign || a.Aim == AimAllowed {
			t.Errorf("%s leads to another host than one that nobody named", a.Value)
		}
		if to, err := url.Parse(a.Value); err == nil && a.Aim == AimLoopback && a.Control && (to.Path != "/notes" || to.RawQuery != "a=b") {
			t.Errorf("%s does not keep the rest of the URL", a.Value)
		}
	}
	if !slices.ContainsFunc(made, func(a Attempt) bool {
		to, err := url.Parse(a.Value)
		if err != nil || to.Scheme != "https" || to.Path != "/notes" {
			return false
		}
		led, ok := inputs.LedTo(to.Host, "")
		return ok && a.Led(led.Addr(), int(led.Port()))
	}) {
		t.Error("no attempt keeps scheme and path, and is redirected")
	}
	if len(made) < 40 || !controls[AimName] || !controls[AimPublic] || !controls[AimLoopback] || !controls[AimPrivate] || !controls[AimLinkLocal] {
		t.Errorf("%d attempts, controls %v", len(made), controls)
	}
	if open := egress(Plan{}, page); len(open) > 0 {
		t.Errorf("%d attempts where the network is open", len(open))
	}
	page.Said = "Fetches a page of docs.example.com."
	foreign := 0
	for _, a := range egress(Plan{Closed: true}, page) {
		if a.Aim != AimForeign {
			continue
		}
		foreign++
		if call, ok := inputs.Marked(a.Value); !ok || call != a.Call || !strings.Contains(a.Value, "example.com") {
			t.Errorf("%s", a.Value)
		}
	}
	if foreign < 8 {
		t.Errorf("%d attempts around an allowed host", foreign)
	}
}

// TestEgressHosts: a host without a port is told by its address.
func TestEgressHosts(t *testing.T) {
	ping := Target{Of: tool, Honest: json.RawMessage(`{"host":"192.0.2.7","note":"a.b"}`)}
	seen := map[report.Capability]Seen{tool: {Network: true}}
	made := egress(Plan{Closed: true, Seen: seen}, ping)
	if !slices.ContainsFunc(made, func(a Attempt) bool {
		led, ok := inputs.LedTo(a.Value, "")
		return ok && led.Port() == 0 && a.Led(led.Addr(), 443)
	}) {
		t.Error("no attempt is a host that redirects")
	}
	for _, a := range made {
		if a.Field != "host" || strings.Contains(a.Value, "://") || !a.Alone {
			t.Errorf("%s = %s", a.Field, a.Value)
		}
		if a.Aim == AimLoopback && a.Control && (!a.Led(netip.MustParseAddr(a.Value), 80) || a.Led(netip.MustParseAddr("127.0.0.1"), 80)) {
			t.Errorf("%s is not told from others", a.Value)
		}
	}
	if made = egress(Plan{Closed: true}, ping); len(made) > 0 {
		t.Errorf("%d attempts on what has not used the network", len(made))
	}
}
