package sinkhole

import (
	"encoding/binary"
	"io"
)

// Bodies of MySQL packets (protocol 10); three bytes of length and a sequence number
// precede them.
const (
	mysqlGreeting = "\x0a8.0.36\x00" + "\x01\x00\x00\x00" + "saltsalt\x00" + // version, connection, salt
		"\x09\x82" + "\x2d" + "\x02\x00" + "\x08\x00" + // capabilities, character set, status, capabilities
		"\x15" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "saltsaltsalt\x00" + "mysql_native_password\x00"
	mysqlOK  = "\x00\x00\x00\x02\x00\x00\x00"
	mysqlEOF = "\xfe\x00\x00\x02\x00"
)

// The commands of MySQL's protocol that are not answered with OK.
const (
	mysqlQuit    = 1
	mysqlQuery   = 3
	mysqlPrepare = 22
	mysqlExecute = 23
	mysqlForget  = 25
)

// mysql accepts any password and has a database without rows.
func (t *conversation) mysql() {
	t.flow.describe("mysql", t.host, "MySQL login")
	if !t.say(mysqlPacket(0, mysqlGreeting)) {
		return
	}
	in := t.received()
	t.wait(patience)
	sequence, _, err := readPacket(in)
	if err != nil || !t.say(mysqlPacket(sequence+1, mysqlOK)) {
		return
	}
	prepared := map[uint32]statement{}
	for {
		t.wait(betweenQueries)
		_, command, err := readPacket(in)
		if err != nil || len(command) == 0 || command[0] == mysqlQuit {
			return
		}
		if reply := mysqlReply(command, prepared); reply != "" && !t.say(reply) {
			return
		}
	}
}

// readPacket reads one packet and keeps its beginning.
func readPacket(in io.Reader) (sequence byte, body []byte, err error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(in, header); err != nil {
		return 0, nil, err
	}
	length := int64(header[0]) | int64(header[1])<<8 | int64(header[2])<<16
	body = make([]byte, min(length, maxQuery))
	if _, err := io.ReadFull(in, body); err != nil {
		return 0, nil, err
	}
	_, err = io.CopyN(io.Discard, in, length-int64(len(body)))
	return header[3], body, err
}

// mysqlReply returns the answer to a command; "" if it has none.
func mysqlReply(command []byte, prepared map[uint32]statement) string {
	switch command[0] {
	case mysqlQuery:
		return mysqlRows(readStatement(string(command[1:]), true), false)
	case mysqlPrepare:
		s := readStatement(string(command[1:]), true)
		id := uint32(len(prepared) + 1)
		if len(prepared) < maxStatements {
			prepared[id] = s
		}
		counts := binary.LittleEndian.AppendUint16(nil, 0) // of columns: they come with the rows
		counts = binary.LittleEndian.AppendUint16(counts, uint16(s.parameters))
		packets := []string{"\x00" + string(binary.LittleEndian.AppendUint32(nil, id)) + string(counts) + "\x00\x00\x00"}
		for range s.parameters {
			packets = append(packets, mysqlColumn("?"))
		}
		if s.parameters > 0 {
			packets = append(packets, mysqlEOF)
		}
		return mysqlPackets(packets)
	case mysqlExecute:
		if len(command) < 5 {
			return mysqlPacket(1, mysqlOK)
		}
		return mysqlRows(prepared[binary.LittleEndian.Uint32(command[1:])], true)
	case mysqlForget:
		return ""
	default:
		return mysqlPacket(1, mysqlOK)
	}
}

// mysqlRows encodes the result of a statement, in text or binary.
func mysqlRows(s statement, inBinary bool) string {
	if s.columns == nil {
		return mysqlPacket(1, mysqlOK)
	}
	packets := []string{string([]byte{byte(len(s.columns))})}
	for _, column := range s.columns {
		packets = append(packets, mysqlColumn(column))
	}
	packets = append(packets, mysqlEOF)
	if s.one {
		row := ""
		if inBinary {
			row = "\x00" + string(make([]byte, (len(s.columns)+9)/8)) // none of them is NULL
		}
		for _, column := range s.columns {
			row += counted(s.cell(column))
		}
		packets = append(packets, row)
	}
	return mysqlPackets(append(packets, mysqlEOF))
}

// mysqlColumn encodes the definition of a text column.
func mysqlColumn(name string) string {
	return counted("def") + counted("") + counted("") + counted("") + counted(name) + counted(name) +
		"\x0c" + "\x2d\x00" + "\xff\x00\x00\x00" + "\xfd" + "\x00\x00" + "\x00" + "\x00\x00" // character set, length, type, flags, decimals
}

// counted prefixes a text with its length, which is below 251.
func counted(text string) string { return string([]byte{byte(len(text))}) + text }

// mysqlPackets encodes the packets that answer a command.
func mysqlPackets(bodies []string) (all string) {
	for i, body := range bodies {
		all += mysqlPacket(byte(i+1), body)
	}
	return all
}

func mysqlPacket(sequence byte, body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, sequence}) + body
}
