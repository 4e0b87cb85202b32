package audit

import (
	"slices"
	"syscall"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// TestPersonas: each client is met in one launch, none where manifests of one language are
// compared, and what the operator sets stays.
func TestPersonas(t *testing.T) {
	met := map[string]bool{}
	ends := map[string]bool{} // while stdin is open, by which signal
	for _, row := range afterwards {
		how := launch{}
		if row.change != nil {
			row.change(Plan{}, &how, []observation{watched()})
		}
		who := how.identity
		if met[who.name] && who.name != "" && !row.again && row.moment != report.LaunchAttack && row.moment != report.LaunchDecoys {
			t.Errorf("%s is met twice", who.name)
		}
		met[who.name] = true
		if row.moment == report.MomentClock && how.abrupt {
			t.Error("no launch at another time ends by the end of stdin")
		}
		if how.abrupt {
			ends[append(who.parting, syscall.SIGTERM)[0].String()] = true
		}
		compared := row.needed || row.moment == report.MomentClock || row.moment == report.LaunchWeek
		if _, speaks := set(who.env)["LANG"]; speaks && compared {
			t.Errorf("%s compares manifests, and has a language", row.moment)
		}
		if how.moment = row.moment; how.person() && compared {
			t.Errorf("%s compares manifests, and has another home", row.moment)
		}
	}
	for _, tc := range []struct {
		how       launch
		transport report.Transport
		want      bool
	}{
		{launch{moment: report.LaunchDisguise, identity: cursorEditor}, report.TransportStdio, true},
		{launch{moment: report.LaunchDecoys, identity: claudeDesktop}, report.TransportStdio, true},
		{launch{moment: report.MomentClock, identity: zed}, report.TransportStdio, false},
		{launch{moment: report.MomentIdentity, identity: claudeDesktop}, report.TransportStdio, false},
		{launch{moment: report.LaunchDisguise, identity: cursorEditor}, report.TransportStreamableHTTP, false},
	} {
		if got := tc.how.sockets(Plan{Transport: tc.transport}); got != tc.want {
			t.Errorf("%s, %s: sockets %v", tc.how.moment, tc.transport, got)
		}
	}
	at := launch{moment: report.LaunchDisguise, again: true}
	atHome(Plan{Decoys: decoy.Set{Home: "/home/ada"}}, &at, []observation{watched()})
	if o := (Plan{}).options(at); o.Inputs.Root != "/home/ada/src/app" || o.Incapable || at.person() {
		t.Errorf("root %q, incapable %t, person %t", o.Inputs.Root, o.Incapable, at.person())
	}
	if len(ends) != 4 {
		t.Errorf("servers are not ended by SIGTERM, SIGINT, SIGHUP and SIGKILL, each in some launch: %v", ends)
	}
	if len(met) < 8 {
		t.Errorf("met %v", met)
	}
	plan := Plan{Env: []string{"TZ=UTC"}}
	env := launch{identity: cursorEditor}.environment(plan)
	if slices.Contains(env, "TZ=Europe/Berlin") || !slices.Contains(env, "CURSOR_AGENT=1") {
		t.Errorf("%v", env)
	}
}
