package audit

import (
	"bytes"
	"io"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ldap"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// maxOverheard bounds the statements and requests that are kept of the launch that tries guards.
const maxOverheard = 1024

// overheard keeps marked SQL, marked statements of other query languages, marked MongoDB operators, and marked
// attributes of LDAP filters that the sinkhole received.
type overheard struct {
	statements []attack.Statement
	// requests are those by HTTP and SMTP.
	requests []attack.Asking
	// open has the connections by flow.
	open map[uint64]*attack.Transactions
}

// capture adds a capture.
func (o *overheard) capture(c sinkhole.Capture) {
	if !c.Continues {
		o.ask(attack.Askings(c.Protocol, c.Request, c.Data, c.Time))
	}
	switch c.Protocol {
	case "mongodb":
		for _, q := range attack.Operators(c.Data) {
			o.add(attack.Statement{Protocol: c.Protocol, Text: q.Text, Time: c.Time})
		}
	case attack.Directory:
		for _, name := range ldap.Tested(c.Data) {
			o.add(attack.Statement{Protocol: c.Protocol, Text: "a search for " + name, Time: c.Time})
		}
	case "http", "https":
		o.web(c)
	case "postgres", "mysql":
		o.query(c)
	}
}

// web searches a request that contains a mark, encoded or not.
func (o *overheard) web(c sinkhole.Capture) {
	if c.Continues || !bytes.Contains(c.Data, []byte(inputs.Word)) {
		return
	}
	request, kind := readRequest(c.Data)
	if request == nil {
		return
	}
	body, _ := io.ReadAll(request.Body) // as far as it was kept
	sent := attack.Sent{Target: request.RequestURI, Kind: kind, Body: body}
	o.ask(sent.Askings(c.Time))
	for _, text := range sent.Phrases() {
		o.add(attack.Statement{Protocol: attack.Web, Text: text, Time: c.Time})
	}
}

// ask keeps requests up to maxOverheard.
func (o *overheard) ask(all []attack.Asking) {
	o.requests = append(o.requests, all[:min(len(all), maxOverheard-len(o.requests))]...)
}

// add keeps statements up to maxOverheard.
func (o *overheard) add(s attack.Statement) {
	if len(o.statements) < maxOverheard {
		o.statements = append(o.statements, s)
	}
}

// query adds SQL statements.
func (o *overheard) query(c sinkhole.Capture) {
	if o.open == nil {
		o.open = map[uint64]*attack.Transactions{}
	}
	if o.open[c.Flow] == nil {
		o.open[c.Flow] = attack.NewTransactions(c.Protocol)
	}
	for _, q := range attack.Queries(c.Protocol, c.Data) {
		writes := o.open[c.Flow].Take(q)
		if len(inputs.Marks([]byte(q.Text))) == 0 || slices.ContainsFunc(o.statements, func(known attack.Statement) bool { return known.Text == q.Text && len(known.Writes) >= len(writes) }) {
			continue
		}
		o.add(attack.Statement{Protocol: c.Protocol, Text: q.Text, Writes: writes, Time: c.Time})
	}
}
