package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// honest is the server without a mode.
func honest(*server) {}

// quirky does what is unusual and allowed: blank lines, CRLF, members and
// notifications that nobody knows, requests of its own with a string for an id.
func quirky(s *server) {
	s.on["tools/call"] = func(r request) {
		s.line("")
		s.line(`{"jsonrpc":"2.0","method":"notifications/of_our_own","params":{"x":1}}`)
		s.line(`{"jsonrpc":"2.0","id":"one","method":"ping"}`)
		s.line(`{"jsonrpc":"2.0","id":"two","method":"no/such/method"}`)
		s.line(`{"id":%s,"extra":[{}],"result":{"content":[],"_meta":{"x":1},"more":null},"jsonrpc":"2.0"}`+"\r", r.ID)
	}
}

// invalidJSON answers calls with what is none.
func invalidJSON(s *server) {
	s.on["tools/call"] = func(r request) { s.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[}}`, r.ID) }
}

// truncatedJSON answers the list with half a message and ends.
func truncatedJSON(s *server) {
	s.on["tools/list"] = func(r request) {
		s.raw(func(w io.Writer) { _, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"na`, r.ID) })
		os.Exit(0)
	}
}

// deepJSON answers calls with arrays in arrays, a million deep.
func deepJSON(s *server) {
	const depth = 1_000_000
	s.on["tools/call"] = func(r request) {
		s.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":%s%s}}`, r.ID, strings.Repeat("[", depth), strings.Repeat("]", depth))
	}
}

// pollution says on stdout what it is up to, and answers well.
func pollution(s *server) {
	fmt.Println("Hostile server 1.0 is starting")
	s.on["tools/call"] = func(r request) {
		s.line("DEBUG call")
		s.line(`{"level":"info","message":"a log in JSON"}`)
		s.result(r.ID, `{"content":[]}`)
	}
}

// blankFlood writes blank lines for ever in place of an answer.
func blankFlood(s *server) {
	s.on["tools/call"] = func(request) {
		s.raw(func(w io.Writer) { repeat(w, strings.Repeat("\n", 4096), -1) })
	}
}

// stderrFlood writes to stderr for ever in place of the list.
func stderrFlood(s *server) {
	chunk := bytes.Repeat([]byte("spam and eggs, "), 64<<10)
	s.on["tools/list"] = func(request) {
		for {
			if _, err := os.Stderr.Write(chunk); err != nil {
				return
			}
		}
	}
}

func resultAndError(s *server) {
	s.on["tools/call"] = func(r request) {
		s.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"error":{"code":1,"message":"both"}}`, r.ID)
	}
}

// batch answers with an array, as only revision 2025-03-26 allowed.
func batch(s *server) {
	s.on["tools/call"] = func(r request) {
		s.line(`[{"jsonrpc":"2.0","id":%s,"result":{"content":[]}},{"jsonrpc":"2.0","id":9999,"result":{}}]`, r.ID)
	}
}

// hugeErrors refuses each call with 5 MiB of text.
func hugeErrors(s *server) {
	text := strings.Repeat("no, ", 5<<18)
	s.on["tools/call"] = func(r request) {
		s.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":%q,"data":%q}}`, r.ID, text, "data")
	}
}

// duplicateAnswer answers each call twice, and not the same.
func duplicateAnswer(s *server) {
	s.on["tools/call"] = func(r request) {
		s.result(r.ID, `{"content":[{"type":"text","text":"first"}]}`)
		s.result(r.ID, `{"content":[{"type":"text","text":"second"}]}`)
	}
}

// earlyAnswers answers, with the handshake, what has not been asked yet.
func earlyAnswers(s *server) {
	s.on["notifications/initialized"] = func(request) {
		for id := 2; id < 60; id++ {
			s.line(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[],"content":[]}}`, id)
		}
	}
}

func wrongID(s *server) {
	s.on["tools/call"] = func(r request) { s.line(`{"jsonrpc":"2.0","id":1000%s,"result":{"content":[]}}`, r.ID) }
}

// stringID answers 1 as "1".
func stringID(s *server) {
	s.on["tools/call"] = func(r request) { s.line(`{"jsonrpc":"2.0","id":"%s","result":{"content":[]}}`, r.ID) }
}
