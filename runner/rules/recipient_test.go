package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/attack"
)

func messages(all ...Recipient) Input {
	in := input(silent)
	for _, r := range all {
		r.Of, r.Host = call.Capability, "api.mail.test"
		in.Recipients = append(in.Recipients, r)
	}
	return in
}

var (
	wanted   = Recipient{Field: "To", Address: "ann@a.io", Known: true}
	brings   = Recipient{Field: "Bcc", Address: "eve@e.io"}
	imagined = Recipient{Field: "To", Address: "note@mail.example.com"}
)

var _ = prove(map[string]proof{
	"MCPA-EGRESS-009": {
		finds:  []Input{messages(wanted, brings)},
		spares: []Input{messages(wanted), messages(imagined)},
	},
})

// TestRecipientOfItsOwn: beside one that it was given it is High, alone Medium.
func TestRecipientOfItsOwn(t *testing.T) {
	for want, in := range map[string]Input{
		`EGRESS-009 High: Tool format_note sent a message to eve@e.io (Bcc) by api.mail.test, beside the one that it was given; no argument`: messages(wanted, brings),
		`EGRESS-009 High`:   messages(imagined, brings),
		`EGRESS-009 Medium`: messages(brings),
	} {
		expect(t, in, want)
	}
}

// TestMailed: a mailbox that was refused alone is reached in company, and none that was never refused, or for another reason.
func TestMailed(t *testing.T) {
	try := func(number int, field string, control, accepted bool, answer string) attack.Attempt {
		return attack.Attempt{Of: call.Capability, Family: attack.Recipient, Form: "before the value", Control: control, Field: field, Place: field, Value: "x@y.example",
			Call: number, Answered: true, Accepted: accepted, Answer: answer}
	}
	sent := func(number string) attack.Asking {
		return attack.Asking{Recipient: "marlow-c" + number + "@c" + number + ".pages.example.net"}
	}
	alone, beside := try(1, "to", true, false, "only addresses of acme-corp.com are allowed"), try(2, "to", false, true, "")
	for name, tc := range map[string]struct {
		attempts []attack.Attempt
		requests []attack.Asking
		want     string
	}{
		"in company":        {[]attack.Attempt{alone, beside}, []attack.Asking{sent("2")}, "EGRESS-008 High: Tool format_note sent a message to marlow-c2@c2.pages.example.net"},
		"not sent":          {[]attack.Attempt{alone, beside}, nil, ""},
		"no guard":          {[]attack.Attempt{try(1, "to", true, true, ""), beside}, []attack.Asking{sent("1"), sent("2")}, ""},
		"a limit":           {[]attack.Attempt{try(1, "to", true, false, "too many messages"), beside}, []attack.Asking{sent("2")}, ""},
		"in a list":         {[]attack.Attempt{try(1, "to[0]", true, false, alone.Answer), try(2, "to[1]", true, true, "")}, []attack.Asking{sent("2")}, "EGRESS-008 High"},
		"in another field":  {[]attack.Attempt{alone, try(2, "cc", true, true, "")}, []attack.Asking{sent("2")}, ""},
		"of another number": {[]attack.Attempt{alone, beside}, []attack.Asking{sent("22")}, ""},
	} {
		in := guarded(webby, tc.attempts)
		in.Attack.Requests = tc.requests
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}
