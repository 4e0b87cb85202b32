package inputs

import (
	"encoding/json"
	"fmt"
)

// Shape is what a set of arguments was made for.
type Shape string

// The shapes.
const (
	ShapeRequired  Shape = "Required"  // no more than what must be there
	ShapeAll       Shape = "All"       // the optional ones, too
	ShapeOne       Shape = "One"       // a single optional one
	ShapeInvalid   Shape = "Invalid"   // slightly against the schema
	ShapeHarvested Shape = "Harvested" // a value that the server itself named
)

// Origin says where a value came from that was not made up.
type Origin struct{ Argument, Value, Source string }

// String is one clause: `ticket_id "TICK-3" from the result of tool list_tickets`.
func (o Origin) String() string {
	return fmt.Sprintf("%s %q from %s", o.Argument, o.Value, o.Source)
}

// Case is one set of arguments.
type Case struct {
	// Arguments is a JSON object; of a template it is {"uri": "..."}.
	Arguments json.RawMessage
	Shape     Shape
	Origins   []Origin
}

// Form fills in the arguments of one tool, prompt or template, call by call.
type Form struct {
	options Options
	fill    func(Options) json.RawMessage
	sent    int
}

// NewForm is for a tool's inputSchema.
func NewForm(schema json.RawMessage, o Options) *Form {
	return &Form{options: o, fill: func(o Options) json.RawMessage { return Arguments(schema, o) }}
}

// NewPromptForm is for the "arguments" of a prompt in prompts/list.
func NewPromptForm(arguments json.RawMessage, o Options) *Form {
	return &Form{options: o, fill: func(o Options) json.RawMessage {
		text, _ := json.Marshal(Prompt(arguments, o))
		return text
	}}
}

// NewTemplateForm is for the uriTemplate of a resource template (RFC 6570). The
// error is that of a template that is malformed or longer than 4096 bytes.
func NewTemplateForm(template string, o Options) (*Form, error) {
	if _, err := Expand(template, o); err != nil {
		return nil, err
	}
	return &Form{options: o, sent: 1, fill: func(o Options) json.RawMessage {
		uri, _ := Expand(template, o)
		text, _ := json.Marshal(map[string]string{"uri": uri})
		return text
	}}, nil
}

// Next makes the next arguments that are worth sending; false when there is
// nothing new with what the pool has, which may have changed by the next time.
func (f *Form) Next(_ *Pool, _ Mark) (Case, bool) {
	o, shape := f.options, ShapeRequired
	switch f.sent {
	case 0:
	case 1:
		o.All, shape = true, ShapeAll
	default:
		return Case{}, false
	}
	f.sent++
	return Case{Arguments: f.fill(o), Shape: shape}, true
}

// Answered says that the call with these arguments was answered; accepted: with
// a result that is no error.
func (f *Form) Answered(Case, bool) {}

// Branches are those that the schema has and those that an answered call took.
func (f *Form) Branches() (total, done int) { return 0, 0 }
