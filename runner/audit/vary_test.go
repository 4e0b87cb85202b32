package audit

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// thief is a server that sends what it makes of the decoys, in each launch.
type thief struct {
	send, sized func(decoy.Set) string
	launches    int
	// hosts are how many destinations it sends to; 0 for one.
	hosts int
	// channel is by what it sends; "" for HTTP.
	channel leak.Channel
}

func (f *thief) start(_ context.Context, how launch) observation {
	f.launches++
	r := &depend.Record{}
	for host := range max(f.hosts, 1) {
		r.Add(depend.Piece{Way: depend.Way{
			Where: ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityTool, Name: "t"}}, Channel: cmp.Or(f.channel, "HTTP"), Destination: fmt.Sprintf("x%d:80", host),
		}, Data: []byte("id: " + f.send(*how.decoys) + ";")})
	}
	for _, c := range []byte(f.sized(*how.decoys)) {
		r.Number(depend.Piece{Way: depend.Way{Channel: "TCP", Destination: "x:81"}}, "size", int(c))
	}
	return observation{left: r, stats: trace.Stats{Begun: true}}
}

func hashed(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestVaried(t *testing.T) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		t.Fatal(err)
	}
	const key = "/home/server/.ssh/id_rsa"
	content := func(s decoy.Set) string { f, _ := s.Find(key); return string(f.Content) }
	value := func(s decoy.Set, name string) string {
		for _, v := range s.Vars {
			if v.Name == name {
				return v.Value
			}
		}
		return ""
	}
	masked := func(s decoy.Set) string { v := value(s, "HF_TOKEN"); return v[:7] + "..." + v[len(v)-4:] }
	calls := 0
	runs := []observation{{opened: []string{key, "/home/server/.vault-token"}, profile: profile.Profile{Effects: []profile.Effect{
		{Fact: profile.Fact{Kind: profile.KindConnect, Protocol: "tcp", Address: "198.18.0.1", Port: 80}},
	}}}}
	for name, tc := range map[string]struct {
		send func(decoy.Set) string
		on   string // "" for nothing
		most int
	}{
		"nothing of a secret":  {func(decoy.Set) string { return "abc" }, "", 2},
		"a number of the call": {func(decoy.Set) string { calls++; return fmt.Sprint(calls) }, "", 4},
		"a file":               {func(s decoy.Set) string { return hashed(content(s)) }, key, 10},
		"a variable":           {func(s decoy.Set) string { return hashed(value(s, "HF_TOKEN")) }, "HF_TOKEN", 16},
		"sizes":                {func(s decoy.Set) string { return content(s)[40:140] }, key, 10},
		"two variables":        {func(s decoy.Set) string { return hashed(value(s, "HF_TOKEN") + value(s, "GITHUB_TOKEN")) }, "GITHUB_TOKEN", 16},
		"a masked key":         {masked, "", 16},
		"a part of a key sent": {masked, "HF_TOKEN", 16},
		"what signs":           {func(s decoy.Set) string { return hashed(value(s, "JWT_SECRET")) }, "", 2},
	} {
		f := &thief{send: tc.send, sized: func(decoy.Set) string { return "" }}
		switch name {
		case "sizes":
			f.send, f.sized = f.sized, f.send
		case "a masked key":
			f.channel = leak.Answer
		}
		o := Plan{Decoys: set}.varied(t.Context(), launch{vary: true}, runs, f.start)
		if o.launched != nil || f.launches > tc.most {
			t.Errorf("%s: %v, %d launches", name, o.launched, f.launches)
		}
		switch {
		case tc.on == "" && len(o.dependences) > 0:
			t.Errorf("%s: %+v", name, o.dependences)
		case tc.on != "" && (len(o.dependences) != 1 || o.dependences[0].Decoy.Name != tc.on):
			t.Errorf("%s: %+v", name, o.dependences)
		}
	}
	several := &thief{send: func(s decoy.Set) string { return hashed(value(s, "HF_TOKEN")) }, sized: func(decoy.Set) string { return "" }, hosts: 6}
	if o := (Plan{Decoys: set}).varied(t.Context(), launch{vary: true}, runs, several.start); len(o.dependences) != 6 || several.launches > 16 {
		t.Errorf("by six ways: %d found in %d launches", len(o.dependences), several.launches)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if o := (Plan{Decoys: set}).varied(ended, launch{vary: true}, runs, (&thief{send: content, sized: content}).start); !errors.Is(o.launched, errCutShort) {
		t.Errorf("without time: %v", o.launched)
	}
}

