// Package audit is the engine: it starts a server under the tracer, talks to it,
// and turns what was seen into a report. The in-Pod runner and the command line
// are two shells over Run; what differs between them is the Launcher.
package audit

import (
	"context"
	"io"
	"syscall"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Launcher starts the server that is under audit, traced from its own execve.
type Launcher interface {
	// Launch is called once, or twice when the server has to be started again.
	// The error wraps trace.ErrUnavailable when the tracer could not be had;
	// any other says in words why the server could not be started.
	Launch(ctx context.Context) (Process, error)
}

// Process is a server that runs.
type Process interface {
	// Streams are our ends of stdin, stdout and stderr.
	Streams() (stdin io.WriteCloser, stdout, stderr io.Reader)
	// Trace is what is seen of it.
	Trace() *trace.Session
	// Exited is closed when the server's own process has ended, or when there
	// is no way to know.
	Exited() <-chan struct{}
	// Status is how it ended; false when that is not known.
	Status() (syscall.WaitStatus, bool)
	// Stop kills all that is left of the server and frees everything. It takes
	// some seconds at most, and may be called once.
	Stop(ctx context.Context)
	// Notes are what the launcher could not do as well as it should have.
	Notes() []string
}
