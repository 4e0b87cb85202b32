package audit

import (
	"io"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/leak"
)

// logs hold the server's output outside of the conversation.
type logs struct {
	// tail has the end of the output. recent holds more of it, for the lessons of each call.
	tail, recent *Tail
	secrets      *leak.Collector
	open         sync.WaitGroup
}

func newLogs(secrets *leak.Collector) *logs {
	return &logs{tail: NewTail(maxStderr), recent: NewTail(maxRecent), secrets: secrets}
}

// maxRecent bounds what is kept of the output during one call, in bytes.
const maxRecent = 64 << 10

// drain reads a stream until either side closes it.
func (l *logs) drain(from io.Reader, channel leak.Channel) {
	l.open.Go(func() { _, _ = io.Copy(io.MultiWriter(l.tail, l.recent, l.secrets.Log(channel)), from) })
}

// latest returns a function that returns what was logged since it was last called. What the server wrote before an
// answer is in the stream by then, so the function waits briefly until it was read.
func (l *logs) latest(from io.Reader) func() string {
	return func() string {
		for deadline := time.Now().Add(latestWithin); unread(from) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		return l.recent.Fresh()
	}
}

// latestWithin bounds the wait for a stream to be read.
const latestWithin = 100 * time.Millisecond

// unread reports whether a stream holds bytes that nobody has read.
func unread(from io.Reader) bool {
	stream, ok := from.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := stream.SyscallConn()
	waiting := 0
	if err == nil {
		err = raw.Control(func(fd uintptr) { waiting, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return err == nil && waiting > 0
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
