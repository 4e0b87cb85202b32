package rules

import "testing"

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
