// Package probe is the MCP client of an audit: it talks to one server, lists what
// it advertises, calls every capability several times with plausible arguments, and keeps
// a ledger of the conversation by byte positions.
//
// The session: handshake, lists, completions and subscriptions, rounds of calls
// (round.go), the lists once more (to see whether the calls changed them), an idle
// time, and the end of stdin. Later calls use values that earlier ones returned. One
// request is in flight at a time, and after each response the session waits until
// the server is quiet (settle.go), so that an effect in the trace belongs to one
// request. Result.Incomplete names whatever could not be exercised.
//
// The package has its own JSON-RPC client. That of mcp-go silently skips lines that are not
// JSON, has no limit on their length, and does not report the byte position of
// a response, which the ledger records for attribution.
package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/sources"
)

// Conn is a running server. Its stderr is drained by who started it.
type Conn struct {
	// Names are what the server sees in place of the audit's own names; nil for those.
	Names *pseudonym.Names
	// Stdin and Stdout are the runner's ends of the two pipes, unused so far.
	// Run closes Stdin. It reads Stdout to its end, in the background even
	// after it has returned: the owner closes it to end that.
	Stdin  io.WriteCloser
	Stdout io.Reader
	// Exited is closed when the server's main process has ended; nil when that is not
	// known.
	Exited <-chan struct{}
	// Active returns when the server last did something that matters;
	// nil when it is not watched. Any goroutine may call it.
	Active func() time.Time
	// Pending reports whether the server has set itself a timer, and for how long
	// it waits for it, 0 if that is not known; nil as above.
	Pending func() (wait time.Duration, pending bool)
	// Received, when set, gets each line of Stdout without its line end, and the
	// number of bytes up to and including that. Of a line that is too long it gets
	// the beginning. It must not keep the line. Over HTTP it gets each message, and
	// anything that came in place of one.
	Received func(line []byte, end int64)
	// Calling, when set, is called when a call begins and when it has ended.
	Calling func(Calling)
	// Logged, when set, returns what the server has written to its log since it was last asked.
	Logged func() string
	// Terminate, when set, ends the server at the end of the session, before its stdin is closed.
	Terminate func()
	// Long, when set, gets the pieces of each line of Stdout that is too long for
	// a message, and the number of bytes so far; an empty piece ends the line.
	// It must not keep them.
	Long func(piece []byte, end int64)
	// HTTP, when set, carries the conversation in place of Stdin and Stdout, which
	// are nil then.
	HTTP *HTTP
}

// Calling is the beginning of a call, with the arguments, or its end, with the
// error of the answer or of the time-out; "" for none.
type Calling struct {
	Arguments json.RawMessage
	Ended     bool
	Refusal   string
}

// HTTP is a server that listens.
type HTTP struct {
	// Transport is StreamableHTTP or SSE.
	Transport report.Transport
	// URL is the endpoint: http://localhost:8080/mcp.
	URL string
	// Dial connects to the server, whatever the URL says; nil uses
	// the network. All bytes of its connections are part of the conversation.
	Dial func(ctx context.Context) (net.Conn, error)
	// Header is sent with every request, such as Authorization.
	Header http.Header
	// Tap as in transport.Endpoint.
	Tap func(conn int, piece []byte, end int64)
}

