package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/mail"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// Bounds on what is read of a message, in bytes, and on the depth of its values.
const (
	maxMessage = 256 << 10
	maxDepth   = 12
)

// addressing lists the names of fields with recipients, in lower case and without separators.
var addressing = map[string]string{
	"to": "To", "cc": "Cc", "bcc": "Bcc", "recipient": "To", "recipients": "To", "torecipients": "To", "ccrecipients": "Cc", "bccrecipients": "Bcc",
	"toaddresses": "To", "ccaddresses": "Cc", "bccaddresses": "Bcc", "toemail": "To", "toemails": "To", "emailto": "To", "sendto": "To",
	"recipientemail": "To", "toaddress": "To", "ccaddress": "Cc", "bccaddress": "Bcc", "tonumber": "To", "phonenumber": "To",
}

var (
	joined  = strings.NewReplacer("_", "", "-", "", " ", "")
	mailbox = lazyregexp.New(`[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}`)
	// telephone matches a number with its country code (ITU-T E.164), as message services take it.
	telephone = lazyregexp.New(`^(?:[a-z]+:)?\+\d{8,15}$`)
	rcpt      = lazyregexp.New(`(?im)^RCPT TO:\s*<([^<>\s]{1,320})>`)
)

// addressed returns the recipients of messages during calls, according to the sinkhole.
func addressed(captures []sinkhole.Capture, l ledger.Ledger, secrets *leak.Collector) (all []rules.Recipient) {
	for _, c := range captures {
		if c.Opaque {
			continue
		}
		var found []rules.Recipient
		switch c.Protocol {
		case "smtp":
			for _, m := range rcpt.FindAllSubmatch(c.Data, -1) {
				found = append(found, rules.Recipient{Field: "RCPT TO", Address: strings.ToLower(string(m[1]))})
			}
		case "http", "https":
			found = inRequest(c.Data)
		}
		if len(found) == 0 {
			continue
		}
		where := secrets.Place(c, l)
		if where.Phase != report.PhaseCall {
			continue
		}
		for _, r := range found {
			r.Of, r.Host = where.Capability, hostOf(c)
			r.Evidence = report.Evidence{Time: report.At(c.Time), Attribution: where.Attribution,
				Detail: strings.ToUpper(c.Protocol) + " to " + r.Host + ": " + c.Request + " [" + r.Field + ": " + r.Address + "]"}
			all = append(all, r)
		}
	}
	return all
}

// inRequest returns the recipients in the body of a request: JSON, or a form.
func inRequest(data []byte) []rules.Recipient {
	request, kind := readRequest(data)
	if request == nil {
		return nil
	}
	var a addressees
	switch kind {
	case "application/x-www-form-urlencoded", "multipart/form-data":
		_ = request.ParseMultipartForm(maxMessage) // as far as it can be read
		for name, values := range request.PostForm {
			a.member(name, values, "", 0)
		}
		if request.MultipartForm != nil {
			_ = request.MultipartForm.RemoveAll()
		}
	default:
		var body any
		if json.NewDecoder(request.Body).Decode(&body) == nil {
			a.value(body, "", 0)
		}
	}
	slices.SortFunc(a.found, func(a, b rules.Recipient) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Address, b.Address))
	})
	return a.found
}

// readRequest parses an HTTP request as far as it was kept, and returns it with the media type of its body; nil for
// anything else.
func readRequest(data []byte) (request *http.Request, kind string) {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return nil, ""
	}
	request.Body = io.NopCloser(io.LimitReader(request.Body, maxMessage))
	kind, _, _ = mime.ParseMediaType(request.Header.Get("Content-Type"))
	return request, kind
}

type addressees struct{ found []rules.Recipient }

// member reads a member of an object or a field of a form below header.
func (a *addressees) member(name string, value any, header string, depth int) {
	folded := joined.Replace(strings.ToLower(strings.TrimRight(name, "[]0123456789")))
	if known, ok := addressing[folded]; ok {
		header = known
	}
	if text, ok := value.(string); ok && folded == "raw" {
		a.raw(text)
		return
	}
	a.value(value, header, depth)
}

func (a *addressees) value(value any, header string, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, each := range v {
			a.member(name, each, header, depth+1)
		}
	case []any:
		for _, each := range v {
			a.value(each, header, depth+1)
		}
	case []string:
		for _, each := range v {
			a.value(each, header, depth+1)
		}
	case string:
		if header != "" {
			a.text(v, header)
		}
	}
}

// text adds the addresses in the text of a field.
func (a *addressees) text(text, header string) {
	found := mailbox.FindAllString(text, -1)
	if telephone.MatchString(text) {
		found = append(found, text)
	}
	for _, address := range found {
		r := rules.Recipient{Field: header, Address: strings.ToLower(address)}
		if !slices.Contains(a.found, r) {
			a.found = append(a.found, r)
		}
	}
}

// raw reads an RFC 5322 message in base64, as the Gmail API takes it.
func (a *addressees) raw(text string) {
	text = strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(text)
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return
	}
	message, err := mail.ReadMessage(bytes.NewReader(decoded))
	if err != nil {
		return
	}
	for _, header := range []string{"To", "Cc", "Bcc"} {
		for _, value := range message.Header[header] {
			a.text(value, header)
		}
	}
}

// recipients returns those of all launches. Known are those in arguments, the manifest, the command or variables,
// which come from the audit, its user, or the declaration.
func recipients(plan Plan, runs []observation, in rules.Input) []rules.Recipient {
	var given []string
	for _, variable := range slices.Concat(plan.Env, plan.chosen()) {
		given = append(given, strings.ToLower(variable))
	}
	for _, v := range plan.Decoys.Vars {
		given = append(given, strings.ToLower(v.Value))
	}
	for _, arguments := range in.Arguments {
		for _, a := range arguments {
			given = append(given, strings.ToLower(a.Value))
		}
	}
	m := in.Manifest
	for _, raw := range slices.Concat(m.Tools, m.Resources, m.ResourceTemplates, m.Prompts, []json.RawMessage{m.Instructions}) {
		given = append(given, strings.ToLower(string(raw)))
	}
	var all []rules.Recipient
	for _, o := range runs {
		for _, r := range o.recipients {
			_, number, isNumber := strings.Cut(r.Address, "+")
			r.Known = slices.ContainsFunc(given, func(text string) bool {
				return strings.Contains(text, r.Address) || isNumber && !strings.Contains(r.Address, "@") && strings.Contains(text, number)
			})
			all = append(all, r)
		}
	}
	return all
}
