package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// bounded matches sentences that limit a server to a directory.
var bounded = lazyregexp.New(`(?i)\b(?:allowed|permitted|allow-?listed|whitelisted|sandboxed|authorized|accessible) (?:root )?(?:director|folder|path|root|location)` +
	`|\b(?:in|from|under|of) (?:the |your |its |this |a )?(?:workspace|sandbox|vault)\b` +
	`|\b(?:within|inside|restricted to|limited to|confined to) (?:the |your |its |this |a )?(?:\w+ )?` +
	`(?:workspace|sandbox|vault|(?:project|base|root|working|workspace) (?:director|folder|root))` +
	`|\b(?:nothing|never|no (?:file|path|access|other)s?)\b[^.;]{0,24} (?:outside|beyond|elsewhere)\b`)

// nowhereElse matches the same limit without a word for the outside.
var nowhereElse = lazyregexp.New(`(?i)\b(?:and|but) nowhere else\b|\band only there\b|\b(?:of|in|from|to) no other (?:director|folder|location)`)

// onlyIn matches limits to a directory of the server's choice, or of the caller's, which its adjective tells.
var onlyIn = lazyregexp.New(`(?i)\bonly\b[^.;:]{0,24} (?:inside|within|below|under|in|from) (?:the|its|this) (?:([a-z]+)(?: [a-z]+)? )?(?:directory|folder)\b`)

// ofCaller are adjectives of directories that a call names.
var ofCaller = []string{"given", "specified", "provided", "chosen", "selected", "requested", "named", "target", "current", "same", "source", "destination"}

// limits reports whether a sentence limits a server to a directory. A link in it that leads outside breaks only what
// is said of the outside as well.
func limits(said string, link bool) bool {
	only := onlyIn.FindStringSubmatch(said)
	own := only != nil && !slices.Contains(ofCaller, strings.ToLower(only[1])) || nowhereElse.MatchString(said)
	return (own && !link || bounded.MatchString(said)) && !unbound.MatchString(said)
}

// confines matches instructions that limit all tools of a server.
var confines = lazyregexp.New(`(?i)\bnothing (?:outside|beyond|else)\b|\bnowhere else\b`)

// unbound matches sentences that only name a default, or let the caller choose the directory.
var unbound = lazyregexp.New(`(?i)\bdefaults?\b|\bif (?:omitted|not|none)\b` +
	`|\b(?:path|root|director(?:y|ie)|folder|location)s? (?:of|to|for) (?:the |your |its |a |an |this )?(?:workspace|sandbox|vault)s?(?:$|[,.;:(]| (?:root|director|folder))`)

// lifts matches texts that say that an empty setting lifts a limit.
var lifts = lazyregexp.New(`(?i)\b(?:empty|unset)\b[^.;]{0,40}\b(?:allows?|grants?|gives?|means?|permits?)\b[^.;]{0,16}` +
	`\b(?:full|unrestricted|unlimited|complete|any|every|all|entire|whole)\b[^.;]{0,24}\b(?:access|file ?systems?|files|director(?:y|ies)|paths?)\b`)

// lifted reports whether a tool says that all directories are allowed unless some are set, and the operator has set none.
func (in Input) lifted() bool {
	return len(in.Roots()) == 0 && slices.ContainsFunc(manifest.Items(report.CapabilityTool, in.Manifest.Tools), func(i manifest.Item) bool {
		return lifts.MatchString(report.Head(i.Description, maxDescription))
	})
}

// speaksOfFiles matches descriptions that allow the URL of a file.
var speaksOfFiles = lazyregexp.New(`(?i)\bfiles?\b|\bpaths?\b|\blocal\b|file:`)

// saysFiles reports whether a tool says that it opens files, or drives a browser, which does.
func (in Input) saysFiles(of report.Capability) bool {
	return speaksOfFiles.MatchString(in.saidOf(of)) ||
		in.Scope.Covering(of).Mentions("browser", "browsers", "navigate", "navigates", "chrome", "chromium", "playwright", "puppeteer")
}

