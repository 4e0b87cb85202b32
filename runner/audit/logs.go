package audit

import (
	"io"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/leak"
)

// logs hold the server's output outside of the conversation.
type logs struct {
	// tail has the end of the output.
	tail    *Tail
	secrets *leak.Collector
	open    sync.WaitGroup
}

func newLogs(secrets *leak.Collector) *logs { return &logs{tail: NewTail(maxStderr), secrets: secrets} }

// drain reads a stream until either side closes it.
func (l *logs) drain(from io.Reader, channel leak.Channel) {
	l.open.Go(func() { _, _ = io.Copy(io.MultiWriter(l.tail, l.secrets.Log(channel)), from) })
}

// end waits briefly for the streams to end, because a process that could not be killed may hold one open.
func (l *logs) end() {
	all := make(chan struct{})
	go func() {
		defer close(all)
		l.open.Wait()
	}()
	select {
	case <-all:
	case <-time.After(time.Second):
	}
}