// Options of a session. A duration of zero stands for the default.
type Options struct {
	// Discover speaks the stateless revision 2026-07-28 (server/discover)
	// in place of the initialize handshake.
	Discover bool
	// Revision is the one that is asked for first, of those with a handshake; "" is the newest.
	Revision string
	// Version is the version of mcpaudit, for clientInfo.
	Version string
	// Inputs configures the arguments. Inputs.Dir (default /tmp) is also
	// the root that the client declares.
	Inputs inputs.Options
	// Identity is the name of the client; "" is "mcpaudit".
	Identity string
	// Title and Site are the client's title and web site; "" for none.
	Title, Site string
	// Meta has the members of `_meta` that the client adds to its calls.
	Meta []Meta
	// Plain leaves the mark of a call out of sentences in arguments, so that they do not give the audit away.
	Plain bool
	// Incapable: the client declares no capabilities, as many clients do.
	Incapable bool
	// Calls says what may be called; "" is All.
	Calls report.Calls
	// Skip are the names of tools that are not called.
	Skip []string
	// Given are arguments for tools by name, each a JSON object, which
	// replace made-up values of the same properties.
	Given map[string]json.RawMessage
	// Chosen are those of Given that the operator has chosen; others repeat an earlier session.
	Chosen map[string]json.RawMessage
	// Favourite, when set, chooses a tool of Given that is called several times before any other.
	Favourite int
	// Refused are arguments for tools that an earlier session has shown to be refused. They are called with them after all else.
	Refused map[string]json.RawMessage
	// Prompt are the capabilities that answered at once in another session (Result.Prompt):
	// they have 10 s at least. The others are called in two rounds at most; nil: it is not known.
	Prompt map[report.Capability]bool
	// Silent are the kinds whose lists had no answer in another session: these have less time.
	Silent []report.CapabilityKind
	// Rounds is the number of rounds of calls (default 3); with ListOnly there are none.
	Rounds   int
	ListOnly bool
	// Proper leaves out calls that a model would not make: with invalid arguments, shell commands, or paths
	// that lead out of the tool's directory.
	Proper bool
	// Endure bounds the repetition of accepted calls and of the lists at the end
	// (default: none).
	Endure time.Duration
	// Values, when set, returns what the server's code may act on; it is asked with Endure.
	Values func() sources.Values
	// Attack, when set, calls everything that was exercised again to try its guards.
	Attack *attack.Plan
	// Knock lets a server that demands a token be asked in ways that may evade the check.
	Knock bool
	// GreetOnly ends the session after the handshake.
	GreetOnly bool
	// MaxCalls bounds the calls of one tool (default 24).
	MaxCalls int
	// Refuse, when set, reports whether a value, such as a secret, must not be used in arguments.
	Refuse func(value string) bool
	// Seed makes the arguments.
	Seed int64

	// Following is the number of required sessions after the deadline, and Reserved the time for them. If the server
	// starts slowly, calls end earlier to leave more.
	Following int
	Reserved  time.Duration

	// Handshake bounds the first answer (default 60 s: servers
	// load a lot), CallTimeout any other (default 30 s).
	Handshake, CallTimeout time.Duration
	// Settle is the silence that is awaited after each response
	// (default 50 ms), SettleMost bounds the wait for it (default 500 ms).
	// SettleBudget bounds the sum of all such waits (default 20 s): when half of it
	// is used up, no wait is longer than Settle, and when all of it is, there is none.
	Settle, SettleMost, SettleBudget time.Duration
	// Wait is a pause after the lists, which are requested again after it
	// (default: none).
	Wait time.Duration
	// Until is the earliest beginning of the second round.
	Until time.Time
	// Hours is the time before Until in which everything is called repeatedly, with hours of the server's clock between
	// calls.
	Hours time.Duration
	// Unhurried are not called then, because their connections to other machines would time out.
	Unhurried map[report.Capability]bool
	// Alone is the part of Hours at its end without calls.
	Alone time.Duration
	// Idle is the silence after the last response (default 500 ms).
	Idle time.Duration
	// Grace is the time for the server to exit once its stdin or stdout
	// is closed (default 2 s).
	Grace time.Duration

	// Progress, when set, is called for each request as it is sent. It must not block.
	Progress func(method string, phase report.Phase, capability report.Capability)
}

