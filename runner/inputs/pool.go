package inputs

import "encoding/json"

// Pool collects what a server names, for arguments to come. What it is told of is
// untrusted; it keeps no more than a bounded number of short values. A source says
// whom it is from: "tool list_tickets".
type Pool struct{ size int }

// NewPool is empty.
func NewPool() *Pool { return &Pool{} }

// Result takes the result of a call, a resource or a prompt.
func (p *Pool) Result(source string, raw json.RawMessage) {}

// Error takes the text of an error.
func (p *Pool) Error(source, text string) {}

// Taken takes the arguments of a call that was accepted: what was created with
// them can be asked for.
func (p *Pool) Taken(source string, arguments json.RawMessage) {}

// Description takes what is said about a tool.
func (p *Pool) Description(source, text string) {}

// Offer takes values that are offered for one argument, such as by completion.
func (p *Pool) Offer(source, argument string, values []string) {}

// Size is how many values it has. It grows when something new was learned.
func (p *Pool) Size() int { return p.size }
