package report

import (
	"strings"
	"testing"
)

// What is cut of the privileges is counted, and does not make an audit incomplete: it
// makes no policy, which is another thing.
func TestPrivilegesHoldTheCaps(t *testing.T) {
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat(text, 1<<12/len(text))
			p := &Privileges{Home: long}
			for range 1_000 {
				p.Calls, p.Unmade, p.Sockets, p.Capabilities = append(p.Calls, long), append(p.Unmade, long), append(p.Sockets, long), append(p.Capabilities, long)
				p.Writes = append(p.Writes, WrittenDirectory{Path: long})
				p.Egress, p.Listens = append(p.Egress, Peer{Host: long, Address: long, Protocol: long}), append(p.Listens, Peer{Address: long})
			}
			r := Report{Verdict: VerdictPass, Reason: ReasonPassed, Privileges: p}
			_, got := roundTrip(t, r)
			if got.Privileges.Dropped < 7*1_000-2*256-16-64-64-2*128 {
				t.Errorf("it says that %d were dropped", got.Privileges.Dropped)
			}
			if got.Verdict != VerdictPass || len(got.Truncated) > 0 {
				t.Errorf("the report is %s, %v", got.Verdict, got.Truncated)
			}
		})
	}
}

func TestPrivilegesThatFitStay(t *testing.T) {
	r := Report{Verdict: VerdictPass, Privileges: &Privileges{Calls: []string{"execve"}, Writes: []WrittenDirectory{{Path: "/data", Created: true}},
		Egress: []Peer{{Host: "api.example.com", Port: 443, Protocol: "tcp"}}}}
	r.Cap()
	if p := r.Privileges; p.Dropped != 0 || len(p.Calls) != 1 || len(p.Writes) != 1 || len(p.Egress) != 1 {
		t.Errorf("%+v", p)
	}
}
