package audit

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// maxOverheard is how many statements are kept of the launch in which guards are tried.
const maxOverheard = 1024

// overheard are the statements in SQL, and the operators of MongoDB, with a mark that came to the sinkhole.
type overheard struct {
	statements []attack.Statement
	// requests are those by HTTP and SMTP.
	requests []attack.Asking
	// open are the connections, by their flow.
	open map[uint64]*attack.Transactions
}

// capture takes in what was sent.
func (o *overheard) capture(c sinkhole.Capture) {
	if !c.Continues {
		for _, each := range attack.Askings(c.Protocol, c.Request, c.Data, c.Time) {
			if len(o.requests) < maxOverheard {
				o.requests = append(o.requests, each)
			}
		}
	}
	switch c.Protocol {
	case "mongodb":
		for _, q := range attack.Operators(c.Data) {
			if len(o.statements) < maxOverheard {
				o.statements = append(o.statements, attack.Statement{Protocol: c.Protocol, Text: q.Text, Time: c.Time})
			}
		}
	case "postgres", "mysql":
		o.query(c)
	}
}

// query takes in statements in SQL.
func (o *overheard) query(c sinkhole.Capture) {
	if o.open == nil {
		o.open = map[uint64]*attack.Transactions{}
	}
	if o.open[c.Flow] == nil {
		o.open[c.Flow] = attack.NewTransactions(c.Protocol)
	}
	for _, q := range attack.Queries(c.Protocol, c.Data) {
		writes := o.open[c.Flow].Take(q)
		if len(inputs.Marks([]byte(q.Text))) == 0 || len(o.statements) >= maxOverheard ||
			slices.ContainsFunc(o.statements, func(known attack.Statement) bool { return known.Text == q.Text && len(known.Writes) >= len(writes) }) {
			continue
		}
		o.statements = append(o.statements, attack.Statement{Protocol: c.Protocol, Text: q.Text, Writes: writes, Time: c.Time})
	}
}
