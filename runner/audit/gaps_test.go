package audit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func TestGaps(t *testing.T) {
	blind := watched(func(o *observation) {
		o.stats = trace.Stats{Begun: true, Unparsed: 1, Cut: 2, Dropped: 3, Unplaced: 11, Blinded: 4, Overflow: true}
		o.profile.Dropped, o.profile.Cut = 6, profile.Cut{Sent: 2, Here: 3}
		o.profile.Effects = []profile.Effect{
			{Fact: profile.Fact{Kind: profile.KindEvade, Operation: trace.Forbidden}, Count: 7},
			{Fact: profile.Fact{Kind: profile.KindWrite, Operation: "mmap", Path: "/data/db-shm"}, Count: 12},
			{Fact: profile.Fact{Kind: profile.KindSend, Protocol: "tcp", Port: 443}, Count: 8},
		}
	})
	blind.caught = catch(sent(sinkhole.Capture{Host: "a%d.example", Opaque: true}, sinkhole.Capture{Host: "b.example"}), nil, func(sinkhole.Capture) {})
	blind.caught.dropped, blind.caught.lost = 9, 10
	got := map[string]int{}
	for _, g := range gaps(nil, []observation{blind, blind}, observation{}, observation{}, report.NetworkAllow) {
		got[g.What] = g.Count
		if g.What == "OpaqueTLS" {
			want := "TLS connections that could not be ended, such as one to a%d.example: what was sent is not known (2)"
			if g.Detail != want {
				t.Errorf("detail %q, want %q", g.Detail, want)
			}
		}
	}
	want := map[string]int{"UnparsedLines": 2, "DroppedCalls": 10, "BlindedCalls": 8, "CutPayloads": 10, "TraceOverflow": 2,
		"DroppedEffects": 12, "ForbiddenCalls": 14, "EncryptedTraffic": 16, "OpaqueTLS": 2,
		"UnplacedChanges": 22, "MappedFiles": 24, "DroppedCaptures": 18, "LostCaptures": 20}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	if all := gaps(nil, []observation{watched()}, observation{}, observation{}, report.NetworkSinkhole); len(all) > 0 {
		t.Errorf("gaps of a run that was wholly seen: %v", all)
	}
}

// TestAB2UnmadeLaunches: a server that leaves no time, or no room, for launches in other surroundings gets no full
// assurance; one for which there are none does.
func TestAB2UnmadeLaunches(t *testing.T) {
	for _, moment := range []report.Moment{report.LaunchDisguise, report.LaunchStandIns, report.LaunchRefused} {
		for of, want := range map[*observation]string{
			{launched: context.DeadlineExceeded, how: launch{moment: moment}}:              "UnmadeLaunches",
			{launched: errors.New("no space left on device"), how: launch{moment: moment}}: "UnmadeLaunches",
			{launched: errQuick, how: launch{moment: moment, impossible: errQuick}}:        "",
		} {
			got := ""
			for _, g := range gaps(nil, []observation{watched(), *of}, observation{}, observation{}, report.NetworkSinkhole) {
				got += g.What
			}
			if got != want {
				t.Errorf("%s, %v: gaps %q, want %q", moment, of.launched, got, want)
			}
		}
	}
}

// Samples of the noise are in the report where they were asked for.
func TestShowNoise(t *testing.T) {
	o := watched(func(o *observation) {
		o.profile.Noise = []report.Noise{{Reason: "Loader", Count: 2, Samples: []string{"/etc/ld.so.cache"}}}
	})
	for _, show := range []bool{false, true} {
		r := conclude(Plan{ShowNoise: show}, []observation{o}, time.Now())
		if len(r.Noise) != 1 || r.Noise[0].Count != 2 || (len(r.Noise[0].Samples) > 0) != show {
			t.Errorf("ShowNoise %t: %+v", show, r.Noise)
		}
	}
}
