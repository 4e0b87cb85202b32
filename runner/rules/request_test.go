package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// asking is a server that sent requests: of the control, the mark of call 1, and of an attempt, that of call 2.
func asking(of ...attack.Asking) Input {
	in := input(silent)
	for number, control := range []bool{true, false} {
		in.Attack.Attempts = append(in.Attack.Attempts, attack.Attempt{Of: call.Capability, Family: attack.Request, Form: "so", Control: control,
			Field: "job", Value: "../../x", Call: number + 1, Answered: true, Accepted: true})
	}
	in.Attack.Requests = of
	return in
}

var _ = prove(map[string]proof{
	"MCPA-EGRESS-010": {
		finds:  []Input{asking(attack.Asking{Line: "marlow-c2: 1"})},
		spares: []Input{asking(attack.Asking{Target: "/v1/jobs/marlow-c1"}, attack.Asking{Target: "/v1/jobs/..%2f..%2fmarlow-c2"})},
	},
})

// TestChangedRequests: what leaves its part of a request is a finding.
func TestChangedRequests(t *testing.T) {
	plain := attack.Asking{Target: "/v1/jobs/marlow-c1/trace"}
	expect(t, asking(plain, attack.Asking{Target: "/marlow-c2/trace"}), `EGRESS-010 Medium: Tool format_note sent a request of which its argument "job" changed more than its own part, so: "../../x" became "/marlow-c2/trace"`)
	expect(t, asking(attack.Asking{Line: "marlow-c2: 1"}), "EGRESS-010 High")
	expect(t, asking(attack.Asking{Member: "marlow-c2"}), `EGRESS-010 Medium: Tool format_note sent a request of which its argument "job" changed more than its own part, so: "../../x" became "marlow-c2"`)
	expect(t, asking(plain, attack.Asking{Target: "/marlow-c3/trace"}), "")
	expect(t, asking(attack.Asking{Target: "/v1/jobs/marlow-c1"}), "")
	expect(t, asking(attack.Asking{Line: "marlow-c1: 1"}), "")
}

// TestManyRequests: a server that sends many long ones is judged in their time, and not in that of all attempts on each.
func TestManyRequests(t *testing.T) {
	in := asking(attack.Asking{Line: "marlow-c2: 1"})
	long := strings.Repeat("x", 32<<10)
	for i := range 1024 {
		in.Attack.Requests = append(in.Attack.Requests, attack.Asking{Target: fmt.Sprint("/v1/jobs/marlow-c", i+10, long)})
	}
	for len(in.Attack.Attempts) < 500 {
		in.Attack.Attempts = append(in.Attack.Attempts, in.Attack.Attempts...)
	}
	expect(t, in, "EGRESS-010 High")
}
