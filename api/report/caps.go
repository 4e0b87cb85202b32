package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the most that the JSON of a capped report can have: it has to fit
// an etcd object (1.5 MiB by default) with room to spare, and a container log.
const MaxBytes = 256 << 10

// The caps of the lists and texts of a report: items, or bytes of UTF-8. The
// schema of MCPAuditReport enforces the same numbers.
const (
	MaxFindings      = 256
	MaxEvidence      = 4
	MaxItems         = 512
	MaxCapabilities  = 512
	MaxEffects       = 64
	MaxArgs          = 64
	MaxErrors        = 32
	MaxCaptures      = 64
	MaxOutputs       = 64
	MaxOrigins       = 4
	MaxDrifts        = 4
	MaxGaps          = 16
	MaxNoise         = 32
	MaxSamples       = 64
	MaxTruncations   = 32
	MaxDrift         = 32
	MaxChanges       = 32
	MaxScope         = 128
	MaxAllowed       = 64
	MaxBehavior      = 512
	MaxRiskParts     = 24
	MaxDefinition    = 8192
	MaxCodePaths     = 64
	MaxCodePathBytes = 256
	MaxChangeBytes   = 1024
	MaxNameBytes     = 256
	MaxMessageBytes  = 1024
	MaxDetailBytes   = 512
	MaxDescription   = 2048
	MaxPathBytes     = 512
	MaxArgBytes      = 128
	MaxStderrBytes   = 4096
	maxSummaryBytes  = 3 << 10
	maxSummaryReason = 512
)

// shrinkSteps shrink the lists of profile and manifest when a report within all single caps
// is still larger than MaxBytes: the record gives way before the findings do.
var shrinkSteps = []limits{
	{effects: MaxEffects, outputs: MaxOutputs, capabilities: MaxCapabilities, description: 512, definition: 2048, items: MaxItems, findings: MaxFindings},
	{effects: 16, outputs: 32, capabilities: MaxCapabilities, description: 128, definition: 512, items: MaxItems, findings: MaxFindings},
	{effects: 8, outputs: 16, capabilities: 256, description: 32, items: MaxItems, findings: MaxFindings},
	{effects: 4, outputs: 8, capabilities: 128, items: 256, findings: MaxFindings},
	{effects: 4, outputs: 4, capabilities: 64, items: 128, findings: 128},
	{effects: 2, outputs: 2, capabilities: 16, items: 32, findings: 64},
	{findings: 20},
}

// limits are the caps that give way when a report is too large as a whole.
type limits struct{ effects, outputs, capabilities, description, definition, items, findings int }

// Cap trims every list and text to its cap, and then the longest lists further
// until the JSON has at most MaxBytes. What was left out is added to Truncated,
// and a Pass of which something was left out becomes Inconclusive. Texts become
// valid UTF-8. The worst findings are kept: they come first afterwards.
func (r *Report) Cap() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return b.Severity.weight() - a.Severity.weight() })
	t := &trimmer{dropped: map[string]int{}}
	t.report(r, limits{MaxEffects, MaxOutputs, MaxCapabilities, MaxDescription, MaxDefinition, MaxItems, MaxFindings})
	for _, step := range shrinkSteps {
		if size(r) <= MaxBytes {
			break
		}
		t.report(r, step)
	}
	if size(r) > MaxBytes {
		t.tight = true
		t.report(r, shrinkSteps[len(shrinkSteps)-1])
	}
	for field, n := range t.dropped {
		r.truncated(field, n)
	}
	slices.SortFunc(r.Truncated, func(a, b Truncation) int { return strings.Compare(a.Field, b.Field) })
	r.Truncated = r.Truncated[:min(len(r.Truncated), MaxTruncations)]
	if len(r.Truncated) > 0 && r.Verdict == VerdictPass {
		r.Verdict, r.Reason = VerdictInconclusive, ReasonReportTruncated
		r.Message = fmt.Sprintf("the report had to leave out %d of %s", r.Truncated[0].Dropped, r.Truncated[0].Field)
	}
}

