package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// Limits of a sentence and a warning in bytes of JSON, and of the number of warnings. The API
// server cuts longer warnings itself.
const (
	maxSentence = 1024
	maxWarning  = 256
	maxWarnings = 8
	// maxMore is the room for the text after the worst opinion.
	maxMore = 40
)

// caps are the limits tried in turn for each part of a sentence until it fits.
var caps = []int{320, 160, 80, 40}

// sentence returns what a policy found about a container, and the remedy if there is room.
// finding is the part after the image.
func (d *decider) sentence(o Opinion, read *image, limit int) (text, finding string) {
	head := ""
	for _, cut := range caps {
		for _, remedied := range []bool{true, false} {
			if !remedied && cut != caps[len(caps)-1] {
				continue
			}
			head, finding = d.compose(o, read, cut, remedied)
			text = head + ", " + finding
			if excerpt.Line(text, limit) == text {
				return text, finding
			}
		}
	}
	return excerpt.Line(text, limit), excerpt.Line(finding, limit)
}

// compose returns the two parts of a sentence, with names cut.
func (d *decider) compose(o Opinion, read *image, cut int, remedied bool) (head, finding string) {
	head = fmt.Sprintf("%s: %s %s", d.object(cut), containerText(o.Container, cut), imageText(o.Container.Image, read, cut))
	text := d.found(o, read, cut)
	if fix := d.remedy(o, read); remedied && fix != "" {
		text += ": " + fix
	}
	kind := "policy"
	if o.Policy.Namespace == "" {
		kind = "cluster policy"
	}
	return head, text + fmt.Sprintf(" (%s %s).", kind, excerpt.Line(o.Policy.Ref.Name, cut))
}

func (d *decider) object(cut int) string {
	if d.subject.Name == "" {
		return "new " + excerpt.Line(d.subject.Kind, cut)
	}
	return excerpt.Line(d.subject.Kind, cut) + " " + excerpt.Line(d.subject.Name, cut)
}

// containerText names a container and what it does: "container server runs".
func containerText(c Container, cut int) string {
	text := string(c.Role)
	if c.Name != text {
		text += " " + excerpt.Line(c.Name, cut)
	}
	if c.Role == RoleImageVolume {
		return text + " mounts"
	}
	return text + " runs"
}

// imageText returns the image as given; quoted if it is invalid, as it may contain anything.
func imageText(given string, read *image, cut int) string {
	if given == "" {
		return "an image that is not known"
	}
	if read.err != nil {
		return `"` + excerpt.Line(strings.ReplaceAll(given, `"`, "?"), cut) + `"`
	}
	return excerpt.Line(given, cut)
}

// found describes what a policy found.
func (d *decider) found(o Opinion, read *image, cut int) string {
	audit := ""
	if o.Verdict != nil {
		audit = excerpt.Line(o.Verdict.Audit.String(), cut)
	}
	switch {
	case o.Exception != nil:
		return fmt.Sprintf("which is admitted by the exception %s until %s, ticket %s", excerpt.Line(o.Exception.Name, cut),
			o.Exception.Expires.UTC().Format(time.RFC3339), excerpt.Line(o.Exception.Ticket, cut))
	case o.Policy.Invalid != "":
		return "which cannot be judged, because the policy cannot be read: " + excerpt.Line(o.Policy.Invalid, min(cut, maxInvalid))
	}
	switch o.Reason {
	case v1alpha1.GatePassed:
		return o.passed(audit, cut)
	case v1alpha1.GateFailed:
		return fmt.Sprintf("which failed its audit %s (%s)", audit, o.Policy.findings(o.Verdict))
	case v1alpha1.GateDrifted:
		return fmt.Sprintf("whose manifest is not the one of its baseline by the audit %s", audit)
	case v1alpha1.GateInconclusive:
		return fmt.Sprintf("whose audit %s could not observe everything (%s)", audit, excerpt.Line(o.Verdict.Reason, cut))
	case v1alpha1.GateStale:
		return d.stale(o, audit, cut)
	case v1alpha1.GateOtherPlatform:
		return fmt.Sprintf("which was audited for %s only, by %s, and may run on other nodes", excerpt.Line(o.Verdict.Architecture, cut), audit)
	case v1alpha1.GateOtherEnvironment:
		return "which was audited with other variables or another working directory, by " + audit
	case v1alpha1.GateOtherCommand:
		return d.otherCommand(o, audit, cut)
	case v1alpha1.GateNoDigest:
		return noDigest(read)
	case v1alpha1.GateAltered, v1alpha1.GateLittleExercised:
		return o.strict(audit, cut)
	case v1alpha1.GateWeaklyExercised, v1alpha1.GateExposureUnknown, v1alpha1.GateExposed:
		return o.short(audit, cut)
	}
	return notAudited(o.Container, read, cut)
}

