package transport

import (
	"context"
	"io"
	"sync"
)

// stdio is a line for each message, each way. Two goroutines of its own read and
// write, so that neither a server that does not read nor one that does not stop
// writing can block the session.
type stdio struct {
	stdin   io.WriteCloser
	lines   *lineReader
	handler Handler
	queue   chan []byte
	ended   chan struct{}

	mu      sync.Mutex
	sent    int64 // bytes handed to stdin so far, the queue included
	written int64 // bytes that are not in the queue any more
	closed  bool  // no more may be queued
}

// Stdio talks over the runner's ends of the two pipes. Close and Abort close
// stdin; stdout is read to its end, which its owner may bring about by closing it.
// long, unless nil, is given the pieces of each line that is longer than MaxMessage, and
// how many bytes had come by then; none at its end. It must not keep them.
func Stdio(stdin io.WriteCloser, stdout io.Reader, long func(piece []byte, end int64), handler Handler) Transport {
	lines := newLineReader(stdout, MaxMessage)
	lines.long = long
	s := &stdio{
		stdin: stdin, lines: lines, handler: handler,
		queue: make(chan []byte, maxBacklog), ended: make(chan struct{}),
	}
	go s.write()
	go s.read()
	return s
}

// write empties the queue into stdin and then closes it. After an error it
// only empties: the server's end shows on stdout.
func (s *stdio) write() {
	var failed error
	for text := range s.queue {
		if failed == nil {
			_, failed = s.stdin.Write(text)
		}
		s.mu.Lock()
		s.written += int64(len(text))
		s.mu.Unlock()
	}
	_ = s.stdin.Close() // it may be closed already; nothing depends on it
}

func (s *stdio) Send(m Message) (start, end int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.sent-s.written > maxBacklogBytes {
		return 0, 0, ErrBacklog
	}
	select {
	case s.queue <- m.Text:
	default:
		return 0, 0, ErrBacklog
	}
	start = s.sent
	s.sent += int64(len(m.Text))
	return start, s.sent, nil
}

func (s *stdio) read() {
	defer close(s.ended)
	for {
		l, err := s.lines.next()
		if err != nil {
			return
		}
		s.handler.Receive(l)
	}
}

func (s *stdio) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
}

// Abort ends the wait of the writer for a server that reads nothing.
func (s *stdio) Abort() {
	s.Close()
	_ = s.stdin.Close() // it may be closed already; nothing depends on it
}

func (s *stdio) Ended() <-chan struct{} { return s.ended }

func (s *stdio) Open(context.Context, string) error { return nil }
func (s *stdio) Agree(string)                       {}
func (s *stdio) Listen(context.Context)             {}
func (s *stdio) Cancel(string)                      {}