// weight is Rank with unknown severities on top, as Count has them.
func (s Severity) weight() int {
	if rank := s.Rank(); rank >= 0 {
		return rank
	}
	return len(Severities)
}

func (r *Report) truncated(field string, n int) {
	for i := range r.Truncated {
		if r.Truncated[i].Field == field {
			r.Truncated[i].Dropped += n
			return
		}
	}
	r.Truncated = append(r.Truncated, Truncation{Field: field, Dropped: n})
}

// size is the number of bytes of the JSON with the list of truncations full.
func size(r *Report) int {
	const truncations = 4 << 10
	b, err := json.Marshal(r)
	if err != nil {
		return MaxBytes + 1
	}
	return len(b) + truncations
}

// trimmer cuts lists and texts and counts what it left out.
type trimmer struct {
	dropped map[string]int
	// tight is the last resort against texts of which every byte becomes six in
	// JSON, such as controls: all of them are cut to a tightness-th of their caps.
	tight bool
}

const tightness = 16

func (t *trimmer) report(r *Report, to limits) {
	r.Findings = cut(t, "findings", r.Findings, to.findings)
	for i := range r.Findings {
		t.finding(&r.Findings[i])
	}
	t.server(&r.Server)
	t.text("message", &r.Message, MaxMessageBytes)
	if r.Incomplete != nil {
		t.excerpt(&r.Incomplete.Message, MaxMessageBytes)
	}
	r.Errors = cut(t, "errors", r.Errors, MaxErrors)
	for i := range r.Errors {
		t.text("errors.text", &r.Errors[i], MaxMessageBytes)
	}
	for _, list := range []struct {
		field string
		items *[]Item
	}{
		{"manifest.tools", &r.Manifest.Tools}, {"manifest.resources", &r.Manifest.Resources},
		{"manifest.resourceTemplates", &r.Manifest.ResourceTemplates}, {"manifest.prompts", &r.Manifest.Prompts},
	} {
		*list.items = cut(t, list.field, *list.items, to.items)
		for i := range *list.items {
			t.item(&(*list.items)[i], to)
		}
	}
	t.excerpt(&r.Manifest.Instructions, MaxDescription)
	fit(&r.Manifest.Definition, MaxDefinition)
	t.record(r, to)
	t.privileges(r.Privileges, to)
	if odd := func(path string) bool { return len(path) > MaxCodePathBytes || !utf8.ValidString(path) }; t.tight || len(r.CodePaths) > MaxCodePaths || slices.ContainsFunc(r.CodePaths, odd) {
		r.CodePaths = nil // half of them are as good as none
	}
	r.Profile.Capabilities = cut(t, "profile.capabilities", r.Profile.Capabilities, to.capabilities)
	for i := range r.Profile.Capabilities {
		t.profile(&r.Profile.Capabilities[i], to.effects)
	}
}

// record trims what illustrates the findings and is no part of them: a sample by
// design, so that what is left out of it makes no audit incomplete.
func (t *trimmer) record(r *Report, to limits) {
	r.Captures = r.Captures[:min(len(r.Captures), MaxCaptures, to.effects)]
	for i := range r.Captures {
		c := &r.Captures[i]
		t.excerpt(&c.Address, MaxPathBytes)
		for _, text := range []*string{&c.Host, &c.Request, &c.Capability.Name} {
			t.excerpt(text, MaxNameBytes)
		}
		t.excerpt(&c.Excerpt, MaxDetailBytes)
	}
	r.Outputs = r.Outputs[:min(len(r.Outputs), to.outputs)]
	for i := range r.Outputs {
		t.output(&r.Outputs[i])
	}
	r.Drifts = r.Drifts[:min(len(r.Drifts), MaxDrifts)]
	for i := range r.Drifts {
		t.drift(&r.Drifts[i].Drift, to)
	}
	t.judgement(r, to)
	rows := &r.Exercise
	*rows = (*rows)[:min(len(*rows), to.capabilities)]
	for i := range *rows {
		t.excerpt(&(*rows)[i].Name, MaxNameBytes)
	}
	r.Unobserved = r.Unobserved[:min(len(r.Unobserved), MaxGaps)]
	for i := range r.Unobserved {
		t.excerpt(&r.Unobserved[i].Detail, MaxDetailBytes)
	}
	r.Noise = r.Noise[:min(len(r.Noise), MaxNoise)]
	for i := range r.Noise {
		n := &r.Noise[i]
		n.Samples = n.Samples[:min(len(n.Samples), MaxSamples, to.effects)]
		for j := range n.Samples {
			t.excerpt(&n.Samples[j], MaxPathBytes)
		}
	}
}

