package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The rules of the findings of Compare.
const (
	RuleManifestChanged = "MCPA-MANIFEST-001"
	RuleBehaviorChanged = "MCPA-BEHAVIOR-001"
	RuleEnablesMore     = "MCPA-EXPOSURE-001"
)

// The mitigations of the findings of Compare.
const (
	MitigateManifestChanged = "Review the difference (mcpaudit diff) and approve it by pinning the new digest in spec.baseline, or keep to the " +
		"approved image by its digest."
	MitigateBehaviorChanged = "Compare the two reports (mcpaudit diff), and hold the server to what it needs: an egress policy for hosts, " +
		"a read-only root file system and mounts for places, an image without the programs."
	MitigateEnablesMore = "Review what the new version enables, leave out the tools that nobody needs, or keep to the image that was reviewed, by its " +
		"digest. A policy of the gate can deny it by spec.exposure."
)

// Compare compares a report with that of the baseline; it returns nil if nothing differs. It
// skips a manifest that was not listed completely, and the behaviour of an incomplete audit.
func Compare(baseline, r Report) (*BaselineDrift, []Finding) {
	drift := BaselineDrift{ManifestDigest: baseline.ManifestDigest, BehaviorDigest: baseline.Behavior.Digest}
	var all []Finding
	renewed := false
	if was, is := baseline.ManifestDigest, r.ManifestDigest; was != "" && is != "" && was != is {
		renewed = true
		drift.Manifest = Diff(baseline.Manifest, r.Manifest)
		all = append(all, manifestChanged(baseline, r, drift.Manifest))
	}
	if was, is := baseline.Behavior.Digest, r.Behavior.Digest; was != "" && is != "" && was != is {
		drift.Behavior = DiffBehavior(baseline.Behavior, r.Behavior)
		if len(drift.Behavior.Added) > 0 && alike(baseline, r) {
			all = append(all, behaviorChanged(baseline, r, drift.Behavior, renewed))
		}
	}
	if drift.Exposure = Enabled(baseline, r); len(drift.Exposure) > 0 {
		all = append(all, enablesMore(r, drift.Exposure, renewed))
	}
	if outgrown(baseline, r) {
		all = append(all, found(r, RuleBehaviorChanged, SeverityMedium, MitigateBehaviorChanged, "Behaviour changed since the baseline", PhaseCall,
			"The server did so much more than in the audit of the baseline that what it did cannot be compared.",
			fmt.Sprintf("at least %d entries, baseline %d", len(r.Behavior.Entries), len(baseline.Behavior.Entries))))
		return &drift, all
	}
	if !renewed && drift.Behavior.Empty() && len(drift.Exposure) == 0 {
		return nil, nil
	}
	return &drift, all
}

// outgrown reports whether the server, unlike in the baseline, did more than a report keeps.
func outgrown(baseline, r Report) bool {
	return baseline.Behavior.Digest != "" && r.Behavior.Digest == "" && r.Incomplete == nil && len(r.Behavior.Entries) > 0
}

// manifestChanged is the finding that a manifest is not the baseline's. The reports may not
// have the part that changed.
func manifestChanged(baseline, r Report, drift Drift) Finding {
	severity, message := SeverityHigh, "The manifest is not the one of the baseline"
	if !drift.Empty() && DiffByName(baseline.Manifest.spoken(), r.Manifest.spoken()).Empty() {
		severity = SeverityLow
		message += ", in times, numbers, ids or the order of a list only"
	}
	if !drift.Empty() {
		message += ": " + drift.brief()
	}
	message += "."
	if c, ok := drift.telling(); ok {
		message += fmt.Sprintf(" In %s, %s: %s -> %s.", Cut(c.Capability, 100), Cut(c.Field, 100), quote(c.Before), quote(c.After))
	}
	return found(r, RuleManifestChanged, severity, MitigateManifestChanged, "Manifest changed since the baseline", PhaseList, message,
		fmt.Sprintf("manifest digest %s, baseline %s", r.ManifestDigest, baseline.ManifestDigest))
}

