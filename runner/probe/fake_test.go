package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// fake is a server in this process. Each request is answered by the function
// of its method, or as defaults say.
type fake struct {
	active  func() time.Time              // for Conn.Active
	pending func() (time.Duration, bool)  // for Conn.Pending
	long    func(piece []byte, end int64) // for Conn.Long
	calling func(Calling)                 // for Conn.Calling

	// on answers one method; the result is sent unless it is nil.
	on map[string]func(f *fake, params map[string]any) any
	// answered, when set, runs behind each request that was answered.
	answered func(f *fake, m map[string]any)
	// start runs before anything is read.
	start func(f *fake)

	mu       sync.Mutex
	out      io.WriteCloser
	exit     func()
	requests []map[string]any // all that was read, responses included
	written  int64
}

// rpcFailure as a result is sent as an error.
type rpcFailure struct {
	code int
	text string
}

// raw as a result is written to stdout as it is.
type raw string

var defaults = map[string]func(f *fake, params map[string]any) any{
	"initialize": func(*fake, map[string]any) any {
		return map[string]any{
			"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "fake", "version": "1.2.3"},
			"capabilities": map[string]any{"tools": map[string]any{}}, "instructions": "Be kind.",
		}
	},
	"tools/list": func(*fake, map[string]any) any { return tools(noteTool) },
	"tools/call": func(*fake, map[string]any) any { return content("done") },
}

// unknown returns what a server says that has no such method.
func unknown(*fake, map[string]any) any { return rpcFailure{codeMethodNotFound, "no such method"} }

const noteTool = `{"name":"format_note","description":"Formats.","inputSchema":{"type":"object","properties":{"note":{"type":"string"}},"required":["note"]}}`

func tools(list ...string) any {
	items := []json.RawMessage{}
	for _, tool := range list {
		items = append(items, json.RawMessage(tool))
	}
	return map[string]any{"tools": items}
}

func content(text string) any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}

// println writes one line to stdout.
func (f *fake) println(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := fmt.Fprintln(f.out, text) // a closed pipe is the end of the test
	f.written += int64(n)
}

func (f *fake) serve(in io.Reader) {
	if f.start != nil {
		f.start(f)
	}
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			f.exit()
			return
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			panic(err)
		}
		f.mu.Lock()
		f.requests = append(f.requests, m)
		f.mu.Unlock()
		method, _ := m["method"].(string)
		handle := f.on[method]
		if handle == nil {
			handle = defaults[method]
		}
		if m["id"] == nil || method == "" {
			if f.on[method] != nil {
				f.on[method](f, m)
			}
			continue
		}
		f.respond(m, handle)
		if f.answered != nil {
			f.answered(f, m)
		}
	}
}

func (f *fake) respond(m map[string]any, handle func(*fake, map[string]any) any) {
	response := map[string]any{"jsonrpc": "2.0", "id": m["id"]}
	if handle == nil {
		response["error"] = map[string]any{"code": codeMethodNotFound, "message": "no such method"}
	} else {
		params, _ := m["params"].(map[string]any)
		switch result := handle(f, params).(type) {
		case nil:
			return
		case raw:
			f.println(string(result))
			return
		case rpcFailure:
			response["error"] = map[string]any{"code": result.code, "message": result.text}
		default:
			response["result"] = result
		}
	}
	text, err := json.Marshal(response)
	if err != nil {
		panic(err)
	}
	f.println(string(text))
}

// saw returns what the server read with a method, or with none: responses.
func (f *fake) saw(method string) []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []map[string]any
	for _, m := range f.requests {
		if of, _ := m["method"].(string); of == method {
			found = append(found, m)
		}
	}
	return found
}

// quick are options for tests: short where the server answers at once, long
// where it does not, for the clock belongs to a bubble, or a slow machine must not
// make a difference.
var quick = Options{
	Rounds: 1, MaxCalls: 1, Settle: time.Millisecond, Idle: time.Millisecond, Grace: 10 * time.Second,
	Handshake: time.Minute, CallTimeout: time.Minute, Inputs: inputs.Options{Dir: "/home/audit"},
}

// probe runs a session with the fake, whose clock stands still while anybody is at work:
// what a server takes, and what is waited for in vain, costs no time.
func (f *fake) probe(t *testing.T, o Options) (result Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { result = f.within(t, time.Hour, o) })
	return result
}

// within runs a session that has so much time. Its test runs in a bubble of synctest.
func (f *fake) within(t *testing.T, limit time.Duration, o Options) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	result, err := f.run(ctx, t, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (f *fake) run(ctx context.Context, t *testing.T, o Options) (Result, error) {
	conn, in := f.connect(t)
	go f.serve(in)
	return Run(ctx, conn, o)
}

func (f *fake) connect(t *testing.T) (Conn, io.Reader) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	exited := make(chan struct{})
	f.out = outWrite
	f.exit = sync.OnceFunc(func() {
		_ = outWrite.Close()
		_ = inRead.Close()
		close(exited)
	})
	t.Cleanup(func() {
		_ = outRead.Close()
		_ = inRead.Close()
	})
	return Conn{Stdin: inWrite, Stdout: outRead, Exited: exited, Active: f.active, Pending: f.pending, Long: f.long, Calling: f.calling}, inRead
}

func itemOf(raw json.RawMessage) manifest.Item {
	return manifest.Items(report.CapabilityTool, []json.RawMessage{raw})[0]
}
