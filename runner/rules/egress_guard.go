package rules

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var (
	// publicOnly are sentences that say that only public addresses are reached.
	publicOnly = lazyregexp.New(`(?i)\bonly\b[^.;]{0,40}\bpublic(?:ly)? (?:\w+ )?(?:address|host|url|ip|site|page|website|internet|web)` +
		`|\bpublic (?:\w+ )?(?:addresses|hosts|urls|ips|sites|pages|websites) only\b` +
		`|\b(?:private|internal|loopback|link-local|reserved)\b(?:[\w ,/-]{0,40}) ?(?:address|host|url|ip|network|range|resource|service)\w*\b[^.;]{0,40}\b(?:block|refuse|reject|denie|forbidden|prevent|not (?:allowed|permitted|reachable))` +
		`|\b(?:blocks?|refuses?|rejects?|denies|forbids?|prevents?|never|protect\w* against)\b[^.;]{0,60}\b(?:private|internal|loopback|link-local|reserved|localhost)\b` +
		`|\bSSRF\b|\bserver-side request forgery\b`)
	// fewHosts are sentences that say that only some hosts are reached.
	fewHosts = lazyregexp.New(`(?i)\b(?:allow-?listed|whitelisted|allowed|permitted|approved|trusted) (?:\w+ )?(?:hosts?|domains?|sites?|urls?|origins?)\b` +
		`|\bonly\b[^.;]{0,60}\b(?:hosts?|domains?|sites?|urls?)\b|\bonly (?:from|to) [\w-]+(?:\.[\w-]+)+`)
	// onlyWord is the word of refusals that name the allowed host.
	onlyWord = lazyregexp.New(`(?i)\bonly\b`)
	// private matches refusals because of where an address lies.
	private = lazyregexp.New(`(?i)\b(?:private|internal|local|localhost|loopback|link-local|reserved|restricted|metadata|ssrf)\b`)
)

// findBrokenGuards finds hosts that were reached past a guard.
func findBrokenGuards(in Input) []draft {
	all := findMailed(in)
	left := in.Attack.left()
	for _, a := range in.Attack.Attempts {
		e, proven := in.Attack.contacted(a, left)
		if a.Family != attack.Egress || !proven {
			continue
		}
		severity, why := report.SeverityHigh, "honest values were a part of the host's name, its port, or the path behind it"
		if a.Aim != attack.AimPart {
			severity, why = in.passes(a, left)
		}
		if severity == "" {
			continue
		}
		did, object := "tried to connect to "+endpoint(e), "private addresses"
		switch a.Aim {
		case attack.AimFile:
			did = "opened " + clean(e.Path, 256)
		case attack.AimForeign, attack.AimBeside, attack.AimPart:
			did, object = action(e), "other hosts"
		}
		all = append(all, draft{
			severity: severity, phase: report.PhaseCall, capability: a.Of, behind: e.AlternativeCause, object: object,
			message: sentence("%s %s, where its argument %s led %s (%s); %s", capital(name(a.Of)), did, quoted(a.Field), a.Form,
				quoted(clean(a.Value, 160)), why),
			evidence: e.Evidence(),
		})
	}
	return all
}

// contacted returns the effect by which an attempt of family Egress reached its target, by its own call or by one that
// uses what it stored.
func (a Attack) contacted(try attack.Attempt, left map[place]profile.Effect) (profile.Effect, bool) {
	if try.Aim == attack.AimFile {
		return a.to(try, left)
	}
	for _, e := range a.Profile.Effects {
		if e.Kind == profile.KindConnect && !lookup(e) && try.Family == attack.Egress && leadsThere(try, e) && (e.Capability == try.Of || a.storedLast(try, e)) {
			return e, true
		}
	}
	return profile.Effect{}, false
}

// storedLast reports whether an attempt was the last one before an effect that may have stored what its capability uses:
// attempts on several tools have the same ports.
func (a Attack) storedLast(try attack.Attempt, e profile.Effect) bool {
	return try.Using(e.Capability) && !try.Sent.After(e.Time) && !slices.ContainsFunc(a.Attempts, func(each attack.Attempt) bool {
		return each.Using(e.Capability) && each.Sent.After(try.Sent) && !each.Sent.After(e.Time)
	})
}