// behaviorChanged is the finding that the server does something new.
func behaviorChanged(baseline, r Report, drift BehaviorDrift, renewed bool) Finding {
	severity := SeverityLow
	if slices.ContainsFunc(drift.Added, grave) {
		severity = SeverityMedium
	}
	severity, manifest := besideManifest(severity, renewed)
	version := ""
	if was, is := baseline.Server.Version, r.Server.Version; was != is {
		version = fmt.Sprintf(", version %s was %s", quote(is), quote(was))
	}
	message := fmt.Sprintf("The server did what it had not done in the audit of the baseline (%s%s): %s.", manifest, version, few(drift.Added))
	return found(r, RuleBehaviorChanged, severity, MitigateBehaviorChanged, "Behaviour changed since the baseline", PhaseCall, message,
		fmt.Sprintf("behaviour digest %s, baseline %s", r.Behavior.Digest, baseline.Behavior.Digest))
}

// besideManifest lowers a severity to Info if the manifest was renewed: the server may
// well have to do more. It also says what became of the manifest.
func besideManifest(severity Severity, renewed bool) (Severity, string) {
	if renewed {
		return SeverityInfo, "the manifest has changed as well"
	}
	return severity, "the manifest is the same"
}

// enablesMore is the finding that the server enables something new.
func enablesMore(r Report, enabled []string, renewed bool) Finding {
	severity, manifest := besideManifest(SeverityMedium, renewed)
	return found(r, RuleEnablesMore, severity, MitigateEnablesMore, "Enables more than the baseline", PhaseCall,
		fmt.Sprintf("The server enables what it did not in the audit of the baseline (%s): %s.", manifest, few(enabled)),
		fmt.Sprintf("exposure %d %s", r.Exposure.Score, r.Exposure.Level))
}

func found(r Report, rule string, severity Severity, mitigation, title string, phase Phase, message, detail string) Finding {
	return Finding{
		Rule: rule, Severity: severity, Title: title, Message: message,
		Phase: phase, Capability: Capability{Kind: CapabilityServer}, Mitigation: mitigation,
		Evidence: []Evidence{{Time: r.EndTime, Detail: detail, Attribution: AttributionPhase}},
	}
}

// telling returns the most important change: a text that a model reads before a hint, and a
// hint before the rest.
func (d Drift) telling() (Change, bool) {
	weight := func(c Change) int {
		switch {
		case c.Before == "" && c.After == "":
			return -1
		case c.Field == "description", c.Field == "instructions":
			return 3
		case strings.HasSuffix(c.Field, ".description"):
			return 2
		case strings.HasPrefix(c.Field, "annotations"):
			return 1
		}
		return 0
	}
	if len(d.Changes) == 0 {
		return Change{}, false
	}
	most := slices.MaxFunc(d.Changes, func(a, b Change) int { return cmp.Compare(weight(a), weight(b)) })
	return most, weight(most) >= 0
}

// brief is String with only a few names of each kind.
func (d Drift) brief() string {
	for _, names := range []*[]string{&d.Added, &d.Removed, &d.Changed, &d.Renamed} {
		if len(*names) > 0 {
			*names = []string{few(*names)}
		}
	}
	return d.String()
}

// few lists some of many: "a, b, c and 7 more".
func few(names []string) string {
	const most = 5
	var some []string
	for _, name := range names[:min(len(names), most)] {
		some = append(some, Cut(name, 100))
	}
	text := strings.Join(some, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// quote quotes a text and escapes characters that could hide or reorder it; "none" if empty.
func quote(text string) string {
	if text == "" {
		return "none"
	}
	quoted := strconv.Quote(Cut(text, 240))
	if strings.ContainsRune("{[", rune(text[0])) { // JSON has quotes of its own
		quoted = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
	}
	return quoted
}