func findTraversals(in Input) []draft {
	return append(in.ledOutHonestly(), in.ledOutByAttack()...)
}

// ledOutByAttack finds files outside that were touched by the attempts on guards.
func (in Input) ledOutByAttack() (all []draft) {
	left := in.Attack.left()
	for _, a := range in.Attack.Attempts {
		e, proven := in.Attack.to(a, left)
		if a.Family != attack.Path || !proven || in.Attack.held(a, e) {
			continue
		}
		severity, why := report.SeverityHigh, "it was the name of a file in an archive that was unpacked"
		switch {
		case a.Archive:
		case a.Of.Kind == report.CapabilityResource:
			severity, why = in.beyond(a)
		default:
			severity, why = in.breaks(a, left)
		}
		if severity == "" {
			continue
		}
		all = append(all, draft{
			severity: severity, phase: report.PhaseCall, capability: a.Of, behind: e.AlternativeCause, object: inputs.OutsideDir,
			message: sentence("%s %s %s, where its argument %s led %s (%s); %s", capital(name(a.Of)), reached(e), clean(e.Path, 256), quoted(a.Field),
				a.Form, quoted(clean(a.Value, 120)), why),
			evidence: e.Evidence(),
		})
	}
	return all
}

// held reports whether an attempt accessed a file outside without breaking a guard.
func (a Attack) held(try attack.Attempt, e profile.Effect) bool {
	return a.lookedAt(try, e) || a.staysAbove(try)
}

// staysAbove reports whether an attempt led to a sibling of the directory of the honest value, while another
// directory beside it is accessible as well: the tool's bound is then the directory above.
func (a Attack) staysAbove(try attack.Attempt) bool {
	return try.Sibling && slices.ContainsFunc(a.Attempts, func(each attack.Attempt) bool {
		return each.Neighbour && each.Of == try.Of && each.Place == try.Place && slices.ContainsFunc(a.Profile.Effects, func(e profile.Effect) bool {
			number, ok := inputs.NeighbourNumber(e.Path)
			return ok && number == each.File && each.Using(e.Capability) && isAccess(e) && e.Error == "" && !a.lookedAt(each, e)
		})
	})
}

// lookedAt reports whether a file was opened to find out where it lies, and then refused: nothing
// was read from it, or nothing came of that.
func (a Attack) lookedAt(try attack.Attempt, e profile.Effect) bool {
	switch {
	case e.Kind != profile.KindRead || !refused(try) || strings.Contains(try.Answer, outsideText):
		return false
	case !try.Accepted && denies.MatchString(try.Answer):
		return true
	}
	return !slices.ContainsFunc(a.Profile.Effects, func(other profile.Effect) bool {
		number, _ := inputs.OutsideNumber(other.Path, a.Lures)
		return other.Kind == profile.KindLoad && other.Capability == try.Of && number == try.File
	})
}

// outsideText is the content of the files outside.
var outsideText = strings.TrimSpace(string(inputs.OutsideNote.Content))

// denies matches refusals because of where a path leads.
var denies = lazyregexp.New(`(?i)\b(?:outside|denied|not allowed|not permitted|forbidden|traversal|escapes?|must be (?:with)?in|not (?:with)?in)\b`)

// otherwise matches refusals because of what a file is, wherever it lies.
var otherwise = lazyregexp.New(`(?i)\bexists\b|\boverwrit|\bend(?:s|ing)? (?:in|with)\b|\bextensions?\b|\bsuffix`)

// breaks says what an attempt that led outside violates: the tool's description, a guard
// that refused the undisguised path, or the directory that honest values were joined
// to. The severity is "" for a tool without any of these.
func (in Input) breaks(a attack.Attempt, left map[place]profile.Effect) (severity report.Severity, why string) {
	if said := in.boundBy(a); said != "" {
		return report.SeverityHigh, said
	}
	if a.Link {
		return "", "" // a link may lead outside on purpose
	}
	dir, g := in.joinedTo(a), in.guard(a, left)
	switch {
	case a.URL || a.Markup:
		return in.unsaid(a, g)
	case !g.open && g.refused && !a.Control:
		return report.SeverityHigh, "the same path was refused where it hid nothing"
	case g.denied && (!g.absolute || dir != ""):
		return report.SeverityHigh, "the same path was denied where it was written otherwise"
	case dir == "" || g.absolute && inputs.IsPath(a.Field):
		return "", ""
	}
	return report.SeverityMedium, "honest values were the names of files in " + clean(dir, 128)
}

