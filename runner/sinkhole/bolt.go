package sinkhole

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// boltMagic begins a Bolt handshake (neo4j.com/docs/bolt, "Bolt handshake"); four proposed versions follow.
var boltMagic = []byte{0x60, 0x60, 0xB0, 0x17}

// The signatures of Bolt messages.
const (
	boltGoodbye = 0x02
	boltHello   = 0x01
	boltRun     = 0x10
	boltPull    = 0x3F
	boltRoute   = 0x66
	boltSuccess = 0x70
	boltRecord  = 0x71
)

// maxBolt bounds the kept bytes of one message.
const maxBolt = 64 << 10

// bolt accepts any client and answers each query with one record.
func (t *conversation) bolt() {
	t.flow.describe("bolt", t.host, "")
	in := t.received()
	greeting := make([]byte, len(boltMagic)+16)
	t.wait(betweenQueries)
	if _, err := io.ReadFull(in, greeting); err != nil || !t.say(boltVersion(greeting[len(boltMagic):])) {
		return
	}
	var columns []string
	kind := "r"
	for {
		t.wait(betweenQueries)
		message, err := readBolt(in)
		if err != nil || len(message) < 2 || message[1] == boltGoodbye {
			return
		}
		if message[1] == boltRun {
			columns, kind = returned(message), kindOf(message)
		}
		if !t.say(boltReply(message[1], columns, kind, t.host)) {
			return
		}
	}
}

// boltVersion returns the first proposed version that is 4 or 5; zero if there is none.
func boltVersion(proposals []byte) string {
	for version := range slices.Chunk(proposals, 4) {
		if len(version) == 4 && (version[3] == 4 || version[3] == 5) {
			return string([]byte{0, 0, version[2], version[3]})
		}
	}
	return "\x00\x00\x00\x00"
}

// readBolt reads one message: length-prefixed chunks up to an empty one.
func readBolt(in io.Reader) (message []byte, err error) {
	var length [2]byte
	for {
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return nil, err
		}
		n := int64(binary.BigEndian.Uint16(length[:]))
		if n == 0 && len(message) > 0 {
			return message, nil
		}
		var chunk bytes.Buffer // n == 0 keeps the connection alive
		if _, err := io.CopyN(&chunk, in, n); err != nil {
			return nil, err
		}
		message = append(message, chunk.Bytes()[:min(chunk.Len(), maxBolt-len(message))]...)
	}
}

// boltReply returns the answer to a message. columns and kind are those of the last query.
func boltReply(signature byte, columns []string, kind, host string) string {
	success := map[string]any{}
	switch signature {
	case boltHello:
		success["server"], success["connection_id"] = "Neo4j/5.20.0", "bolt-1"
	case boltRoute:
		servers := []any{}
		for _, role := range []string{"ROUTE", "READ", "WRITE"} {
			servers = append(servers, map[string]any{"role": role, "addresses": []any{host + ":7687"}})
		}
		success["rt"] = map[string]any{"ttl": 100, "db": "neo4j", "servers": servers}
	case boltRun:
		fields := []any{}
		for _, column := range columns {
			fields = append(fields, boltName(column))
		}
		success["fields"], success["t_first"] = fields, 1
	case boltPull:
		success["has_more"], success["type"], success["db"], success["t_last"] = false, kind, "neo4j", 1
		record := []any{}
		for _, column := range columns {
			record = append(record, boltCell(column))
		}
		if len(record) > 0 {
			return inChunks(boltRecord, record) + inChunks(boltSuccess, success)
		}
	}
	return inChunks(boltSuccess, success)
}

// inChunks encodes a message of one field.
func inChunks(signature byte, field any) string {
	message := append([]byte{0xB1, signature}, pack(nil, field)...)
	var out []byte
	for chunk := range slices.Chunk(message, 0xFFFF) {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(chunk))), chunk...)
	}
	return string(append(out, 0, 0))
}

// pack appends a value in PackStream: texts and lists of up to 255 bytes or items, numbers up to 127.
func pack(out []byte, value any) []byte {
	switch v := value.(type) {
	case bool:
		return append(out, map[bool]byte{true: 0xC3, false: 0xC2}[v])
	case int:
		return append(out, byte(v&0x7F))
	case string:
		v = v[:min(len(v), 255)]
		return append(append(out, 0xD0, byte(len(v))), v...)
	case []any:
		v = v[:min(len(v), 255)]
		out = append(out, 0xD4, byte(len(v)))
		for _, item := range v {
			out = pack(out, item)
		}
		return out
	case map[string]any:
		out = append(out, 0xD8, byte(len(v)))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = pack(pack(out, key), v[key])
		}
		return out
	}
	return append(out, 0xC0)
}

// What a Cypher query returns, whether it writes, and which columns are counts or plain names.
var (
	returns  = lazyregexp.New(`(?is)\breturn\s+(?:distinct\s+)?([\x20-\x7E\s]{1,1000}?)(?:\s(?:order by|skip|limit)\s|[^\x20-\x7E\s]|;|$)`)
	changes  = lazyregexp.New(`(?i)\b(?:create|merge|delete|set|remove)\b`)
	counting = lazyregexp.New(`(?i)^(?:count|size|sum|length|id)\s*\(`)
	bareName = lazyregexp.New(`^\w+$`)
)

// kindOf returns the type of the query in a message for its summary: r, or rw if it writes.
func kindOf(message []byte) string {
	if changes.MatchString(string(message)) {
		return "rw"
	}
	return "r"
}

// returned returns the columns of the query in a message as it writes them.
func returned(message []byte) []string {
	all := returns.FindAllStringSubmatch(string(message), -1)
	if len(all) == 0 {
		return nil
	}
	columns := pieces(all[len(all)-1][1], isComma)
	return columns[:min(len(columns), maxColumns)]
}

// boltName returns the alias of a column, or the column itself.
func boltName(column string) string {
	column = strings.TrimSpace(column)
	if match := alias.FindStringSubmatch(column); match != nil {
		return match[1]
	}
	return column
}

// boltCell returns a value for a column: a number for a count, an empty map for a plain name, else a text.
func boltCell(column string) any {
	column = strings.TrimSpace(column)
	if match := alias.FindStringIndex(column); match != nil {
		column = strings.TrimSpace(column[:match[0]])
	}
	switch {
	case counting.MatchString(column):
		return 1
	case bareName.MatchString(column):
		return map[string]any{}
	}
	return "note"
}
