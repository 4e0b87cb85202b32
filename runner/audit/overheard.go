package audit

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// maxOverheard is how many statements are kept of the launch in which guards are tried.
const maxOverheard = 1024

// overheard are the statements in SQL with a mark that came to the sinkhole.
type overheard struct{ statements []attack.Statement }

// capture takes in what was sent.
func (o *overheard) capture(c sinkhole.Capture) {
	if c.Protocol != "postgres" && c.Protocol != "mysql" {
		return
	}
	for _, mark := range inputs.Marks(c.Data) {
		for _, text := range attack.Statements(c.Protocol, c.Data, mark) {
			s := attack.Statement{Protocol: c.Protocol, Text: text, Time: c.Time}
			if len(o.statements) < maxOverheard && !slices.ContainsFunc(o.statements, func(known attack.Statement) bool { return known.Text == text }) {
				o.statements = append(o.statements, s)
			}
		}
	}
}