// unsaid judges that a URL or a document led to a file: nothing for a tool that is said to open files.
func (in Input) unsaid(a attack.Attempt, g guard) (severity report.Severity, why string) {
	what := "URL"
	if a.Markup {
		what = "text"
	}
	if a.URL && g.open || in.saysFiles(a.Of) {
		return "", ""
	}
	return report.SeverityMedium, "it takes a " + what + ", and does not say that files are among what it opens"
}

// beyond judges the read of a URI that no list has: High if the server states a bound, nothing if a
// template covers such URIs.
func (in Input) beyond(a attack.Attempt) (severity report.Severity, why string) {
	if said := in.boundBy(a); said != "" {
		return report.SeverityHigh, said
	}
	scheme, _, _ := strings.Cut(a.Of.Name, "://")
	templated := slices.ContainsFunc(manifest.Items(report.CapabilityResourceTemplate, in.Manifest.ResourceTemplates), func(i manifest.Item) bool {
		return strings.HasPrefix(i.Name, scheme+":") || strings.HasPrefix(i.Name, "{")
	})
	if templated {
		return "", ""
	}
	return report.SeverityMedium, "it is a resource of its own, and no template says that there are others"
}

// guard sums up the undisguised attempts at one place: one led outside, did so as an absolute path, was refused,
// was refused because of where it leads.
type guard struct{ open, absolute, refused, denied bool }

func (in Input) guard(a attack.Attempt, left map[place]profile.Effect) (g guard) {
	for _, control := range in.Attack.controls(a) {
		if e, led := in.Attack.to(control, left); led && !in.Attack.lookedAt(control, e) {
			g.open, g.absolute = true, g.absolute || strings.HasPrefix(control.Value, "/")
		} else if refused(control) && !otherwise.MatchString(control.Answer) {
			g.refused, g.denied = true, g.denied || denies.MatchString(control.Answer)
		}
	}
	return g
}

// boundBy quotes the text that limits a capability to a directory; "" for none.
func (in Input) boundBy(a attack.Attempt) string {
	if in.lifted() {
		return ""
	}
	if clause, ok := in.statedBound(a.Of, a.Link); ok {
		return whose(clause, a.Of)
	}
	for said := range strings.SplitSeq(in.saidOf(a.Of), ".") {
		if limits(said, a.Link) {
			return "it says " + quoted(clean(said, 160))
		}
	}
	if a.Link {
		return ""
	}
	for said := range strings.SplitSeq(report.Head(manifest.Text(in.Manifest.Instructions), maxDescription), ". ") {
		if limits(said, false) && confines.MatchString(said) {
			return "the server's instructions say " + quoted(clean(said, 160))
		}
	}
	return ""
}

// joinedTo returns the directory of its own that a tool has joined an honest value to, or an absolute path; "" for
// none, for the working directory, and for one that an argument named.
func (in Input) joinedTo(a attack.Attempt) string {
	if dir := in.keptIn(a); dir != "" {
		return dir
	}
	if a.Honest == "" || path.IsAbs(a.Honest) || strings.HasPrefix(a.Honest, ".") {
		return ""
	}
	for _, e := range in.Attack.Profile.Effects {
		if !a.Using(e.Capability) || in.Attack.isAttempt(e.Path) || !isAccess(e) {
			continue
		}
		if dir := attack.JoinedTo(a.Honest, e.Path); dir != "" && in.ownDir(dir, a.Of) {
			return dir
		}
		dir, base := path.Split(e.Path)
		dir = path.Clean(dir)
		if path.Base(dir) == a.Honest { // it names the directory in which another name is looked for
			dir, base = path.Dir(dir), a.Honest
		}
		if names(a.Honest, base) && in.ownDir(dir, a.Of) {
			return dir
		}
	}
	return ""
}

