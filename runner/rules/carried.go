package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/credential"
)

// Carried is a credential of the server's own in what it answered.
type Carried struct {
	credential.Credential
	Output report.Output
}

// sighting is a credential and where it stands.
type sighting struct {
	credential.Credential
	of    report.Capability
	phase report.Phase
	// where, as "its answer".
	where  string
	detail string
}

// findCarried finds credentials that a server contains and gives away: one finding for each
// capability.
func findCarried(in Input) []draft {
	byCapability := map[report.Capability][]sighting{}
	var order []report.Capability
	for _, s := range in.carried() {
		if byCapability[s.of] == nil {
			order = append(order, s.of)
		}
		byCapability[s.of] = append(byCapability[s.of], s)
	}
	var all []draft
	for _, of := range order {
		found := byCapability[of]
		slices.SortStableFunc(found, func(a, b sighting) int { return ownSeverity(b).Rank() - ownSeverity(a).Rank() })
		message := sentence("%s gives away in %s %s, which the audit did not give it", capital(name(of)), found[0].where, whichOnes(found))
		for _, s := range found {
			all = append(all, draft{
				severity: ownSeverity(found[0]), phase: s.phase, capability: of, object: name(of), message: message,
				evidence: report.Evidence{
					Time: report.At(in.End), Attribution: report.AttributionInFlight,
					Detail: clean(s.detail, 200) + ": " + s.What + ", " + clean(credential.Shorten(s.Value), 40),
				},
			})
		}
	}
	return all
}

// ownSeverity returns High for credentials that may be valid.
func ownSeverity(s sighting) report.Severity {
	if s.Live {
		return report.SeverityHigh
	}
	return report.SeverityMedium
}

// whichOnes names the first three credentials.
func whichOnes(found []sighting) string {
	var names []string
	for _, s := range found {
		if text := s.What + " (" + clean(credential.Shorten(s.Value), 40) + ")"; !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	const shown = 3
	if len(names) > shown {
		names = append(names[:shown], "others")
	}
	return strings.Join(names, ", ")
}

// CarriedValues returns the credentials found in the server's answers and its manifest.
func CarriedValues(in Input) (values []string) {
	for _, s := range in.carried() {
		values = append(values, s.Value)
		if escaped, err := json.Marshal(s.Value); err == nil {
			values = append(values, string(escaped[1:len(escaped)-1]))
		}
	}
	return values
}

// carried returns the credentials in answers and in the manifest, except of capabilities
// that declare to make credentials.
func (in Input) carried() (all []sighting) {
	for _, c := range in.Carried {
		if !in.makesCredentials(c.Output.Capability) {
			all = append(all, sighting{c.Credential, c.Output.Capability, report.PhaseCall, whereIn(c.Output), c.Output.Method + " " + string(c.Output.Kind)})
		}
	}
	in.eachText(func(of report.Capability, field, text string) {
		for _, c := range credential.Find(text) {
			if shown(field, c) && !in.makesCredentials(of) {
				all = append(all, sighting{c, of, report.PhaseList, "its " + clean(field, 100), field})
			}
		}
	})
	return all
}

// shown reports whether a credential in the manifest is more than an example: values in a
// schema, and texts that only look random, show callers what to write.
func shown(field string, c credential.Credential) bool {
	last := field[strings.LastIndexByte(field, '.')+1:]
	value := last == "default" || last == "examples" || last == "enum" || last == "const" || last == "pattern"
	return c.Live && !value || c.Kind == credential.Labelled && (field == "description" || field == "instructions")
}

// makesCredentials reports whether the purpose of a capability is to make credentials.
func (in Input) makesCredentials(of report.Capability) bool {
	own := in.Scope.Own(of)
	return own.Mentions("generate", "generates", "generator", "create", "creates", "random", "signs", "encodes", "issues", "mock", "fake") &&
		own.Mentions("password", "passwords", "passphrase", "key", "keys", "keypair", "token", "tokens", "jwt", "secret", "secrets", "credential", "credentials", "certificate", "certificates")
}

func whereIn(out report.Output) string {
	return "its " + strings.TrimPrefix(strings.TrimPrefix(kindOf(out), "an "), "a ")
}
