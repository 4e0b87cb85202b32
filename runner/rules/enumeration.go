package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// broad is the least number of unrelated places that is a finding: few programs need five.
const broad = 5

// sweeping lists the words by which a declaration says that it goes through everything.
var sweeping = []string{"home", "disk", "disks", "system", "machine", "computer", "everywhere", "backup", "antivirus", "drive", "drives"}

func findEnumeration(in Input) []draft {
	own := in.ownPaths()
	places := map[report.Capability][]string{}
	drafts := each(in, func(e profile.Effect, d *draft) bool {
		answer, _ := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseRead, Path: e.Path})
		if answer != scope.Unsaid || !isFile(e.Path) || own.temporary(e.Path) || own.owns(e.Path) || in.wanted(e) ||
			in.Scope.Covering(e.Capability).Mentions(sweeping...) {
			return false
		}
		if at := own.quarter(e.Path); !slices.Contains(places[e.Capability], at) {
			places[e.Capability] = append(places[e.Capability], at)
			d.severity, d.object = report.SeverityMedium, "directories"
			d.message = subject(e)
			return true
		}
		return false
	}, profile.KindList)
	drafts = slices.DeleteFunc(drafts, func(d draft) bool { return len(places[d.capability]) < broad })
	for i, d := range drafts {
		all := places[d.capability]
		drafts[i].message = sentence("%s listed %d unrelated places, which nothing in its declaration speaks of: %s",
			d.message, len(all), clean(strings.Join(all[:min(len(all), 8)], ", "), 400))
	}
	return drafts
}

// quarter returns the entry of the home, or of the root directory, that a directory is in.
func (g ownPaths) quarter(name string) string {
	if inside, ok := g.inHome(name); ok {
		return g.home + "/" + firstOf(inside)
	}
	if name == g.home {
		return name
	}
	return "/" + firstOf(strings.TrimPrefix(name, "/"))
}