// leadsThere reports whether a connection is the target of an attempt.
func leadsThere(a attack.Attempt, e profile.Effect) bool {
	address, err := netip.ParseAddr(e.Address)
	switch {
	case a.Aim == attack.AimAllowed:
		return strings.EqualFold(e.Host, a.Allowed)
	case a.Aim == attack.AimPart:
		host, end := strings.ToLower(e.Host), inputs.Mark{Call: a.Call}.Host()
		return host == end || strings.HasSuffix(host, "."+end) || strings.HasSuffix(host, "-"+end)
	case slices.Contains([]attack.Aim{attack.AimName, attack.AimForeign, attack.AimBeside, attack.AimSibling}, a.Aim):
		call, marked := inputs.Marked(e.Host)
		return marked && call == a.Call
	case err != nil || !a.Led(address, e.Port):
		return false
	case a.Aim == attack.AimPublic:
		return address == attack.PublicAddress
	}
	return !public(address)
}

// public reports whether an address is on the internet.
func public(address netip.Addr) bool {
	address = address.Unmap()
	return address.IsGlobalUnicast() && !address.IsPrivate()
}

// addressGuard has the results of an attempt's controls: which aims undisguised values reached, and
// which were refused.
type addressGuard struct {
	reached, refused map[attack.Aim]bool
	// speaks is set if a refusal mentions private addresses. few quotes one that limits the hosts to some; "" for none.
	speaks bool
	few    string
}

func (in Input) addressGuardOf(a attack.Attempt, left map[place]profile.Effect) addressGuard {
	g := addressGuard{reached: map[attack.Aim]bool{}, refused: map[attack.Aim]bool{}}
	for _, control := range in.Attack.controls(a) {
		_, reached := in.Attack.contacted(control, left)
		g.reached[control.Aim] = reached
		g.refused[control.Aim] = !reached && refused(control)
		g.speaks = g.speaks || g.refused[control.Aim] && private.MatchString(control.Answer)
		if answer := control.Answer; control.Aim == attack.AimName && g.refused[control.Aim] && (fewHosts.MatchString(answer) || onlyWord.MatchString(answer) && strings.Contains(answer, a.Allowed)) {
			g.few = "another host was refused with " + quoted(clean(answer, 160))
		}
	}
	return g
}

// passes says what an attempt that reached its host has broken: the tool's declaration, or a
// guard that refused the undisguised value. The severity is "" if nothing.
func (in Input) passes(a attack.Attempt, left map[place]profile.Effect) (report.Severity, string) {
	g := in.addressGuardOf(a, left)
	switch a.Aim {
	case attack.AimForeign, attack.AimBeside:
		if g.onlyAllowed(a.Aim) {
			return report.SeverityHigh, in.saying(a.Of, fewHosts, "another host was refused where it hid nothing")
		}
		return "", ""
	case attack.AimLed:
		return in.followed(a, g)
	case attack.AimName, attack.AimAllowed, attack.AimSibling, attack.AimPublic:
		return "", ""
	}
	if !g.reached[attack.AimName] {
		return "", ""
	}
	return in.passesInside(a, g, left)
}

// followed judges a redirect from the allowed host to this machine: nothing for a tool that has not said that it reaches
// only some hosts, because it may trust these; and Medium, because the allowed host has to redirect.
func (in Input) followed(a attack.Attempt, g addressGuard) (report.Severity, string) {
	why := in.saying(a.Of, fewHosts, g.few)
	if !g.onlyAllowed(a.Aim) || why == "" {
		return "", ""
	}
	return report.SeverityMedium, why
}