func (o Options) withDefaults() Options {
	o.Inputs.Dir = cmp.Or(o.Inputs.Dir, "/tmp")
	o.Rounds, o.MaxCalls = max(cmp.Or(o.Rounds, plan.DefaultRounds), 1), max(cmp.Or(o.MaxCalls, plan.DefaultMaxCallsPerTool), 1)
	for duration, value := range map[*time.Duration]time.Duration{
		&o.Handshake: 60 * time.Second, &o.CallTimeout: plan.DefaultCallTimeout,
		&o.Settle: 50 * time.Millisecond, &o.SettleMost: 500 * time.Millisecond, &o.SettleBudget: 20 * time.Second,
		&o.Idle: 500 * time.Millisecond, &o.Grace: 2 * time.Second,
	} {
		if *duration == 0 {
			*duration = value
		}
	}
	return o
}

// Result holds what a session showed up to its end.
type Result struct {
	Ledger ledger.Ledger

	// NeedDiscover: the server refused initialize, so it may speak only the
	// stateless revision. Restart it and run again with Options.Discover:
	// some servers refuse both in the same process.
	// Incomplete is set, too.
	NeedDiscover bool

	// EndedIn is the tool in whose call the server ended, though it had been left running;
	// the zero value for none. Incomplete is set, too.
	EndedIn report.Capability
	// EndedOdd: a model would not make that call (Options.Proper).
	EndedOdd bool

	ServerName, ServerVersion, ProtocolVersion string

	// Manifest holds what was listed before the first call. It is whole only when
	// Listed is set.
	Manifest manifest.Manifest
	Listed   bool
	// Silent are the kinds, other than tools, whose lists had no answer in time. Listed does not cover them.
	Silent []report.CapabilityKind
	// Later holds the last lists after the calls; or those between calls, if they had
	// a change that was reverted.
	Later

	Coverage report.Coverage
	Exercise []report.CapabilityCoverage
	// Outputs are the server's texts without repetitions, the most telling first:
	// at most 64 KiB of each and 4 MiB in all.
	Outputs []report.Output
	// Arguments are the values that each capability was called with, and the answers
	// to its questions to the user.
	Arguments map[report.Capability][]Argument
	// Accepted are arguments that each tool accepted, by its name, and Refused are some that it refused.
	Accepted  map[string]json.RawMessage
	Refused   map[string]json.RawMessage
	Pollution Pollution
	// Attempts are the calls that tried guards (Options.Attack).
	Attempts []attack.Attempt
	// Unlisted are the calls of tools that no list has which were accepted.
	Unlisted []attack.Taken
	// Unread are the capabilities whose texts Outputs truncates or leaves out.
	Unread []report.Capability
	// Posture describes the answers of a listening server to others than its client, where guards are tried.
	Posture attack.Posture
	// Polluted are the prototype pollutions that worked, with guards tried.
	Polluted []attack.Polluted
	Attacks  Attacks
	// Unendured are the capabilities that Options.Endure had no time to repeat enough.
	Unendured []report.Capability
	// Prompt are the capabilities that answered each call at once, and Stalled those of
	// Options.Prompt that left one without an answer.
	Prompt  map[report.Capability]bool
	Stalled []report.Capability
	// Breaches are other ways in which the server broke the protocol.
	Breaches []breach.Breach

	// Incomplete is the first reason why the session did not show everything.
	Incomplete report.Incomplete
	// Lingered: the server was still running Options.Grace after the end of its stdin,
	// as many honest servers are.
	Lingered bool
}

// Later holds what was listed once calls had been made, or nothing.
type Later struct {
	// Drift holds the differences of the lists of tools, templates and prompts from those before
	// the calls. Announced: the server had sent the list_changed notification of each
	// kind that differs.
	Drift     report.Drift
	Announced bool
	// After holds what was listed, whole when Relisted is set, or else nothing.
	After    manifest.Manifest
	Relisted bool
}

// Pollution counts lines on stdout that are not JSON-RPC, which the specification
// forbids there.
type Pollution struct {
	Lines int
	// Sample is the beginning of the first such line, at most 200 bytes.
	Sample string
	// Text has the beginning of all such lines, at most maxPollution bytes.
	Text string
	// Phase and Capability are those of the first answer after the first such
	// line: the handshake for a banner.
	Phase      report.Phase
	Capability report.Capability

	end int64 // of the first line, in bytes of stdout
}
