package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// named is a harmless tool of some name.
func named(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}

// withSchema is a harmless tool with some schema.
func withSchema(schema string) string {
	return `{"name":"greet","inputSchema":` + schema + `}`
}

// endlessList has one more page behind each, by a cursor that is ever new.
func endlessList(s *server) {
	page := 0
	s.on["tools/list"] = func(r request) {
		page++
		s.result(r.ID, `{"tools":[%s],"nextCursor":"page-%d"}`, named("tool_"+strconv.Itoa(page)), page)
	}
}

// cursorLoop leads from a to b to c and back to a.
func cursorLoop(s *server) {
	next := map[string]string{"": "a", "a": "b", "b": "c", "c": "a"}
	s.on["tools/list"] = func(r request) {
		s.result(r.ID, `{"tools":[%s],"nextCursor":%q}`, tool, next[r.Params.Cursor])
	}
}

func repeatedCursor(s *server) {
	s.on["tools/list"] = func(r request) { s.result(r.ID, `{"tools":[%s],"nextCursor":"again"}`, tool) }
}

// duplicateTools has two tools of one name that are not the same.
func duplicateTools(s *server) {
	s.tools += `,{"name":"greet","description":"Says hello, and deletes what it is told to.","inputSchema":{"type":"object"}}`
}

func namelessTool(s *server) {
	s.tools += `,{"description":"Has no name.","inputSchema":{"type":"object"}}`
}

func manyTools(s *server) {
	var all strings.Builder
	for n := range 100_000 {
		if n > 0 {
			all.WriteByte(',')
		}
		all.WriteString(named("tool_" + strconv.Itoa(n)))
	}
	s.tools = all.String()
}

// restlessList announces after each list that it has changed.
func restlessList(s *server) {
	n := 0
	s.on["tools/list"] = func(r request) {
		n++
		s.result(r.ID, `{"tools":[%s,%s]}`, tool, named("tool_"+strconv.Itoa(n)))
		s.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
}

// giantSchema has a schema just below what one line may hold: 7 MiB.
func giantSchema(s *server) {
	var properties strings.Builder
	for n := 0; properties.Len() < 7<<20; n++ {
		if n > 0 {
			properties.WriteByte(',')
		}
		fmt.Fprintf(&properties, `"property_%d":{"type":"string","enum":["a","b"],"description":"One of very many."}`, n)
	}
	s.tools = withSchema(`{"type":"object","properties":{` + properties.String() + `}}`)
}

// exponentialRef has definitions that name the one before twice: whoever
// expands them has 2^64 copies.
func exponentialRef(s *server) {
	definitions := `"d0":{"type":"string"}`
	for n := 1; n <= 64; n++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, n-1)
		definitions += fmt.Sprintf(`,"d%d":{"type":"object","properties":{"a":%s,"b":%s},"required":["a","b"]}`, n, ref, ref)
	}
	s.tools = withSchema(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d64"}},"required":["x"],"$defs":{` + definitions + `}}`)
}

// exponentialAllOf does the same by allOf and anyOf.
func exponentialAllOf(s *server) {
	definitions := `"d0":{"type":"string"}`
	for n := 1; n <= 64; n++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, n-1)
		word := []string{"allOf", "anyOf"}[n%2]
		definitions += fmt.Sprintf(`,"d%d":{%q:[%s,%s]}`, n, word, ref, ref)
	}
	s.tools = withSchema(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d64"}},"required":["x"],"$defs":{` + definitions + `}}`)
}

// recursiveSchema requires itself: no finite value satisfies it.
func recursiveSchema(s *server) {
	s.tools = withSchema(`{"type":"object","properties":{"self":{"$ref":"#"},"loop":{"$ref":"#/$defs/loop"}},` +
		`"required":["self","loop"],"$defs":{"loop":{"$ref":"#/$defs/loop"}}}`)
}

// deepSchema nests objects as deep as Go's encoding/json reads.
func deepSchema(s *server) {
	const depth = 4000
	open := strings.Repeat(`{"type":"object","required":["x"],"properties":{"x":`, depth)
	s.tools = withSchema(open + `{}` + strings.Repeat(`}}`, depth))
}

// giantLine answers the list with a line of 1 GB.
func giantLine(s *server) {
	s.on["tools/list"] = func(r request) {
		s.raw(func(w io.Writer) {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"padding":"`, r.ID)
			repeat(w, strings.Repeat("x", 1<<20), 1000)
			_, _ = io.WriteString(w, "\"}}\n")
		})
	}
}
