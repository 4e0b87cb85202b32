package sinkhole

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The opcodes of MongoDB ("MongoDB Wire Protocol") and the flags of OP_MSG.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013

	checksumPresent = 1 << 0
	moreToCome      = 1 << 1
)

// mongoHeader is the length of a message's header, maxMongo the longest message read, in bytes.
const (
	mongoHeader = 16
	maxMongo    = 1 << 20
)

// beginsMongo reports whether a client begins with a message of MongoDB.
func beginsMongo(first []byte) bool {
	if len(first) < mongoHeader {
		return false
	}
	length, code := binary.LittleEndian.Uint32(first), binary.LittleEndian.Uint32(first[12:])
	return (code == opQuery || code == opMsg) && length > mongoHeader && length <= maxMongo
}

// mongo accepts clients without a password and has one collection with one document. It
// refuses passwords: in SCRAM the server must prove that it knows them.
func (t *conversation) mongo() {
	t.flow.describe("mongodb", t.host, "")
	in := t.received()
	for {
		t.wait(betweenQueries)
		header := make([]byte, mongoHeader)
		if _, err := io.ReadFull(in, header); err != nil || !beginsMongo(header) {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(header)-mongoHeader)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		id, code := binary.LittleEndian.Uint32(header[4:]), binary.LittleEndian.Uint32(header[12:])
		command, silent := mongoCommand(code, body)
		if command == nil {
			return
		}
		first, err := command.IndexErr(0)
		if err != nil {
			return
		}
		t.flow.describe("", "", "MongoDB "+first.Key())
		t.flow.part()
		if !silent && !t.say(string(mongoReply(code, id, answerMongo(first.Key(), command)))) {
			return
		}
	}
}

// mongoCommand returns the document of a message, or nil; silent is set if the client
// expects no answer.
func mongoCommand(code uint32, body []byte) (command bson.Raw, silent bool) {
	if len(body) < 5 {
		return nil, false
	}
	flags, rest := binary.LittleEndian.Uint32(body), body[4:]
	if code == opQuery { // a collection's name, and two numbers
		end := slices.Index(rest, 0)
		if end < 0 || len(rest) < end+1+8 {
			return nil, false
		}
		return documentAt(rest[end+1+8:]), false
	}
	if flags&checksumPresent != 0 && len(rest) > 4 {
		rest = rest[:len(rest)-4]
	}
	for len(rest) > 5 {
		kind := rest[0]
		size := binary.LittleEndian.Uint32(rest[1:])
		switch {
		case kind == 0:
			return documentAt(rest[1:]), flags&moreToCome != 0
		case kind != 1 || size < 4 || uint64(size) >= uint64(len(rest)):
			return nil, false
		}
		rest = rest[1+size:] // documents of the command, which come apart from it
	}
	return nil, false
}

// documentAt returns the document at the start of b, or nil.
func documentAt(b []byte) bson.Raw {
	if len(b) < 5 {
		return nil
	}
	size := binary.LittleEndian.Uint32(b)
	if uint64(size) > uint64(len(b)) || size < 5 || bson.Raw(b[:size]).Validate() != nil {
		return nil
	}
	return bson.Raw(b[:size])
}

// mongoReply encodes the answer to a message.
func mongoReply(code, to uint32, answer bson.D) []byte {
	document, err := bson.Marshal(answer)
	if err != nil {
		return nil // no answer does that
	}
	head, reply := make([]byte, 5), uint32(opMsg) // flags, and the kind of the section
	if code == opQuery {
		head, reply = make([]byte, 20), opReply // flags, cursor, where it starts, how many
		head[0], head[16] = 8, 1                // AwaitCapable
	}
	message := binary.LittleEndian.AppendUint32(nil, uint32(mongoHeader+len(head)+len(document)))
	for _, n := range []uint32{to + 1, to, reply} {
		message = binary.LittleEndian.AppendUint32(message, n)
	}
	return append(append(message, head...), document...)
}

// answerMongo returns the answer to a command.
func answerMongo(name string, command bson.Raw) bson.D {
	lower := strings.ToLower(name)
	if strings.HasPrefix(lower, "sasl") || lower == "authenticate" {
		return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "Authentication failed."}, {Key: "code", Value: 18}, {Key: "codeName", Value: "AuthenticationFailed"}}
	}
	answer := slices.Clone(mongoAnswers[lower])
	if first, lists := mongoBatches[lower]; lists {
		database, _ := command.Lookup("$db").StringValueOK()
		collection, is := command.Lookup(name).StringValueOK()
		if !is {
			collection = "$cmd." + name
		}
		answer = bson.D{{Key: "cursor", Value: bson.D{
			{Key: "firstBatch", Value: first}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: database + "." + collection},
		}}}
	}
	return append(answer, bson.E{Key: "ok", Value: 1.0})
}

