package probe

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// target is one advertised capability, and how far it was exercised.
type target struct {
	of   report.Capability
	rank rank
	// form makes its arguments; nil where there are none to make.
	form *inputs.Form
	// schema is a tool's inputSchema; nil when what it is called with was given.
	schema map[string]json.RawMessage
	// input is a tool's inputSchema, whatever it is called with, said its description.
	input json.RawMessage
	said  string
	// task: it can only be called as a task.
	task bool
	// parameters are the names of what completion/complete can be asked for.
	parameters []string

	// idempotent: it says that another call of the same changes nothing more, which is
	// still to be tried. twice: it is being tried.
	idempotent, twice bool

	// unlisted: a tool names it, and no list has it.
	unlisted bool
	// out: it is not called any more. skipped is the reason, one of the constants of
	// report.CapabilityCoverage, which it may have without being out.
	out     bool
	skipped string
	// again is the call that later rounds repeat, marked its request, and shown the length of its answer.
	again         inputs.Case
	marked, shown int
	// early is the first call that varied it.
	early inputs.Case
	// denied is a refused call, one that a model would make if there was one.
	denied inputs.Case
	// sized is the size of the pool when the form had nothing new.
	sized int
	// sent, accepted and answered count calls, turns those of this round.
	sent, accepted, answered, timeouts, turns int
	// excused counts the accepted calls whose result reports a failure.
	excused int
	// spent is the time of all calls, slowest that of the slowest, limit how long the last one had.
	spent, slowest, limit time.Duration
}

// slowCall is the least time of a slow call. A slow target is called once in each round, and if an earlier session has
// shown that it is slow, in slowRounds only.
const (
	slowCall   = 2 * time.Second
	slowRounds = 2
)

func (t *target) slow() bool { return t.timeouts > 0 || t.slowest >= slowCall }

// source names the target where a value came from.
func (t *target) source() string { return t.of.String() }

// enlist makes targets of the new items of a manifest, and returns their number.
// An item that is listed twice makes one.
func (s *session) enlist(m manifest.Manifest) int {
	before, pages := len(s.targets), []string{}
	for _, item := range manifest.Items(report.CapabilityTool, m.Tools) {
		s.tools[item.Name] = true
		pages = append(pages, page(item))
	}
	for _, k := range kinds {
		for _, raw := range *m.List(k.of) {
			item := manifest.Items(k.of, []json.RawMessage{raw})[0]
			of := report.Capability{Kind: k.of, Name: item.Name}
			switch {
			case item.Name == "":
				s.fail(report.ReasonProtocolError, "the server lists a %s without a name", of)
			case !s.known[of]:
				s.aim(of, item)
			}
		}
	}
	for _, uri := range pages {
		of := report.Capability{Kind: report.CapabilityResource, Name: uri}
		if _, has := s.advertised["resources"]; has && uri != "" && !s.known[of] {
			s.aim(of, manifest.Item{Name: uri}).unlisted = true
		}
	}
	return len(s.targets) - before
}

// aim makes a target of an item.
func (s *session) aim(of report.Capability, item manifest.Item) *target {
	s.known[of] = true
	t := s.target(of, item)
	s.targets = append(s.targets, t)
	if !t.out {
		s.waiting++
	}
	return t
}

// page returns the URI of the page of an MCP App that a tool names (SEP-1865), which no list need have; "" for none.
func page(item manifest.Item) string {
	meta := manifest.Object(item.Members["_meta"])
	uri := cmp.Or(manifest.Text(manifest.Object(meta["ui"])["resourceUri"]), manifest.Text(meta["ui/resourceUri"]))
	if !strings.HasPrefix(uri, "ui://") {
		return ""
	}
	return uri
}

func (s *session) target(of report.Capability, item manifest.Item) *target {
	t := &target{of: of, rank: rankOf(of.Kind, item), said: item.Description, sized: -1}
	if t.skipped = s.excluded(of, item); t.skipped != "" {
		t.out = true
	}
	if s.options.ListOnly {
		return t // it needs no arguments
	}
	if !s.hasTime() { // hostile schemas, and many of them, take long to read
		t.out, t.skipped = true, cmp.Or(t.skipped, report.SkippedBudget)
		return t
	}
	o := s.options.Inputs
	o.About, o.Said, o.Seed, o.Tools, o.Ways = item.Name, item.Description, s.options.Seed, s.tools, &s.ways
	switch of.Kind {
	case report.CapabilityTool:
		t.input = item.Members["inputSchema"]
		o.Given = s.options.Given[item.Name]
		if o.Given == nil {
			t.schema = manifest.Object(t.input)
		}
		t.form = inputs.NewForm(t.input, o)
		t.idempotent = hinted(item, "idempotentHint") && !readOnlyHinted(item)
		t.task = manifest.Text(manifest.Object(item.Members["execution"])["taskSupport"]) == "required"
	case report.CapabilityPrompt:
		t.form = inputs.NewPromptForm(item.Members["arguments"], o)
		t.parameters = promptArguments(item.Members["arguments"])
	case report.CapabilityResourceTemplate:
		form, err := inputs.NewTemplateForm(item.Name, o)
		if err != nil {
			s.fail(report.ReasonProtocolError, "the template %q: %v", sample([]byte(item.Name)), err)
			t.out = true
			break
		}
		t.form, t.parameters = form, templateVariables(item.Name)
	case report.CapabilityResource:
		uri, _ := json.Marshal(map[string]string{"uri": item.Name}) // of strings: no error
		t.again = inputs.Case{Arguments: uri}
		s.pool.Result("resources/list", uri)
	}
	named := t.parameters
	if of.Kind == report.CapabilityTool {
		named = slices.Collect(maps.Keys(manifest.Object(manifest.Object(t.input)["properties"])))
	}
	s.pool.Description(t.source(), item.Description, named...)
	return t
}

// excluded returns why an item is never called; "" when it may be.
func (s *session) excluded(of report.Capability, item manifest.Item) string {
	o := s.options
	switch {
	case o.Calls == report.CallsNever:
		return report.SkippedByCalls
	case of.Kind != report.CapabilityTool:
		return ""
	case s.skip[of.Name]:
		return report.SkippedByName
	case o.Calls == report.CallsReadOnlyHinted && !readOnlyHinted(item):
		return report.SkippedByCalls
	case manifest.Text(manifest.Object(item.Members["execution"])["taskSupport"]) == "required" && !s.hasTasks():
		return report.SkippedTask
	}
	return ""
}

// readOnlyHinted reports whether a tool has the hint that it only reads.
func readOnlyHinted(item manifest.Item) bool { return hinted(item, "readOnlyHint") }

func hinted(item manifest.Item, hint string) bool {
	return string(manifest.Object(item.Members["annotations"])[hint]) == "true"
}
