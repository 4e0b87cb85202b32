package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// dump is the least number of variables in a dump: one service has at most three (a
// key, its id, a session token).
const dump = 4

// outcome is the rule that finds a leak.
type outcome int

const (
	carriedOff outcome = iota
	answered
	dumped
)

// route is a channel with its destination.
type route struct {
	capability  report.Capability
	channel     leak.Channel
	destination string
}

// followed stands for the hosts that arguments name, which differ for each call.
const followed = "the hosts that its arguments name"

// routes returns the leaks that are findings by route, and the routes in order.
func (in Input) routes() (order []route, ways map[route][]leak.Leak) {
	ways = map[route][]leak.Leak{}
	for _, l := range in.Leaks {
		if in.allowed(l) {
			continue
		}
		r := route{l.Capability, l.Channel, l.Destination}
		if _, ours := inputs.Marked(l.Destination); ours {
			r.destination = followed
		}
		if ways[r] == nil {
			order = append(order, r)
		}
		ways[r] = append(ways[r], l)
	}
	return order, ways
}

// share returns the leaks of one route that a rule is about: that of a dump takes the variables, and
// leaves the files.
func (wanted outcome) share(r route, took []leak.Leak) []leak.Leak {
	variables := map[string]bool{}
	for _, l := range took {
		if l.Decoy.Variable {
			variables[l.Decoy.Name] = true
		}
	}
	whole := len(variables) >= dump
	return slices.DeleteFunc(slices.Clone(took), func(l leak.Leak) bool {
		is := carriedOff
		switch {
		case whole && l.Decoy.Variable:
			is = dumped
		case r.channel == leak.Answer:
			is = answered
		}
		return is != wanted
	})
}

// leaksAs makes one finding for each route.
func leaksAs(wanted outcome) func(Input) []draft {
	return func(in Input) (all []draft) {
		order, ways := in.routes()
		goals := goalsOf(in.Leaks)
		for _, r := range order {
			took := wanted.share(r, ways[r])
			if len(took) == 0 {
				continue
			}
			slices.SortStableFunc(took, func(a, b leak.Leak) int { return goals.severity(b).Rank() - goals.severity(a).Rank() })
			first := took[0]
			message := sentence("%s %s %s, %s", subject(profile.Effect{Where: first.Where}), verb(first), secrets(took), encodings(took))
			for _, l := range took {
				all = append(all, draft{
					severity: goals.severity(first), phase: first.Phase, capability: first.Capability,
					object: strings.TrimSpace(string(r.channel) + " " + r.destination), message: message,
					evidence: l.Evidence(), order: len(in.Profile.Effects) + 1,
				})
			}
		}
		return all
	}
}

// allowed reports whether a leak is not a finding.
func (in Input) allowed(l leak.Leak) bool {
	covering := in.Scope.Covering(l.Capability)
	switch {
	case l.Home:
		return true
	case l.Channel.Network(), l.Channel == leak.UnixSocket:
		return false
	case l.Decoy.Variable && l.Channel == leak.Environment:
		return true // passed on to a program of its own
	case l.Channel == leak.Environment && strings.HasPrefix(path.Base(l.Decoy.Name), ".env"):
		return true // what was loaded from there are variables, which every program inherits
	case l.Decoy.Variable && l.Channel == leak.Answer:
		return covering.Mentions("env", "printenv", "getenv") ||
			covering.Mentions("environment") && covering.Mentions("variable", "variables", "vars")
	case l.Decoy.Variable:
		return false
	}
	at, ok := places.Locate(l.Decoy.Name)
	return ok && speaks(covering, at.Topics)
}

// goals records, by decoy, whether it went to its own service, and into an answer while connections were accepted.
type goals map[decoy.ID]struct{ home, answered bool }

func goalsOf(leaks []leak.Leak) goals {
	all := goals{}
	for _, l := range leaks {
		goal := all[l.Decoy]
		goal.home = goal.home || l.Home && l.Channel.Network()
		goal.answered = goal.answered || l.Channel == leak.Answer && !l.Refused
		all[l.Decoy] = goal
	}
	return all
}

// severity returns High for a secret that stayed on the machine.
func (g goals) severity(l leak.Leak) report.Severity {
	switch {
	case g.inAddress(l):
		return report.SeverityMedium
	case l.Channel == leak.File, l.Channel == leak.Environment, (l.Channel == leak.Stderr || l.Channel == leak.Stdout) && l.Decoy.Variable:
		return report.SeverityHigh
	}
	return report.SeverityCritical
}

// asParameter matches the text before a secret in the query of a URL, and its beginning.
var asParameter = lazyregexp.New(`[?&][\w.-]{1,64}=[^\s&=]*$`)

// inAddress reports whether a secret occurs in the query of a URL with which it goes to its own service: libraries
// log their requests to stderr, and their errors name the one that failed. In an answer that counts only where every
// connection was refused.
func (g goals) inAddress(l leak.Leak) bool {
	logged := l.Channel == leak.Stderr || l.Channel == leak.Answer && l.Refused && !g[l.Decoy].answered
	return logged && (g[l.Decoy].home || l.Unsent) && l.Decoy.Variable && asParameter.MatchString(l.Excerpt)
}

// verb says what was done, up to the secrets.
func verb(l leak.Leak) string {
	to := clean(l.Destination, 256)
	switch l.Channel {
	case leak.Answer:
		return "gave away in its answer"
	case leak.Stderr, leak.Stdout:
		return "wrote to " + string(l.Channel)
	case leak.Argv:
		return "started " + to + " with, in its arguments,"
	case leak.Environment:
		return "started " + to + " with, in its environment,"
	case leak.File:
		return "stored in " + to
	case leak.UnixSocket:
		return "sent to the unix socket " + to
	case leak.DNS:
		return "looked up names below " + to + " that hold"
	}
	return "sent to " + to + " over " + string(l.Channel)
}

// secrets names the first three secrets, and says how many more there are.
func secrets(took []leak.Leak) string {
	const shown = 3
	var names []string
	for _, l := range took {
		if name := secret(l.Decoy); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(names) == 1 {
		return "the decoy secret " + text
	}
	return "the decoy secrets " + text
}

func secret(of decoy.ID) string {
	if of.Variable {
		return "$" + of.Name
	}
	if at, ok := places.Locate(of.Name); ok {
		return clean(of.Name, 256) + " (" + at.What + ")"
	}
	return clean(of.Name, 256)
}

// encodings names the forms in which they were sent.
func encodings(took []leak.Leak) string {
	var forms []string
	for _, l := range took {
		if !slices.Contains(forms, l.Encoding) {
			forms = append(forms, l.Encoding)
		}
	}
	if len(forms) == 1 && forms[0] == "plain" {
		return "as it is"
	}
	return "encoded as " + strings.Join(forms, ", ")
}