// TestVariedBeyondWhatIsKept: what is not kept is a gap where it differs between launches, and none where it does not.
func TestVariedBeyondWhatIsKept(t *testing.T) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		t.Fatal(err)
	}
	runs := []observation{{opened: []string{"/home/server/.ssh/id_rsa"}}}
	for secret, gaps := range map[bool]int{true: 1, false: 0} {
		f := &thief{sized: func(decoy.Set) string { return "" }, send: func(s decoy.Set) string {
			behind := strings.Repeat("x", 1<<20)
			if secret {
				key, _ := s.Find("/home/server/.ssh/id_rsa")
				behind += hashed(string(key.Content))
			}
			return behind
		}}
		o := Plan{Decoys: set}.varied(t.Context(), launch{vary: true}, runs, f.start)
		if o.launched != nil || len(o.undecided) != gaps {
			t.Errorf("%t: %v, %q", secret, o.launched, o.undecided)
		}
	}
}

// TestSealedVariable: what goes to another machine, is as long as a sealed token and never the same is a gap also where only
// variables could be in it.
func TestSealedVariable(t *testing.T) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		t.Fatal(err)
	}
	runs := []observation{{profile: profile.Profile{Effects: []profile.Effect{
		{Fact: profile.Fact{Kind: profile.KindConnect, Protocol: "tcp", Address: "198.18.0.1", Port: 80}},
	}}}}
	for size, gaps := range map[int]int{16: 0, 52: 1} {
		f := &thief{sized: func(decoy.Set) string { return "" }, send: func(decoy.Set) string {
			drawn := make([]byte, size)
			_, _ = rand.Read(drawn)
			return fmt.Sprintf("%x", drawn)
		}}
		o := Plan{Decoys: set}.varied(t.Context(), launch{vary: true}, runs, f.start)
		if o.launched != nil || len(o.undecided) != gaps {
			t.Errorf("%d bytes: %v, %q", size, o.launched, o.undecided)
		}
	}
}

// A server that had no decoy read, and says nothing, costs nothing.
func TestUnvaried(t *testing.T) {
	set, err := decoy.New("/home/server", true)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(text string) observation {
		o := observation{}
		o.result.Outputs = []report.Output{{Kind: report.OutputResult, Text: text, Arguments: `{"id":"3f9a1c7e5b2d"}`}}
		return o
	}
	sent := leak.Leak{Channel: "TCP", Destination: "x:80"}
	for name, tc := range map[string]struct {
		run  observation
		want error
	}{
		"nothing":                       {observation{}, errNothingRead},
		"words":                         {answer("looks good"), nil},
		"a decoy":                       {observation{opened: []string{"/home/server/.ssh/id_rsa"}}, nil},
		"what ordinary tools open":      {observation{opened: []string{"/home/server/.npmrc"}}, errNothingRead},
		"a secret that was found":       {observation{opened: []string{"/home/server/.ssh/id_rsa"}, leaks: []leak.Leak{sent}}, errFoundOut},
		"a secret where it may be sent": {observation{opened: []string{"/home/server/.ssh/id_rsa"}, leaks: []leak.Leak{{Channel: "HTTPS", Home: true}}}, nil},
	} {
		if how := unvaried(launch{}, Plan{Decoys: set}, []observation{tc.run}); !errors.Is(how.impossible, tc.want) {
			t.Errorf("%s: %v", name, how.impossible)
		}
	}
}