// names reports whether a value is the name of a file, that without its ending, or a word in it.
func names(value, base string) bool {
	return base == value || strings.TrimSuffix(base, path.Ext(base)) == value || attack.PartOf(value, base)
}

// keptIn returns the directory that an undisguised absolute path stayed in.
func (in Input) keptIn(a attack.Attempt) string {
	for _, control := range in.Attack.controls(a) {
		if !path.IsAbs(control.Value) {
			continue
		}
		for _, e := range in.Attack.Profile.Effects {
			dir, _, found := strings.Cut(e.Path, control.Value)
			if found && dir != "" && a.Using(e.Capability) && isAccess(e) && in.ownDir(path.Clean(dir), a.Of) {
				return path.Clean(dir)
			}
		}
	}
	return ""
}

// isAttempt reports whether a path is the target of an attempt.
func (a Attack) isAttempt(name string) bool {
	_, numbered := inputs.OutsideNumber(name, a.Lures)
	_, beside := inputs.NeighbourNumber(name)
	return numbered || beside || inputs.Outside(name)
}

// isAccess reports whether an effect accessed a file, or tried to.
func isAccess(e profile.Effect) bool {
	switch e.Kind {
	case profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete, profile.KindAttempt:
		return true
	}
	return false
}

// ownDir reports whether the server has chosen a directory itself: it was neither started there, nor has an
// argument named it.
func (in Input) ownDir(dir string, of report.Capability) bool {
	if slices.Contains([]string{in.Dir, in.Home, "/", "/tmp"}, dir) {
		return false
	}
	return !slices.ContainsFunc(in.Arguments[of], func(a Argument) bool { return path.IsAbs(a.Value) && places.Within(dir, path.Clean(a.Value)) })
}

// ledOutHonestly finds files outside that the arguments of the exercise led to.
func (in Input) ledOutHonestly() []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		if !inputs.Outside(e.Path) || e.Capability.Kind == report.CapabilityServer {
			return false
		}
		d.object = inputs.OutsideDir
		did := subject(e) + " " + reached(e) + " " + clean(e.Path, 256) + `, where an argument with ".." led`
		d.severity = report.SeverityHigh
		if clause, ok := in.statedBound(e.Capability, false); ok && !in.lifted() {
			d.message = sentence("%s; %s", did, whose(clause, e.Capability))
			return true
		}
		if in.AsksForRoots() {
			d.message = sentence("%s; the server had asked for the client's roots, and it lies in none of them", did)
			return true
		}
		roots := in.Roots()
		if len(roots) == 0 || slices.ContainsFunc(roots, func(root string) bool { return root == "/" || places.Below(e.Path, root) }) {
			return false
		}
		d.severity = report.SeverityMedium
		d.message = sentence("%s; the server was started for %s", did, clean(strings.Join(roots, ", "), 256))
		return true
	}, profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete)
}

// statedBound returns the sentence that limits a capability, or the server, to a directory.
func (in Input) statedBound(of report.Capability, link bool) (scope.Clause, bool) {
	for _, clause := range in.Scope.Covering(of).Files {
		if limits(clause.Quote, link) {
			return clause, true
		}
	}
	return scope.Clause{}, false
}

// reached describes what was done outside.
func reached(e profile.Effect) string {
	switch e.Kind {
	case profile.KindRead:
		return "opened"
	case profile.KindList:
		return "listed"
	}
	return change(e)
}

// Roots returns the directories on the command line that the server has opened, or something below them, or
// has tried to.
func (in Input) Roots() []string {
	var found []string
	for i, arg := range in.Command {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		arg = path.Clean(arg)
		if i == 0 || !path.IsAbs(arg) || path.Ext(arg) != "" || systemic(arg) || slices.Contains(found, arg) {
			continue
		}
		if arg == "/" || slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
			return places.Below(e.Path, arg) || e.Path == arg && e.Kind == profile.KindList
		}) {
			found = append(found, arg)
		}
	}
	return found
}
