package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The defaults of Probe and of Plan.Timeout.
const (
	DefaultCalls           = report.CallsAll
	DefaultRounds          = 3
	DefaultMaxCallsPerTool = 24
	DefaultCallTimeout     = 30 * time.Second
	DefaultTimeout         = 5 * time.Minute
	DefaultDepth           = report.DepthStandard
)

// The ranges of Probe.
const (
	MaxRounds          = 10
	MaxMaxCallsPerTool = 1000
	MinCallTimeout     = time.Second
	MaxCallTimeout     = 10 * time.Minute
)

// The range of Plan.Timeout.
const (
	MinTimeout = 10 * time.Second
	MaxTimeout = time.Hour
)

// Probe says how a server is exercised. A zero field stands for its default.
type Probe struct {
	// Calls says which tools may be called.
	Calls report.Calls `json:"calls,omitempty"`
	// Rounds is the number of times that everything is exercised, 1 to 10.
	Rounds int `json:"rounds,omitempty"`
	// MaxCallsPerTool bounds the calls of one tool over all rounds, 1 to 1000.
	MaxCallsPerTool int `json:"maxCallsPerTool,omitempty"`
	// CallTimeout bounds one call, 1s to 10m.
	CallTimeout Duration `json:"callTimeout,omitzero"`
	// Inputs are arguments by the name of the tool, each a JSON object.
	Inputs map[string]json.RawMessage `json:"inputs,omitempty"`
	// SkipTools are the names of tools not to call.
	SkipTools []string `json:"skipTools,omitempty"`
	// Seed of the generated arguments: the same seed gives the same arguments.
	Seed int64 `json:"seed,omitempty"`
	// Depth says which launches are made; DefaultDepth if empty.
	Depth report.Depth `json:"depth,omitempty"`
	// Attack says whether to try the server's guards; AttackOn if empty.
	Attack Attack `json:"attack,omitempty"`
}

// Attack says whether to try a server's guards, with arguments that it should refuse.
type Attack string

// The choices.
const (
	AttackOn  Attack = "On"
	AttackOff Attack = "Off"
)

// Attacks lists the choices, the default first.
var Attacks = []Attack{AttackOn, AttackOff}

// WithDefaults returns the probe with its defaults filled in.
func (p Probe) WithDefaults() Probe {
	p.Calls, p.Rounds = cmp.Or(p.Calls, DefaultCalls), cmp.Or(p.Rounds, DefaultRounds)
	p.MaxCallsPerTool = cmp.Or(p.MaxCallsPerTool, DefaultMaxCallsPerTool)
	p.Depth = cmp.Or(p.Depth, DefaultDepth)
	p.CallTimeout.Duration = cmp.Or(p.CallTimeout.Duration, DefaultCallTimeout)
	return p
}

// A RangeError is a value out of its range.
type RangeError struct {
	// Field is the name in JSON, such as "maxCallsPerTool", or that of a flag.
	Field           string
	Value, Min, Max any
}

func (e RangeError) Error() string {
	return fmt.Sprintf("%s: invalid value %v (want %v to %v)", e.Field, e.Value, e.Min, e.Max)
}

// Check returns a RangeError for each field that is out of its range.
func (p Probe) Check() error {
	return errors.Join(
		Within("rounds", p.Rounds, 1, MaxRounds),
		Within("maxCallsPerTool", p.MaxCallsPerTool, 1, MaxMaxCallsPerTool),
		Within("callTimeout", p.CallTimeout.Duration, MinCallTimeout, MaxCallTimeout),
	)
}

// Within returns a RangeError unless least <= value <= most.
func Within[T cmp.Ordered](field string, value, least, most T) error {
	if least <= value && value <= most {
		return nil
	}
	return RangeError{field, value, least, most}
}