// mongoNote is the only document.
var mongoNote = bson.D{{Key: "_id", Value: bson.ObjectID{11: 1}}, {Key: "name", Value: "note"}, {Key: "title", Value: "note"}, {Key: "count", Value: 1}}

// mongoBatches are the results of commands that return an exhausted cursor (MongoDB,
// "Database Commands").
var mongoBatches = map[string]bson.A{
	"find": {mongoNote}, "aggregate": {mongoNote}, "getmore": {},
	"listcollections": {bson.D{
		{Key: "name", Value: "notes"}, {Key: "type", Value: "collection"}, {Key: "options", Value: bson.D{}}, {Key: "info", Value: bson.D{{Key: "readOnly", Value: false}}},
	}},
	"listindexes": {bson.D{{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "name", Value: "_id_"}}},
}

// mongoServer is the answer to the handshake.
var mongoServer = bson.D{
	{Key: "helloOk", Value: true}, {Key: "isWritablePrimary", Value: true}, {Key: "ismaster", Value: true}, {Key: "readOnly", Value: false},
	{Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48000000}, {Key: "maxWriteBatchSize", Value: 100000},
	{Key: "localTime", Value: bson.DateTime(0)}, {Key: "logicalSessionTimeoutMinutes", Value: 30}, {Key: "connectionId", Value: 1},
	{Key: "minWireVersion", Value: 0}, {Key: "maxWireVersion", Value: 21},
}

// mongoStats are the statistics of a database or collection.
var mongoStats = bson.D{
	{Key: "db", Value: "app"}, {Key: "ns", Value: "app.notes"}, {Key: "collections", Value: 1}, {Key: "objects", Value: 1}, {Key: "count", Value: 1},
	{Key: "size", Value: 64}, {Key: "dataSize", Value: 64}, {Key: "storageSize", Value: 4096}, {Key: "nindexes", Value: 1},
}

// mongoAnswers are the answers to other commands; unknown ones get only "ok".
var mongoAnswers = map[string]bson.D{
	"hello": mongoServer, "ismaster": mongoServer, "collstats": mongoStats, "dbstats": mongoStats,
	"buildinfo":     {{Key: "version", Value: "7.0.0"}, {Key: "versionArray", Value: bson.A{7, 0, 0, 0}}, {Key: "modules", Value: bson.A{}}},
	"listdatabases": {{Key: "databases", Value: bson.A{bson.D{{Key: "name", Value: "app"}, {Key: "sizeOnDisk", Value: int64(4096)}, {Key: "empty", Value: false}}}}, {Key: "totalSize", Value: int64(4096)}},
	"count":         {{Key: "n", Value: 1}}, "insert": {{Key: "n", Value: 1}}, "delete": {{Key: "n", Value: 1}},
	"update":        {{Key: "n", Value: 1}, {Key: "nModified", Value: 1}},
	"findandmodify": {{Key: "value", Value: mongoNote}, {Key: "lastErrorObject", Value: bson.D{{Key: "n", Value: 1}, {Key: "updatedExisting", Value: true}}}},
	"distinct":      {{Key: "values", Value: bson.A{"note"}}},
	"explain": {{Key: "queryPlanner", Value: bson.D{{Key: "winningPlan", Value: bson.D{{Key: "stage", Value: "COLLSCAN"}}}}},
		{Key: "executionStats", Value: bson.D{{Key: "nReturned", Value: 1}}}},
	"getlog":        {{Key: "totalLinesWritten", Value: 1}, {Key: "log", Value: bson.A{`{"t":{"$date":"2024-01-01T00:00:00Z"},"s":"I","msg":"note"}`}}},
	"serverstatus":  {{Key: "host", Value: "db"}, {Key: "version", Value: "7.0.0"}, {Key: "process", Value: "mongod"}, {Key: "uptime", Value: 1.0}},
	"createindexes": {{Key: "numIndexesBefore", Value: 1}, {Key: "numIndexesAfter", Value: 2}, {Key: "createdCollectionAutomatically", Value: false}},
	"drop":          {{Key: "nIndexesWas", Value: 1}, {Key: "ns", Value: "app.notes"}},
	"dropindexes":   {{Key: "nIndexesWas", Value: 2}},
}
