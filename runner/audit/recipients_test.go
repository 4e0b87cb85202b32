package audit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// posted is a request as the sinkhole receives it.
func posted(kind, body string) []byte {
	return fmt.Appendf(nil, "POST /email HTTP/1.1\r\nHost: api.mail.test\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body)
}

// TestInRequest: recipients in the shapes that mail services take.
func TestInRequest(t *testing.T) {
	message := base64.RawURLEncoding.EncodeToString([]byte("To: Ann <ann@a.io>\r\nBcc: eve@e.io\r\nSubject: bob@b.io\r\n\r\nHello, carl@c.io"))
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"postmark":    {posted("application/json", `{"From":"me@m.io","To":"Ann <ann@a.io>, bob@b.io","Bcc":"eve@e.io","ReplyTo":"me@m.io","TextBody":"to: carl@c.io"}`), "Bcc eve@e.io, To ann@a.io, To bob@b.io"},
		"sendgrid":    {posted("application/json; charset=utf-8", `{"personalizations":[{"to":[{"email":"ann@a.io"}],"bcc":[{"email":"eve@e.io"}]}],"from":{"email":"me@m.io"}}`), "Bcc eve@e.io, To ann@a.io"},
		"graph":       {posted("application/json", `{"message":{"toRecipients":[{"emailAddress":{"address":"ann@a.io"}}],"from":{"emailAddress":{"address":"me@m.io"}}}}`), "To ann@a.io"},
		"ses":         {posted("application/json", `{"Destination":{"ToAddresses":["ann@a.io"],"BccAddresses":["eve@e.io"]}}`), "Bcc eve@e.io, To ann@a.io"},
		"gmail":       {posted("application/json", `{"raw":"`+message+`"}`), "Bcc eve@e.io, To ann@a.io"},
		"twilio":      {posted("application/x-www-form-urlencoded", "From=%2B15550100&To=whatsapp%3A%2B15550123456&Body=x"), "To whatsapp:+15550123456"},
		"mailgun":     {posted("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nann@a.io\r\n--x\r\nContent-Disposition: form-data; name=\"bcc\"\r\n\r\neve@e.io\r\n--x--\r\n"), "Bcc eve@e.io, To ann@a.io"},
		"no message":  {posted("application/json", `{"from":"2024-01-01","to":"2024-02-01","email":"ann@a.io"}`), ""},
		"no request":  {[]byte("\x00\x01"), ""},
		"cut off":     {posted("application/json", `{"to":"ann@a.io"}`)[:90], ""},
		"deeper":      {posted("application/json", `{"to":`+strings.Repeat("[", 40)+`"ann@a.io"`+strings.Repeat("]", 40)+`}`), ""},
		"no such raw": {posted("application/json", `{"raw":"!"}`), ""},
	} {
		var got []string
		for _, r := range inRequest(tc.data) {
			got = append(got, r.Field+" "+r.Address)
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// FuzzInRequest: whatever a server sends, reading it ends, and finds addresses only.
func FuzzInRequest(f *testing.F) {
	f.Add(posted("application/json", `{"To":"ann@a.io","raw":"VG86IGE"}`))
	f.Add(posted("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nann@a.io\r\n--x--\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, r := range inRequest(data) {
			if !strings.ContainsAny(r.Address, "@+") || r.Field == "" {
				t.Errorf("a recipient %+v", r)
			}
		}
	})
}

// TestRecipients: known are those that the audit, its user or the manifest names.
func TestRecipients(t *testing.T) {
	tool := report.Capability{Kind: report.CapabilityTool, Name: "send"}
	plan := Plan{Env: []string{"NOTIFY=Ops@Corp.io"}, Command: []string{"mailer", "--admin=root@corp.io"}}
	plan.Decoys.Vars = []decoy.Var{{Name: "MAIL_TO", Value: "deploy@corp.io"}}
	in := rules.Input{
		Arguments: map[report.Capability][]rules.Argument{tool: {{Field: "to", Value: "Ann@a.io"}, {Field: "number", Value: "15550123456"}}},
		Manifest:  manifest.Manifest{Tools: []json.RawMessage{[]byte(`{"name":"send","description":"Copies go to audit@corp.io."}`)}},
	}
	want := map[string]bool{
		"ann@a.io": true, "ops@corp.io": true, "root@corp.io": true, "deploy@corp.io": true, "audit@corp.io": true, "+15550123456": true,
		"eve@e.io": false, "+15550999999": false,
	}
	var o observation
	for address := range want {
		o.recipients = append(o.recipients, rules.Recipient{Of: tool, Field: "To", Address: address})
	}
	for _, r := range recipients(plan, []observation{o}, in) {
		if r.Known != want[r.Address] {
			t.Errorf("%s: known %t", r.Address, r.Known)
		}
	}
}
