package rules

import (
	"slices"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/credential"
)

var ownKey = credential.Credential{Kind: credential.Issued, What: "a Stripe key", Value: "sk_" + "live_q7Zr2LmX9vKc4TnB8wYd", Live: true}

func givesAway(s server, c ...credential.Credential) []Input {
	in := input(s)
	in.Manifest = s.manifest()
	for _, each := range c {
		in.Carried = append(in.Carried, Carried{each, report.Output{Kind: report.OutputError, Method: "tools/call", Capability: call.Capability}})
	}
	return []Input{in}
}

var _ = prove(map[string]proof{
	"MCPA-SECRET-005": {
		finds: slices.Concat(
			givesAway(silent, ownKey),
			givesAway(server{name: "n", instructions: "Sign in with the password: Winter2024!x and go on."}),
			givesAway(server{name: "n", tools: []string{"format_note: Uses " + ownKey.Value + " to format."}}),
		),
		spares: slices.Concat(
			givesAway(silent),
			givesAway(server{name: "n", tools: []string{"format_note: Generates API keys."}}, ownKey),
			givesAway(server{name: "n", instructions: "Set the password, for example password: Winter2024!x, first."}),
			givesAway(server{name: "n", tools: []string{"format_note: Connects to postgres://app:V3ry-l0ng-w0rd@db/x."}}),
		),
	},
})

// One finding for a capability, at the severity of its worst.
func TestCarried(t *testing.T) {
	password := credential.Credential{Kind: credential.Labelled, What: "a password", Value: "Winter2024!x"}
	got := lines(Judge(givesAway(silent, password, ownKey)[0]))
	want := "SECRET-005 High: Tool format_note gives away in its error a Stripe key (sk_l…Yd), a password (Wint…!x), which the audit did not give it."
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
