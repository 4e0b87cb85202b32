// Package probe is the MCP client of an audit: it talks to one server, lists what
// it advertises, calls each of it several times with plausible arguments, and keeps
// a ledger of what was said when, in bytes.
//
// The session: handshake, lists, completions and subscriptions, rounds of calls
// (round.go), the lists once more (to see whether the calls changed them), an idle
// time, and the end of stdin. What one call shows is argued with in the next. One
// request is in flight at a time, and after each response the session waits until
// the server is quiet (settle.go), so that an effect in the trace belongs to one
// request. Whatever cannot be had is named in Result.Incomplete; nothing is passed
// over.
//
// The JSON-RPC client is written here. That of mcp-go skips lines that are not
// JSON without a word, has no limit on their length, and hands a response on
// without saying how many bytes had come by then: the ledger records that, and
// attribution rests on it.
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
)

// Conn is a running server. Its stderr is drained by who started it.
type Conn struct {
	// Stdin and Stdout are the runner's ends of the two pipes, unused so far.
	// Run closes Stdin. It reads Stdout to its end, in the background even
	// after it has returned: the owner closes it to end that.
	Stdin  io.WriteCloser
	Stdout io.Reader
	// Exited is closed when the server's main process has ended; nil when that is not
	// known.
	Exited <-chan struct{}
	// Active tells when the server was last seen to do something that matters;
	// nil when nobody watches it. Any goroutine may call it.
	Active func() time.Time
	// Pending reports whether the server has set itself a timer, and for how long
	// it waits for it, 0 if that is not known; nil as above.
	Pending func() (wait time.Duration, pending bool)
	// Received, when set, is given each line of Stdout as it comes, without its
	// end, and the number of bytes that had come by then, its end included. Of a
	// line that is too long it gets the beginning. It must not keep the line. Over
	// HTTP it is given each message, and what came in the place of one.
	Received func(line []byte, end int64)
	// Calling, when set, is told when a call begins and when it has ended.
	Calling func(Calling)
	// Terminate, when set, ends the server at the end of the session, before its stdin is closed.
	Terminate func()
	// Long, when set, is given the pieces of each line of Stdout that is too long to be
	// read as a message, and the number of bytes that had come by then; none at its end.
	// It must not keep them.
	Long func(piece []byte, end int64)
	// HTTP, when set, carries the conversation in place of Stdin and Stdout, which
	// are nil then.
	HTTP *HTTP
}

// Calling is a moment of a call: its beginning, with the arguments, or its end, with the
// error that it was answered with, or that it was not answered in time; "" is none.
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
	// Dial makes a connection to the server, whatever the URL says; nil stands for
	// the network. What is dialled is part of the conversation from its first byte.
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
	// Inputs say where the paths in arguments lie. Inputs.Dir (default /tmp) is
	// at once the root that is told to the server.
	Inputs inputs.Options
	// Identity is the name that the client gives itself; "" is "mcpaudit".
	Identity string
	// Plain leaves the mark of a call out of sentences in arguments: nothing in them is of an audit's.
	Plain bool
	// Incapable: the client declares no capabilities, as many clients do.
	Incapable bool
	// Calls says what may be called; "" is All.
	Calls report.Calls
	// Skip are the names of tools that are not called.
	Skip []string
	// Given are arguments for tools by name, each a JSON object: they are sent in
	// place of what would be made up for the properties that they have.
	Given map[string]json.RawMessage
	// Prompt are the capabilities that answered at once in another session (Result.Prompt):
	// they have 10 s at least. The others are called in two rounds at most; nil: it is not known.
	Prompt map[report.Capability]bool
	// Silent are the kinds whose lists had no answer in another session: these have less time.
	Silent []report.CapabilityKind
	// Rounds is how often everything is exercised (default 3); ListOnly says that
	// nothing is, and Rounds does not count.
	Rounds   int
	ListOnly bool
	// Proper leaves out calls that a model would not make: against the schema, or with what a shell
	// would run or what leads out of where a tool is to stay.
	Proper bool
	// Endure is how long what was accepted, and the lists, are asked again and again, last of
	// all (default: not at all).
	Endure time.Duration
	// Attack, when set, has everything that was exercised called again to try its guards.
	Attack *attack.Plan
	// GreetOnly ends the session after the handshake.
	GreetOnly bool
	// MaxCalls is how often one tool is called at most (default 24).
	MaxCalls int
	// Refuse, when set, tells of values that are never made arguments of, wherever
	// they were found: secrets.
	Refuse func(value string) bool
	// Seed makes the arguments.
	Seed int64

	// Following is how many needed sessions come after the deadline, and Reserved the time for them. If the server
	// starts slowly, calls end earlier to leave more.
	Following int
	Reserved  time.Duration

	// Handshake is how long the first answer may take (default 60 s: servers
	// load a lot), CallTimeout how long any other may (default 30 s).
	Handshake, CallTimeout time.Duration
	// Settle is how long the server has to have been quiet after each response
	// (default 50 ms), SettleMost how long that is waited for (default 500 ms).
	// SettleBudget bounds the sum of all such waits (default 20 s): when half of it
	// is used up, no wait is longer than Settle, and when all of it is, there is none.
	Settle, SettleMost, SettleBudget time.Duration
	// Wait is how long nothing is asked after the lists, which are asked for once more then
	// (default: not at all).
	Wait time.Duration
	// Until is when the second round begins at the earliest.
	Until time.Time
	// Hours is for how long before Until everything is called again and again, with hours of the clock between calls.
	Hours time.Duration
	// Unhurried are not called then: their connections to other machines would time out.
	Unhurried map[report.Capability]bool
	// Alone is how long nothing is called at the end of that.
	Alone time.Duration
	// Idle is the silence after the last response (default 500 ms).
	Idle time.Duration
	// Grace is how long the server may take to exit once its stdin or stdout
	// is closed (default 2 s).
	Grace time.Duration

	// Progress, when set, is told each request as it is sent. It must not block.
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

