package audit

import (
	"cmp"
	"errors"
	"math"
	"net/netip"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// refuse prepares the launch in which every connection is refused: each tool is called once with accepted arguments,
// because error handling is code of its own. Its errors may tell the secrets that the server's code reads, which
// therefore get values.
func refuse(plan Plan, how *launch, runs []observation) {
	first := exercised(runs)
	how.refuse, how.once, how.listOnly = true, true, false
	how.given, how.asked = first.result.Accepted, slices.Clone(how.asked)
	for _, name := range first.keys {
		if !slices.Contains(how.excluded, name) && !operational.MatchString(name) {
			how.asked = plan.give(how.asked, name, "")
		}
	}
}

// connected returns the runs whose connections were not all refused.
func connected(runs []observation) []observation {
	return slices.DeleteFunc(slices.Clone(runs), func(o observation) bool { return o.how.refuse })
}

var (
	errNoNetwork = errors.New("the server never used the network")
	errDenied    = errors.New("every launch of this audit had every connection refused")
	errAllowed   = errors.New("the network of this audit is that of the machine")
)

// unrefusable marks the launch as impossible if it would show nothing.
func unrefusable(how launch, plan Plan, runs []observation) launch {
	switch {
	case plan.Network == report.NetworkDeny:
		how.impossible = errDenied
	case plan.Network == report.NetworkAllow:
		how.impossible = errAllowed
	case !networked(runs):
		how.impossible = errNoNetwork
	}
	return how
}

// networked reports whether the server tried to reach another machine.
func networked(runs []observation) bool {
	return len(reaching(runs)) > 0
}

// reaching returns the capabilities that did.
func reaching(runs []observation) map[report.Capability]bool {
	all := map[report.Capability]bool{}
	for _, o := range runs {
		for _, e := range o.profile.Effects {
			if leavesHere(e) {
				all[e.Capability] = true
			}
		}
	}
	return all
}

// leavesHere reports whether an effect was aimed at another machine or a name server.
func leavesHere(e profile.Effect) bool {
	address, err := netip.ParseAddr(e.Address)
	return (e.Kind == profile.KindConnect || e.Kind == profile.KindSend) && e.Protocol != "unix" && err == nil &&
		(!address.IsLoopback() || e.Port == places.PortDNS)
}

// launched lists the launches for the report.
func launched(runs []observation) (all []report.Launch) {
	for _, o := range runs {
		run := report.Launch{For: o.how.moment}
		if run.For == "" {
			run.For = report.LaunchExercise
		}
		run.StandIns, run.Variables = o.how.standIns, namesOf(o.how.asked)
		if o.launched != nil {
			run.Skipped = o.launched.Error()
		} else {
			run.Seconds = int(math.Ceil(o.took.Seconds()))
		}
		all = append(all, run)
	}
	return all
}

// unreused returns the effects of a launch that refused connections without those to destinations that other calls
// contacted in other runs. A server that keeps a connection opens it in one call for all, and in each call if it is
// refused: the call says nothing then.
func unreused(effects []profile.Effect, others []observation) []profile.Effect {
	known := map[string]bool{}
	for _, o := range others {
		for _, e := range o.profile.Effects {
			if ofCall(e) {
				known[cmp.Or(e.Host, e.Address)] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(effects), func(e profile.Effect) bool {
		return ofCall(e) && known[cmp.Or(e.Host, e.Address)]
	})
}

// ofCall reports whether an effect is a connection or lookup of a call that leaves the machine.
func ofCall(e profile.Effect) bool {
	return e.Capability.Kind != report.CapabilityServer && leavesHere(e)
}
