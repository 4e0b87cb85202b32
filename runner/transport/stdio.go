package transport

import (
	"context"
	"io"
	"sync"
)

// stdio exchanges one line per message. Two goroutines read and write, so neither a
// server that does not read nor one that does not stop writing can block the
// session.
type stdio struct {
	stdin   io.WriteCloser
	lines   *lineReader
	handler Handler
	queue   chan []byte
	ended   chan struct{}

	mu      sync.Mutex
	sent    int64 // bytes handed to stdin so far, the queue included
	written int64 // bytes that have left the queue
	closed  bool  // no more may be queued
}

// Stdio uses the runner's ends of the two pipes. Close and Abort close stdin; stdout
// is read to its end, or until its owner closes it. long, unless nil, gets the pieces
// of each line that is longer than MaxMessage, with the number of bytes received so
// far; an empty one at its end. It must not keep them.
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

// write writes the queue to stdin and then closes stdin. After an error it only
// drains the queue: the server's end shows on stdout.
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

// Abort also ends a write to a server that reads nothing.
func (s *stdio) Abort() {
	s.Close()
	_ = s.stdin.Close() // it may be closed already; nothing depends on it
}

func (s *stdio) Ended() <-chan struct{} { return s.ended }

func (s *stdio) Open(context.Context, string) error { return nil }
func (s *stdio) Agree(string)                       {}
func (s *stdio) Listen(context.Context)             {}
func (s *stdio) Cancel(string)                      {}
