package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// request was sent by the client; id is its text, "" for a notification.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor          string          `json:"cursor"`
		ProtocolVersion string          `json:"protocolVersion"`
		Meta            json.RawMessage `json:"_meta"`
	} `json:"params"`
}

// server answers honestly what no mode has taken over.
type server struct {
	in *bufio.Reader
	// tools is the content of the list of tools.
	tools string
	// on has what a mode answers to a method.
	on map[string]func(request)

	mu  sync.Mutex
	out *bufio.Writer
}

// tool is one that does no harm.
const tool = `{"name":"greet","description":"Says hello.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`

func newServer() *server {
	return &server{
		in: bufio.NewReader(os.Stdin), out: bufio.NewWriterSize(os.Stdout, 64<<10), tools: tool,
		on: map[string]func(request){},
	}
}

// serve answers until stdin ends.
func (s *server) serve() {
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		s.handle(r)
	}
}

func (s *server) handle(r request) {
	if answer := s.on[r.Method]; answer != nil {
		answer(r)
		return
	}
	switch {
	case r.ID == nil || r.Method == "": // a notification, or an answer to us
	case r.Method == "initialize":
		s.result(r.ID, `{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}}`, r.Params.ProtocolVersion)
	case r.Method == "tools/list":
		s.result(r.ID, `{"tools":[%s]}`, s.tools)
	case r.Method == "tools/call":
		s.result(r.ID, `{"content":[{"type":"text","text":"hello"}]}`)
	case r.Method == "ping":
		s.result(r.ID, `{}`)
	default:
		s.refuse(r.ID, "method not found")
	}
}

func (s *server) result(id json.RawMessage, format string, args ...any) {
	s.line(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, fmt.Sprintf(format, args...))
}

func (s *server) refuse(id json.RawMessage, why string) {
	s.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%q}}`, id, why)
}

// line writes one line at once.
func (s *server) line(format string, args ...any) {
	s.raw(func(w io.Writer) { _, _ = fmt.Fprintf(w, format+"\n", args...) })
}

// raw lets write have stdout for itself. A client that is gone is no concern of
// a hostile server; it ends as its stdin does.
func (s *server) raw(write func(io.Writer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write(s.out)
	_ = s.out.Flush()
}

// repeat writes a text again and again: n times, or for ever when n is negative.
func repeat(w io.Writer, text string, n int) {
	for ; n != 0; n-- {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}
