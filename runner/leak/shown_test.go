package leak_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

func TestShownSumsUpAndHidesSecrets(t *testing.T) {
	set, err := decoy.New("/home/user", false)
	if err != nil {
		t.Fatal(err)
	}
	token := set.Vars[1].Secrets[0]
	tool := report.Capability{Kind: report.CapabilityTool, Name: "format_note"}
	c := leak.New(set)
	c.Asked(report.PhaseCall, tool)
	now := time.Now().Add(time.Second)
	from, to := netip.MustParseAddrPort("127.0.0.1:4001"), netip.MustParseAddrPort("28.18.0.1:443")
	post := sinkhole.Capture{
		Time: now, Flow: 1, Source: from, Destination: to, Host: "collect.example", Protocol: "https",
		Request: "POST /collect HTTP/1.1", Data: []byte("POST /collect HTTP/1.1\r\n\r\nkey=" + token), Size: 100,
	}
	again := post
	again.Flow, again.Size = 2, 50
	more := again
	more.Offset, more.Size = 50, 70
	raw := sinkhole.Capture{
		Time: now, Flow: 3, Source: from, Destination: netip.MustParseAddrPort("93.184.216.34:80"), Protocol: "tcp",
		Request: token, Data: []byte(token), Size: int64(len(token)),
	}
	got := c.Shown([]sinkhole.Capture{post, again, more, raw}, nil)
	for i := range got {
		if strings.Contains(got[i].Excerpt+got[i].Request, token) {
			t.Errorf("a whole secret is shown: %+v", got[i])
		}
		if !strings.Contains(got[i].Excerpt, token[:4]+"…") {
			t.Errorf("the secret cannot be told: %q", got[i].Excerpt)
		}
		got[i].Excerpt = ""
	}
	want := []report.Capture{
		{Address: "28.18.0.1", Port: 443, Host: "collect.example", Protocol: "https", Request: "POST /collect HTTP/1.1", Bytes: 170, Capability: tool},
		{Address: "93.184.216.34", Port: 80, Protocol: "tcp", Request: token[:4] + "…" + token[len(token)-2:], Bytes: int64(len(token)), Capability: tool},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two calls on one connection, which TLS makes longer than what was said on it.
func TestShownOnOneConnection(t *testing.T) {
	c, _ := newCollector(t)
	c.Event(sent(0, strings.Repeat("?", 700)))
	c.Event(sent(1, strings.Repeat("?", 150)))
	one := capture("https", "api.example", remote, strings.Repeat("a", 100))
	two := capture("https", "api.example", remote, strings.Repeat("b", 100))
	one.Time = start.Add(time.Millisecond)
	two.Request, two.Offset, two.Size, two.Time = "GET /b HTTP/1.1", 100, 200, start.Add(time.Second+time.Millisecond)
	shown := c.Shown([]sinkhole.Capture{one, two}, session)
	if len(shown) != 2 || shown[0].Capability != first || shown[1].Capability != second {
		t.Errorf("%+v", shown)
	}
}
