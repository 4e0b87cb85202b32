package audit

import (
	"context"
	"io"

	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/probe"
)

// talking holds the means to talk to a server that was started.
type talking struct {
	plan    Plan
	stdin   io.Closer
	process Process
	conn    probe.Conn
	listens *listening
	secrets *leak.Collector
	how     launch
}

// converse runs the session, and ends it when the tracer is lost, because nothing that the
// server does afterwards is observed. With detecting, it searches for the server's port if
// the server does not answer on stdout.
func (t talking) converse(ctx context.Context, detecting bool) (probe.Result, *detected) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-t.process.Trace().Lost():
			cancel()
		case <-ctx.Done():
		}
	}()
	switch {
	case t.how.script != nil:
		return t.await(ctx), nil
	case detecting:
		return t.detect(ctx)
	case !t.plan.listens():
		return runProbe(ctx, t.plan, t.conn, t.secrets, t.how), nil
	}
	port, missing := t.plan.awaitPort(ctx, t.listens, t.process.Exited())
	if missing.Reason != "" {
		return probe.Result{Incomplete: missing}, nil
	}
	t.conn.HTTP = t.plan.endpoint(t.process, t.listens, port)
	t.conn.HTTP.Tap = t.secrets.Wire
	return t.plan.explainGuessedPort(runProbe(ctx, t.plan, t.conn, t.secrets, t.how), port), nil
}
