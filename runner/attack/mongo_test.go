package attack

import (
	"encoding/binary"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sentToMongo is a message with a command.
func sentToMongo(command bson.D) []byte {
	document, _ := bson.Marshal(command) // of texts and documents: no error
	message := binary.LittleEndian.AppendUint32(nil, uint32(mongoHeader+5+len(document)))
	for _, n := range []uint32{1, 0, mongoMsg, 0} {
		message = binary.LittleEndian.AppendUint32(message, n)
	}
	return append(append(message, 0), document...)
}

// TestOperators: an operator with a mark counts where documents are chosen by it, and not where it is stored or compared.
func TestOperators(t *testing.T) {
	ne := bson.D{{Key: "$ne", Value: "marlow-c7"}}
	user := bson.D{{Key: "user", Value: ne}}
	for name, tc := range map[string]struct {
		command bson.D
		want    string
	}{
		"in a filter":            {bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: user}}, `{"$ne":"marlow-c7"}`},
		"in a part of it":        {bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: bson.D{{Key: "$or", Value: bson.A{user}}}}}, `{"$ne":"marlow-c7"}`},
		"in a pipeline":          {bson.D{{Key: "aggregate", Value: "users"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: user}}}}}, `{"$ne":"marlow-c7"}`},
		"of a deletion":          {bson.D{{Key: "delete", Value: "users"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: user}}}}}, `{"$ne":"marlow-c7"}`},
		"compared as it is":      {bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: bson.D{{Key: "user", Value: bson.D{{Key: "$eq", Value: ne}}}}}}, ""},
		"one of some":            {bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: bson.D{{Key: "user", Value: bson.D{{Key: "$in", Value: bson.A{ne}}}}}}}, ""},
		"stored":                 {bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: bson.A{user}}}, ""},
		"a text":                 {bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: bson.D{{Key: "user", Value: `{"$ne":"marlow-c7"}`}}}}, ""},
		"an operator of its own": {bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: bson.D{{Key: "user", Value: bson.D{{Key: "$regex", Value: "^marlow-c7"}}}}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, each := range Operators(append([]byte{1, 2, 3}, sentToMongo(tc.command)...)) {
				got += each.Text
			}
			if got != tc.want {
				t.Errorf("Operators = %s, want %s", got, tc.want)
			}
		})
	}
}

// FuzzOperators: what is no message has no operators, and ends.
func FuzzOperators(f *testing.F) {
	f.Add(sentToMongo(bson.D{{Key: "find", Value: "users"}, {Key: "filter", Value: bson.D{{Key: "user", Value: bson.D{{Key: "$ne", Value: "marlow-c7"}}}}}}))
	f.Fuzz(func(_ *testing.T, sent []byte) { Operators(sent) })
}