// passesInside is passes for the aims that are not public.
func (in Input) passesInside(a attack.Attempt, g addressGuard, left map[place]profile.Effect) (report.Severity, string) {
	if other := in.guardedElsewhere(a, left); other != "" {
		return report.SeverityHigh, other + " refuses the same"
	}
	said := publicOnly.MatchString(in.saidOf(a.Of))
	why := in.saying(a.Of, publicOnly, "the same was refused where it hid nothing")
	switch {
	case !a.Control && g.lets(a.Aim, said):
		return severityOf(a.Aim, said), why
	case a.Control && said:
		return report.SeverityHigh, why
	case a.Control && a.Aim != attack.AimLoopback && g.refused[attack.AimLoopback] && (g.speaks || g.reached[attack.AimPublic]):
		return report.SeverityMedium, "127.0.0.1 was refused"
	}
	return "", ""
}

// guardedElsewhere names another argument of the tool, or another tool, that refuses private addresses and takes the
// same kind of address; "" for none.
func (in Input) guardedElsewhere(a attack.Attempt, left map[place]profile.Effect) string {
	if a.Aim != attack.AimLoopback || !a.Control {
		return ""
	}
	for _, other := range in.Attack.Attempts {
		if other.Aim != a.Aim || other.Family != a.Family || !in.refusesPrivate(other) {
			continue
		}
		stored := slices.ContainsFunc(other.Users, func(user report.Capability) bool { return slices.Contains(a.Users, user) })
		switch like := in.forAnyHost(a) && in.addressGuardOf(other, left).reached[attack.AimName]; {
		case other.Of == a.Of && other.Place != a.Place && like:
			return "its argument " + quoted(other.Field)
		case other.Of != a.Of && sameKey(other.Field, a.Field) && (stored || like):
			return name(other.Of)
		}
	}
	return ""
}

// forAnyHost reports whether nothing says that an argument is for the user's own services.
func (in Input) forAnyHost(a attack.Attempt) bool {
	return !ofService.MatchString(a.Field) && !ofLocal.MatchString(in.saidOf(a.Of))
}

// refusesPrivate reports whether an undisguised private address was refused because it is private.
func (in Input) refusesPrivate(a attack.Attempt) bool {
	return a.Control && refused(a) && (private.MatchString(a.Answer) || publicOnly.MatchString(in.saidOf(a.Of)))
}

var (
	// ofService matches arguments for addresses of the user's own services, which may be private.
	ofService = lazyregexp.New(`(?i)proxy|endpoint|base|server|api|instance|host|broker|gateway|webdriver|cdp`)
	// ofLocal matches texts of tools that reach such services.
	ofLocal = lazyregexp.New(`(?i)\b(?:local\w*|private|internal|intranet|lan|self-?hosted|on-prem\w*|127\.0|any (?:url|host|address)\w*)\b`)
)

// sameKey reports whether two paths in arguments end in the same key.
func sameKey(a, b string) bool {
	return a[strings.LastIndexByte(a, '.')+1:] == b[strings.LastIndexByte(b, '.')+1:]
}

// onlyAllowed reports whether the guard lets only the allowed host through, and for AimBeside no other
// of its domain.
func (g addressGuard) onlyAllowed(aim attack.Aim) bool {
	return g.refused[attack.AimName] && g.reached[attack.AimAllowed] && (aim != attack.AimBeside || g.refused[attack.AimSibling])
}

// lets reports whether the guard refuses an aim and accepts other addresses: one that accepts none
// or all guards nothing.
func (g addressGuard) lets(aim attack.Aim, said bool) bool {
	if aim != attack.AimPrivate && aim != attack.AimLinkLocal {
		aim = attack.AimLoopback
	}
	return g.refused[aim] && (g.speaks || g.reached[attack.AimPublic] || said)
}

// severityOf returns how bad it is when a guard lets a form through.
func severityOf(aim attack.Aim, said bool) report.Severity {
	switch {
	case said, aim == attack.AimLoopback, aim == attack.AimFile:
		return report.SeverityHigh
	}
	return report.SeverityMedium
}

// saying quotes the bound that a tool declares, or else returns otherwise.
func (in Input) saying(of report.Capability, bound *lazyregexp.Regexp, otherwise string) string {
	for said := range strings.SplitSeq(in.saidOf(of), ".") {
		if bound.MatchString(said) {
			return "it says " + quoted(clean(strings.TrimSpace(said), 160))
		}
	}
	return otherwise
}
