package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/probe"
)

// If the transport is unknown, the server is first addressed on stdin. Only if it listens, and has not read its
// stdin, the listening port is tried before the timeout of stdout is over. An answer on stdout always takes
// precedence.

const (
	// headStart is how long a server that listens may take to read its stdin before its port is tried. The delay
	// doubles after each attempt without an answer.
	headStart = time.Second
	// greetTimeout bounds one handshake on a port.
	greetTimeout = 5 * time.Second
)

// detected is an endpoint on which a server was found to speak MCP.
type detected struct {
	report.Endpoint
	transport report.Transport
	// first is set if the port is the first that can be reached, whose number may change between launches.
	first bool
	// discover is set if the server takes only the stateless revision.
	discover bool
}

func (p Plan) of(how launch) Plan {
	if how.decoys != nil {
		p.Decoys = *how.decoys
	}
	p.Decoys = p.Decoys.With(how.asked)
	p.Command, p.Named = slices.Concat(p.Command, how.arguments), slices.Concat(p.Named, how.arguments)
	if p.Transport != transportAuto {
		return p
	}
	p.Transport = report.TransportStdio
	if to := how.detected; to != nil {
		p.Transport, p.Path = to.transport, to.Path
		if !to.first {
			p.Port = uint16(to.Port) //nolint:gosec // it was a port before
		}
	}
	return p
}

// detect runs the session over stdin and stdout. If the server answers on a port instead, detect ends the session and
// returns the endpoint.
func (t talking) detect(ctx context.Context) (probe.Result, *detected) {
	answered, answer := context.WithCancel(ctx)
	defer answer()
	received := t.conn.Received
	t.conn.Received = func(line []byte, end int64) {
		if isResponse(line) {
			answer()
		}
		received(line, end)
	}
	session, end := context.WithCancel(ctx)
	defer end()
	var found *detected
	var search sync.WaitGroup
	search.Go(func() {
		if to := t.search(answered); to != nil && answered.Err() == nil {
			found = to
			end()
		}
	})
	result := runProbe(session, t.plan, t.conn, t.secrets, t.how)
	silent := answered.Err() == nil
	answer() // end the search
	search.Wait()
	if found == nil && silent && ctx.Err() == nil {
		found = t.ask(ctx)
	}
	if found != nil {
		return probe.Result{Ledger: result.Ledger}, found
	}
	return t.elsewhere(result), nil
}

// isResponse reports whether a line is a JSON-RPC response.
func isResponse(line []byte) bool {
	var m struct {
		Version       string `json:"jsonrpc"`
		Result, Error json.RawMessage
	}
	return json.Unmarshal(line, &m) == nil && m.Version == "2.0" && (m.Result != nil || m.Error != nil)
}

// search tries every port on which the server listens until one answers, ctx ends, or the server reads its stdin,
// which means that it may only be slow.
func (t talking) search(ctx context.Context) *detected {
	for wait := headStart; ; wait *= 2 {
		_, more := t.listens.seen()
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-more:
			wait = headStart / 2
			continue
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if t.process.Trace().StdinRead() {
			return nil
		}
		if len(t.ports()) == 0 {
			wait = headStart / 2
			continue
		}
		if to := t.ask(ctx); to != nil {
			return to
		}
	}
}

// ports returns those on which the server can be reached, or only the plan's.
func (t talking) ports() []uint16 {
	at, _ := t.listens.seen()
	var all []uint16
	seen := map[uint16]bool{}
	for _, a := range at {
		if port := a.Port(); reachable(a) && !seen[port] && (t.plan.Port == 0 || t.plan.Port == port) {
			all, seen[port] = append(all, port), true
		}
	}
	return all
}

// candidates returns the transports and paths to try on a port, in order.
func (p Plan) candidates() (all []detected) {
	for _, row := range plan.Transports {
		if !row.Listens {
			continue
		}
		paths := append([]string{row.Path}, row.Others...)
		if p.Path != "" {
			paths = []string{p.Path}
		}
		for _, path := range paths {
			all = append(all, detected{transport: row.Name, Endpoint: report.Endpoint{Path: path}})
		}
	}
	return all
}

// ask tries handshakes on the server's ports until one succeeds.
func (t talking) ask(ctx context.Context) *detected {
	select {
	case <-t.process.Exited():
		return nil
	default:
	}
	for i, port := range t.ports() {
		for _, to := range t.plan.candidates() {
			to.Port, to.first = int(port), i == 0 && t.plan.Port == 0
			r := t.greet(ctx, to)
			if r.NeedDiscover {
				to.discover = true
				r = t.greet(ctx, to)
			}
			if r.ProtocolVersion != "" {
				return &to
			}
			if ctx.Err() != nil {
				return nil
			}
			if r.Incomplete.Reason == report.ReasonTimeout {
				break // no answer on one path means that it is not HTTP
			}
		}
	}
	return nil
}

// greet makes one handshake. Everything that the server sends is searched for decoys as usual.
func (t talking) greet(ctx context.Context, to detected) probe.Result {
	p := t.plan
	p.Progress(fmt.Sprintf("look for MCP on port %d at %s", to.Port, to.Path))
	p.Transport, p.Path = to.transport, to.Path
	conn := probe.Conn{Exited: t.process.Exited(), Received: t.secrets.Response, HTTP: p.endpoint(t.process, t.listens, uint16(to.Port))} //nolint:gosec // it is a port
	r, _ := probe.Run(ctx, conn, probe.Options{
		Version: Build(), GreetOnly: true, Discover: to.discover, Handshake: greetTimeout, Grace: 100 * time.Millisecond,
	}) // the only error is that ctx was cancelled
	return r
}

// elsewhere adds to a failed handshake that the server listens on a port.
func (t talking) elsewhere(r probe.Result) probe.Result {
	all := t.ports()
	if len(all) == 0 || r.ProtocolVersion != "" || r.Incomplete.Reason == "" {
		return r
	}
	var ports, paths []string
	for _, port := range all {
		ports = append(ports, fmt.Sprint(port))
	}
	for _, to := range t.plan.candidates() {
		paths = append(paths, to.Path)
	}
	r.Incomplete.Message += fmt.Sprintf(" (it listens on %s, where no MCP server answers at %s: set --port or --path if it should)",
		strings.Join(ports, " and "), strings.Join(paths, ", "))
	return r
}
