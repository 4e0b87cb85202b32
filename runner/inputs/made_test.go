package inputs

import (
	"encoding/json"
	"testing"
)

// TestFollowing: what was refused because it was not there is asked for again once another tool has made it.
func TestFollowing(t *testing.T) {
	const missing = "ENOENT: no such file or directory, open '/home/ada/Notes/plan.md'"
	pool := NewPool()
	f := NewForm(json.RawMessage("{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"The name, such as `plan`.\"}},\"required\":[\"name\"]}"),
		Options{About: "read_note"})
	var sent []string
	for call := 1; call <= 3; call++ {
		c, more := f.Next(pool, Mark{Call: call})
		if !more {
			break
		}
		sent = append(sent, string(c.Arguments))
		f.Answered(c, false)
		pool.Error("tool read_note", missing, c)
		f.Refused(c, missing)
		if call == 1 {
			pool.Taken("tool save_note", json.RawMessage(`{"name":"plan","text":"a note"}`))
		}
	}
	if len(sent) != 3 || sent[0] != `{"name":"plan"}` || sent[1] != sent[0] || sent[2] == sent[0] {
		t.Errorf("sent %q", sent)
	}
}
