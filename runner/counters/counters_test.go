package counters

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// launched is a launch that made some changes: ">FILE TEXT" replaces the content, "+FILE TEXT" appends, "mFILE TO" renames,
// "~FILE" moves the position.
func launched(changes ...string) *Launch {
	l := &Launch{}
	for _, change := range changes {
		name, text, _ := strings.Cut(change[1:], " ")
		switch change[0] {
		case '>':
			l.Event(trace.Event{Op: trace.OpWrite, Path: name, Flags: []string{"O_WRONLY", "O_CREAT", "O_TRUNC"}})
			l.Event(trace.Event{Op: trace.OpStore, Syscall: "write", Path: name, Data: []byte(text)})
		case '+':
			l.Event(trace.Event{Op: trace.OpWrite, Path: name, Flags: []string{"O_WRONLY", "O_CREAT", "O_APPEND"}})
			l.Event(trace.Event{Op: trace.OpStore, Syscall: "write", Path: name, Data: []byte(text)})
		case 'm':
			l.Event(trace.Event{Op: trace.OpRename, Path: name, Target: text})
		case '~':
			l.Event(trace.Event{Op: trace.OpSeek, Path: name})
		}
	}
	return l
}

func TestAged(t *testing.T) {
	for name, tc := range map[string]struct {
		launches []*Launch
		want     string
	}{
		"a number":               {[]*Launch{launched(">n 1"), launched(">n 2")}, "5002"},
		"within one launch":      {[]*Launch{launched(">n 1", ">n 2", ">n 3")}, "5003"},
		"a member":               {[]*Launch{launched(`>n {"v":2,"launches":1,"at":"2026-11-29"}`), launched(`>n {"v":2,"launches":4,"at":"2026-11-29"}`)}, `{"v":2,"launches":5004,"at":"2026-11-29"}`},
		"renamed into place":     {[]*Launch{launched(">t 1", "mt n"), launched(">t 2", "mt n")}, "5002"},
		"a line of a setting":    {[]*Launch{launched(">n runs=8\n"), launched(">n runs=9\n")}, "runs=5009\n"},
		"something else differs": {[]*Launch{launched(`>n {"a":1}`), launched(`>n {"a":2,"b":7}`)}, ""},
		"the same":               {[]*Launch{launched(">n 7"), launched(">n 7")}, ""},
		"a time":                 {[]*Launch{launched(">n 1764413805"), launched(">n 1764413999")}, ""},
		"a date":                 {[]*Launch{launched(">n 2026-11-29T11:20:07Z"), launched(">n 2026-11-29T11:21:09Z")}, ""},
		"shrinks":                {[]*Launch{launched(">n 9"), launched(">n 3")}, ""},
		"written once":           {[]*Launch{launched(">n 9")}, ""},
		"not seen whole":         {[]*Launch{launched(">n 1"), launched(">n 2", "~n")}, ""},
	} {
		got := ""
		for _, f := range Aged(tc.launches) {
			got += string(f.Is)
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A log that is longer than what is kept stays as it is.
func TestAgedLongLog(t *testing.T) {
	line := "+log " + strings.Repeat("x", maxBytes/2)
	if got := Aged([]*Launch{launched(line), launched(line), launched(line)}); len(got) > 0 {
		t.Errorf("%d files", len(got))
	}
}

// What is added to a list at each launch is as many things as after many, on as many days.
func TestAgedList(t *testing.T) {
	for first, second := range map[string]string{`{"days":["2026-11-29"]}`: `{"days":["2026-11-29","2026-11-30"]}`, `{"days":["2026-11-30"]}`: `{"days":["2028-01-03","2026-11-30"]}`} {
		got := Aged([]*Launch{launched(">days " + first), launched(">days " + second)})
		var is struct{ Days []string }
		if len(got) != 1 || json.Unmarshal(got[0].Is, &is) != nil {
			t.Fatalf("%s: %+v", second, got)
		}
		slices.Sort(is.Days)
		if days := len(slices.Compact(is.Days)); days < 500 {
			t.Errorf("%s: %d days", second, days)
		}
	}
}

// What is appended at each launch is as long as after many.
func TestAgedLog(t *testing.T) {
	got := Aged([]*Launch{launched("+log start\n"), launched("+log start\n"), launched("+log start\n")})
	if len(got) != 1 || string(got[0].Was) != "start\nstart\nstart\n" || strings.Count(string(got[0].Is), "start\n") < 1000 || len(got[0].Is) > maxBytes {
		t.Errorf("%+v", got)
	}
}