func (t *trimmer) drift(d *Drift, to limits) {
	for _, names := range []*[]string{&d.Added, &d.Removed, &d.Changed, &d.Renamed} {
		t.names(names, min(MaxDrift, max(4, to.effects)))
	}
	d.Changes = d.Changes[:min(len(d.Changes), MaxChanges, to.effects)]
	for i := range d.Changes {
		c := &d.Changes[i]
		t.excerpt(&c.Capability, 2*MaxNameBytes)
		t.excerpt(&c.Field, MaxNameBytes)
		t.excerpt(&c.Before, MaxChangeBytes)
		t.excerpt(&c.After, MaxChangeBytes)
	}
}

// judgement trims what says how the findings came to be.
func (t *trimmer) judgement(r *Report, to limits) {
	t.behavior(&r.Behavior, to)
	r.Risk.Parts = r.Risk.Parts[:min(len(r.Risk.Parts), MaxRiskParts)]
	for i := range r.Risk.Parts {
		t.excerpt(&r.Risk.Parts[i].Because, MaxNameBytes)
	}
	if d := r.DeclaredScope; d != nil {
		for _, list := range []*[]string{&d.Egress, &d.ReadPaths, &d.WritePaths, &d.Exec, &d.Listen} {
			t.names(list, MaxAllowed)
		}
	}
	r.Scope = r.Scope[:min(len(r.Scope), MaxScope, max(16, 2*to.effects))]
	for i := range r.Scope {
		c := &r.Scope[i]
		for _, text := range []*string{&c.Capability.Name, &c.Field, &c.Means, &c.Quote} {
			t.excerpt(text, MaxNameBytes)
		}
	}
	if b := r.Baseline; b != nil {
		t.drift(&b.Manifest, to)
		t.names(&b.Behavior.Added, MaxDrift)
		t.names(&b.Behavior.Removed, MaxDrift)
	}
}

// behavior trims the entries. What was cut can be compared with nothing.
func (t *trimmer) behavior(b *Behavior, to limits) {
	whole := len(b.Entries)
	t.names(&b.Entries, min(MaxBehavior, max(16, 8*to.effects)))
	if len(b.Entries) < whole {
		b.Digest = ""
	}
}

// names trims a list of short texts that is a sample by design.
func (t *trimmer) names(list *[]string, most int) {
	*list = (*list)[:min(len(*list), most)]
	for i := range *list {
		t.excerpt(&(*list)[i], MaxPathBytes)
	}
}

func (t *trimmer) output(o *Output) {
	t.excerpt(&o.Capability.Name, MaxNameBytes)
	t.excerpt(&o.Method, MaxArgBytes)
	t.excerpt(&o.Arguments, MaxDetailBytes)
	t.excerpt(&o.Text, MaxMessageBytes)
	o.Origins = o.Origins[:min(len(o.Origins), MaxOrigins)]
	for i := range o.Origins {
		t.excerpt(&o.Origins[i], MaxNameBytes)
	}
}

func (t *trimmer) server(s *ServerRun) {
	t.text("server.name", &s.Name, MaxNameBytes)
	t.text("server.version", &s.Version, MaxNameBytes)
	t.text("server.protocolVersion", &s.ProtocolVersion, MaxNameBytes)
	t.excerpt(&s.Exit, MaxNameBytes)
	if over := len(s.Stderr) - MaxStderrBytes; over > 0 {
		s.Stderr = s.Stderr[over:] // the end is what explains an exit
	}
	t.excerpt(&s.Stderr, MaxStderrBytes)
	t.excerpt(&s.URL, MaxPathBytes)
	s.Command = cut(t, "server.command", s.Command, MaxArgs)
	for i := range s.Command {
		t.excerpt(&s.Command[i], MaxPathBytes)
	}
}