// passed describes a pass, with its date if the last audit was Inconclusive.
func (o Opinion) passed(audit string, cut int) string {
	if o.Action == v1alpha1.ActionWarn {
		return fmt.Sprintf("whose audit %s could not observe everything (%s), and passed on %s", audit,
			excerpt.Line(o.Verdict.Reason, cut), o.Verdict.Passed.UTC().Format(time.DateOnly))
	}
	return "which passed its audit " + audit
}

// strict describes what the stricter checks found.
func (o Opinion) strict(audit string, cut int) string {
	if o.Alteration != nil {
		return fmt.Sprintf("which was audited by %s, %s", audit, excerpt.Line(o.Alteration.What, cut))
	}
	return fmt.Sprintf("whose audit %s exercised it less than by default: %s", audit, excerpt.Line(littleExercised(o.Verdict.Exercise), cut))
}

// short describes where a verdict falls short of the policy's bounds.
func (o Opinion) short(audit string, cut int) string {
	rests := o.Verdict.Assurance
	switch {
	case o.Reason == v1alpha1.GateExposed:
		return fmt.Sprintf("which enables more than the policy admits, by the audit %s: %s", audit, excerpt.Line(o.Policy.beyond(o.Verdict.Exposure), cut))
	case o.Reason == v1alpha1.GateExposureUnknown:
		return fmt.Sprintf("whose exposure, which the policy bounds, is not known by the audit %s: %s", audit, excerpt.Line(unexposed(o.Verdict), cut))
	case rests.Level == "":
		return fmt.Sprintf("whose audit %s does not record its assurance, and the policy asks for %s", audit, o.Policy.Gate.MinAssurance)
	}
	return fmt.Sprintf("whose audit %s rests on %s: its assurance is %s, and the policy asks for %s", audit,
		excerpt.Line(rests.Basis(), cut), excerpt.Line(string(rests.Level), cut), o.Policy.Gate.MinAssurance)
}

// noDigest explains why no verdict applies to the image that will run.
func noDigest(read *image) string {
	if read.digest != "" {
		return "which may be another image than was audited, as it was resolved by a node or is an ambiguous index"
	}
	return "which is named by a tag, not by a digest"
}

func (d *decider) otherCommand(o Opinion, audit string, cut int) string {
	switch {
	case o.Container.Unclear != "":
		return fmt.Sprintf("which the audit %s cannot be compared with: %s", audit, unclear(o.Container, cut))
	case !isComparable(o.Container):
		return fmt.Sprintf("with $(...) in its command or args, which the audit %s cannot be compared with", audit)
	}
	return "which was audited with another command or other args, by " + audit
}

func notAudited(container Container, read *image, cut int) string {
	switch {
	case container.Unclear != "":
		return "which no audit can be compared with: " + unclear(container, cut)
	case read.err != nil:
		return "which names no image"
	}
	return "which no audit that counts has a verdict on"
}

// unclear returns the reason without its full stop.
func unclear(container Container, cut int) string {
	return strings.TrimRight(excerpt.Line(container.Unclear, cut), ". ")
}

func (d *decider) stale(o Opinion, audit string, cut int) string {
	if o.Verdict.Halted {
		return fmt.Sprintf("whose audit %s is not renewed (%s)", audit, excerpt.Line(o.Verdict.Reason, cut))
	}
	return fmt.Sprintf("whose audit %s of %s is older than %s", audit, o.Verdict.Time.UTC().Format(time.DateOnly), o.Policy.Gate.MaxAge.Duration)
}

// findings lists the findings that count: "2 High findings".
func (p *Policy) findings(v *Verdict) string {
	var parts []string
	counts := p.counts(v)
	for i, count := range counts[:p.counting] {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, severities[i]))
		}
	}
	if p.counted(v) == 1 {
		return parts[0] + " finding"
	}
	return strings.Join(parts, ", ") + " findings"
}

// message is the sentence of a denial: the worst opinion, and how many more there are.
func (d *decider) message(denied []*Opinion) string {
	if len(denied) == 0 {
		return ""
	}
	slices.SortFunc(denied, worst)
	return d.shortened(denied[0], maxSentence-maxMore) + more(len(denied)-1)
}

// warnings returns the worst warnings, one each.
func (d *decider) warnings(warned []*Opinion) []string {
	slices.SortFunc(warned, worst)
	var all []string
	for i, o := range warned {
		if i == maxWarnings-1 && len(warned) > maxWarnings {
			return append(all, d.shortened(o, maxWarning-maxMore)+more(len(warned)-maxWarnings))
		}
		all = append(all, d.shortened(o, maxWarning))
	}
	return all
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" And %d more.", n)
}

// shortened returns the sentence of an opinion within a smaller limit.
func (d *decider) shortened(o *Opinion, limit int) string {
	if excerpt.Line(o.Sentence, limit) == o.Sentence {
		return o.Sentence
	}
	read := &image{}
	read.name, read.err = parse(o.Container.Image)
	text, _ := d.sentence(*o, read, limit)
	return text
}
