package attack

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestRecipients: only the value that is a mailbox is led to another one, if the tool uses the network.
func TestRecipients(t *testing.T) {
	for network, want := range map[bool]int{true: len(recipientForms), false: 0} {
		p := Plan{Closed: true, Seen: map[report.Capability]Seen{tool: {Network: network}}}
		mails := 0
		for _, a := range against(p, Target{Of: tool, Honest: json.RawMessage(`{"to":"ann@acme-corp.com","subject":"ann"}`)}) {
			if a.Family == Recipient {
				mails++
			}
			if a.Family == Recipient && a.Field != "to" {
				t.Errorf("%s is no recipient", a.Field)
			}
		}
		if mails != want {
			t.Errorf("%d attempts, want %d", mails, want)
		}
	}
}

// TestNamedRecipients: a tool that refuses what the audit made up is tried with the mailbox that it names.
func TestNamedRecipients(t *testing.T) {
	kept := false
	for _, a := range against(Plan{Closed: true}, Target{Of: tool, Honest: json.RawMessage(`{"to":"office@c3.pages.example.net"}`), Said: "Only to acme-corp.com, such as ann@acme-corp.com."}) {
		kept = kept || a.Family == Recipient && strings.HasSuffix(a.Value, "pages.example.net,ann@acme-corp.com")
	}
	if !kept {
		t.Error("no attempt adds our mailbox to the one that the tool names")
	}
}

// TestMails: recipients are read of SMTP's commands and of members with their names, and nowhere else.
func TestMails(t *testing.T) {
	const ours = "marlow-c7@c7.pages.example.net"
	for name, tc := range map[string]struct {
		all  []Asking
		want bool
	}{
		"SMTP":                 {Askings("smtp", "", []byte("MAIL FROM:<a@b.example>\r\nRCPT TO:<ann@acme-corp.com>\r\nrcpt TO:<"+ours+">\r\nDATA\r\n"), time.Time{}), true},
		"a sender":             {Askings("smtp", "", []byte("MAIL FROM:<"+ours+">\r\nRCPT TO:<ann@acme-corp.com>\r\n"), time.Time{}), false},
		"a text of a mail":     {Askings("smtp", "", []byte("RCPT TO:<ann@acme-corp.com>\r\nDATA\r\n\r\nsee "+ours), time.Time{}), false},
		"JSON":                 {Sent{Body: []byte(`{"to":["ann@acme-corp.com","` + ours + `"]}`)}.Askings(time.Time{}), true},
		"a text of JSON":       {Sent{Body: []byte(`{"to":"ann@acme-corp.com","text":"` + ours + `"}`)}.Askings(time.Time{}), false},
		"a form":               {Sent{Kind: "application/x-www-form-urlencoded", Body: []byte(`bcc=marlow-c7%40c7.pages.example.net`)}.Askings(time.Time{}), true},
		"another of our mails": {Sent{Body: []byte(`{"to":"marlow-c77@c77.pages.example.net"}`)}.Askings(time.Time{}), false},
	} {
		got := false
		for _, q := range tc.all {
			got = got || q.Mails("marlow-c7")
		}
		if got != tc.want {
			t.Errorf("%s: %v, want %v: %+v", name, got, tc.want, tc.all)
		}
	}
}