func (t *trimmer) finding(f *Finding) {
	t.excerpt(&f.Title, MaxNameBytes)
	t.excerpt(&f.Message, MaxMessageBytes)
	t.excerpt(&f.Mitigation, MaxDetailBytes)
	if f.Suppressed != nil {
		t.excerpt(&f.Suppressed.Reason, MaxDetailBytes)
	}
	t.excerpt(&f.Capability.Name, MaxNameBytes)
	f.Evidence = f.Evidence[:min(len(f.Evidence), MaxEvidence)] // more of the same: a sample by design
	for i := range f.Evidence {
		t.excerpt(&f.Evidence[i].Syscall, MaxNameBytes)
		t.excerpt(&f.Evidence[i].Detail, MaxDetailBytes)
	}
}

func (t *trimmer) item(i *Item, to limits) {
	t.text("manifest.name", &i.Name, MaxNameBytes)
	t.excerpt(&i.Title, MaxNameBytes)
	t.excerpt(&i.Description, to.description)
	fit(&i.Definition, to.definition)
}

// fit leaves out a JSON text that is too long: half of it could not be read.
func fit(text *string, limit int) {
	if len(*text) > limit {
		*text = ""
	}
}

func (t *trimmer) profile(c *CapabilityProfile, effects int) {
	t.excerpt(&c.Name, MaxNameBytes)
	before := c.effects()
	for _, files := range []*[]FileAccess{&c.Reads, &c.Writes, &c.Deletes, &c.Attempts} {
		*files = (*files)[:min(len(*files), effects)]
		for i := range *files {
			t.excerpt(&(*files)[i].Path, MaxPathBytes)
		}
	}
	c.Execs = c.Execs[:min(len(c.Execs), effects)]
	for i := range c.Execs {
		t.excerpt(&c.Execs[i].Path, MaxPathBytes)
		c.Execs[i].Argv = c.Execs[i].Argv[:min(len(c.Execs[i].Argv), MaxArgs/4)]
		for j := range c.Execs[i].Argv {
			t.excerpt(&c.Execs[i].Argv[j], MaxArgBytes)
		}
	}
	for _, ends := range []*[]Connection{&c.Connects, &c.Listens} {
		*ends = (*ends)[:min(len(*ends), effects)]
		for i := range *ends {
			t.excerpt(&(*ends)[i].Address, MaxPathBytes)
			t.excerpt(&(*ends)[i].Host, MaxNameBytes)
		}
	}
	// The findings were judged on the whole profile, so a shortened record of
	// it makes no audit incomplete: it is counted where it happened.
	c.Dropped += before - c.effects()
}

// effects returns how many effects are listed.
func (c *CapabilityProfile) effects() int {
	return len(c.Reads) + len(c.Writes) + len(c.Deletes) + len(c.Attempts) + len(c.Execs) + len(c.Connects) + len(c.Listens)
}

// text cuts a text whose loss has to be known.
func (t *trimmer) text(field string, s *string, limit int) {
	before := len(*s)
	if t.excerpt(s, limit) {
		t.dropped[field] += before - len(*s)
	}
}

// cutMark stands where a text was cut.
const cutMark = "…"

// excerpt cuts a text that is an excerpt by its nature and marks the cut. It
// looks at no more of a text than it can keep.
func (t *trimmer) excerpt(s *string, limit int) (over bool) {
	if t.tight {
		limit /= tightness
	}
	over = len(*s) > limit
	if over {
		end := max(limit-len(cutMark), 0)
		for end > 0 && !utf8.RuneStart((*s)[end]) {
			end--
		}
		*s = (*s)[:end]
	}
	*s = strings.ToValidUTF8(*s, "?")
	if over && *s != "" {
		*s += cutMark
	}
	return over
}

func cut[T any](t *trimmer, field string, list []T, limit int) []T {
	if over := len(list) - limit; over > 0 {
		t.dropped[field] += over
		return list[:limit]
	}
	return list
}
