package audit

import (
	"io"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/leak"
)

// logs hold what the server says that is no part of the conversation.
type logs struct {
	// tail is the end of them.
	tail    *Tail
	secrets *leak.Collector
	open    sync.WaitGroup
}

func newLogs(secrets *leak.Collector) *logs { return &logs{tail: NewTail(maxStderr), secrets: secrets} }

// drain reads a stream until the server is gone, or until we close it.
func (l *logs) drain(from io.Reader, channel leak.Channel) {
	l.open.Go(func() { _, _ = io.Copy(io.MultiWriter(l.tail, l.secrets.Log(channel)), from) })
}

// end waits for the ends of the streams, but not for long: something that could not
// be killed may hold one open.
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