// Result holds what a session showed. It is filled as far as the session came.
type Result struct {
	Ledger ledger.Ledger

	// NeedDiscover: the server refused initialize, so it may speak only the
	// stateless revision. Start it afresh and run again with Options.Discover:
	// servers exist that refuse the one after the other in the same process.
	// Incomplete is set, too.
	NeedDiscover bool

	// EndedIn is the tool in whose call the server ended, though it had been left running;
	// the zero value for none. Incomplete is set, too.
	EndedIn report.Capability
	// EndedOdd: that call was none that a model would make (Options.Proper).
	EndedOdd bool

	ServerName, ServerVersion, ProtocolVersion string

	// Manifest holds what was listed before the first call. It is whole only when
	// Listed is set.
	Manifest manifest.Manifest
	Listed   bool
	// Silent are the kinds, other than tools, whose lists had no answer in time. Listed does not cover them.
	Silent []report.CapabilityKind
	// Later holds what was listed after the calls, the last time; or between them, where
	// something had changed that was changed back.
	Later

	Coverage report.Coverage
	Exercise []report.CapabilityCoverage
	// Outputs quote what the server said, the most telling first, without what came
	// before: texts have at most 64 KiB and all together 4 MiB.
	Outputs []report.Output
	// Arguments are the values that each capability was called with, and those that
	// its questions to the user were answered with.
	Arguments map[report.Capability][]Argument
	// Accepted are arguments that each tool accepted, by its name.
	Accepted  map[string]json.RawMessage
	Pollution Pollution
	// Attempts are the calls that tried guards (Options.Attack).
	Attempts []attack.Attempt
	// Unlisted are the calls of tools that no list has which were accepted.
	Unlisted []attack.Taken
	// Unread are the capabilities whose texts Outputs has not to their ends.
	Unread []report.Capability
	// Posture is how a server that listens answers others than its client, where guards are tried.
	Posture attack.Posture
	// Polluted are the prototype pollutions that worked, with guards tried.
	Polluted []attack.Polluted
	Attacks  Attacks
	// Unendured are the capabilities that were not called as often as Options.Endure is for.
	Unendured []report.Capability
	// Prompt are the capabilities that answered each call at once, and Stalled those of
	// Options.Prompt that left one without an answer.
	Prompt  map[report.Capability]bool
	Stalled []report.Capability
	// Breaches are other ways in which the server broke the protocol.
	Breaches []breach.Breach

	// Incomplete is the first reason why the session did not show everything.
	Incomplete report.Incomplete
	// Lingered: the server was still there Options.Grace after its stdin had
	// ended. Many honest servers are.
	Lingered bool
}

// Later holds what was listed once calls had been made, or nothing.
type Later struct {
	// Drift is how the lists of tools, templates and prompts differed from those before
	// the calls. Announced: the server had sent the list_changed notification of each
	// kind that differs.
	Drift     report.Drift
	Announced bool
	// After holds what was listed, whole when Relisted is set, or else nothing.
	After    manifest.Manifest
	Relisted bool
}

// Pollution counts what came on stdout that is not JSON-RPC. The specification
// allows a server to write nothing else there.
type Pollution struct {
	Lines int
	// Sample is the beginning of the first such line, at most 200 bytes.
	Sample string
	// Phase and Capability are what the first such line came before the answer
	// of: the handshake for a banner.
	Phase      report.Phase
	Capability report.Capability

	end int64 // of the first line, in bytes of stdout
}
