package rules

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/poison"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// directive is a passage of the manifest that directs the model.
type directive struct {
	of    report.Capability
	field string
	poison.Finding
	when string // see Output
}

// directives reads all texts of the manifests, each text once.
func directives(in Input) []directive {
	all := in.directing(in.Manifest, func(string) bool { return true })
	if len(in.Others) == 0 {
		return all
	}
	seed, known := maphash.MakeSeed(), map[uint64]bool{}
	fresh := func(text string) bool {
		sum := maphash.String(seed, text)
		defer func() { known[sum] = true }()
		return !known[sum]
	}
	in.eachText(func(_ report.Capability, _, text string) { fresh(text) })
	for _, other := range in.Others {
		for _, d := range in.directing(other.Manifest, fresh) {
			d.when = other.When
			all = append(all, d)
		}
	}
	return all
}

// directing reads the texts of a manifest that are fresh.
func (in Input) directing(m manifest.Manifest, fresh func(text string) bool) []directive {
	named, arguments, switches := namesIn(m), map[report.Capability]poison.Names{}, map[text]bool{}
	eachText(m, func(of report.Capability, field, is string) {
		if argument, isType := strings.CutSuffix(field, ".type"); isType {
			key := text{of: of, field: argument}
			only, seen := switches[key]
			switches[key] = is == "boolean" && (only || !seen) // one of several types may take a text
		}
		if isTool(of, field) || !ownWord(field, is) {
			return
		}
		if arguments[of] == nil {
			arguments[of] = poison.NamesOf()
		}
		arguments[of].Add(is)
	})
	free := freeArguments(m)
	var all []directive
	eachText(m, func(of report.Capability, field, is string) {
		if is == "" || !fresh(is) {
			return
		}
		kind := textKind(of, field)
		if kind == poison.KindParameter && switches[text{of: of, field: strings.TrimSuffix(field, ".description")}] {
			kind = poison.KindSwitch
		}
		found := poison.Read(is, poison.Context{
			Kind: kind, Own: of.Name, Parameters: arguments[of], Free: free[of], Argument: argumentOf(field, free[of]), Tools: named.tools, Kinds: named.kinds, Family: named.family,
		})
		hidden := alsoHidden(is, poison.Declared)
		for _, f := range found {
			if !hidden(f.Quote) && !in.reads(of, f.Place) {
				all = append(all, directive{of: of, field: field, Finding: f})
			}
		}
	})
	return all
}

// toolNames holds the names of all tools and prompts, and their words; family is the prefix of all tools' names.
type toolNames struct {
	tools, kinds poison.Names
	family       string
}

func namesIn(m manifest.Manifest) toolNames {
	all := toolNames{tools: poison.NamesOf(), kinds: poison.NamesOf()}
	var tools []string
	eachText(m, func(of report.Capability, field, text string) {
		if !isTool(of, field) {
			return
		}
		all.tools.Add(text)
		all.kinds.AddWords(text)
		if of.Kind == report.CapabilityTool {
			tools = append(tools, text)
		}
	})
	all.family = poison.FamilyOf(tools)
	return all
}

// isTool reports whether a text is the name of a tool or a prompt.
func isTool(of report.Capability, field string) bool {
	return field == "name" && (of.Kind == report.CapabilityTool || of.Kind == report.CapabilityPrompt)
}

// reads reports whether the server itself has read a secret of the kind that a place holds, so that a text
// with that place describes the server.
func (in Input) reads(of report.Capability, place string) bool {
	named, ok := places.Locate(place)
	return place != "" && ok && slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
		read, is := places.Locate(e.Path)
		return e.Kind == profile.KindRead && is && read.What == named.What && (e.Capability == of || e.Capability.Kind == report.CapabilityServer)
	})
}

// freeArguments returns the arguments of each tool that take any text.
func freeArguments(m manifest.Manifest) map[report.Capability]poison.Names {
	all := map[report.Capability]poison.Names{}
	for _, item := range manifest.Items(report.CapabilityTool, m.Tools) {
		of := report.Capability{Kind: report.CapabilityTool, Name: item.Name}
		for name, raw := range manifest.Object(manifest.Object(item.Members["inputSchema"])["properties"]) {
			if !freeText(manifest.Object(raw)) {
				continue
			}
			if all[of] == nil {
				all[of] = poison.NamesOf()
			}
			all[of].Add(name)
		}
	}
	return all
}

// argumentOf returns the free argument that a field of the manifest belongs to; "" for none.
func argumentOf(field string, free poison.Names) string {
	of, _, ok := strings.Cut(strings.TrimPrefix(field, "inputSchema.properties."), ".")
	if !ok || of == field || !free.Has(of) {
		return ""
	}
	return of
}

// ownWord reports whether a text of the manifest is the name of an argument of the tool, or a value of one.
func ownWord(field, text string) bool {
	return len(text) <= 100 && (slices.Contains([]string{"properties", "enum", "const", "default", "required"}, lastOf(field)) || field == "arguments" || field == "arguments.name")
}

// lastOf returns the last part of a field's path.
func lastOf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// textKind returns the kind of a text in the manifest, by its path.
func textKind(of report.Capability, field string) poison.Kind {
	first, _, _ := strings.Cut(field, ".")
	switch last := lastOf(field); {
	case of.Kind == report.CapabilityServer && field == "instructions":
		return poison.KindInstructions
	case last == "name" || last == "properties" || last == "required":
		return poison.KindName
	case last == "enum" || last == "const" || last == "default" || last == "examples" || last == "pattern":
		return poison.KindValue
	case first == "outputSchema":
		return poison.KindOutputSchema
	case first == "inputSchema" || first == "arguments":
		return poison.KindParameter
	case last == "title":
		return poison.KindTitle
	}
	return poison.KindDescription
}

// directed finds one technique, and gives it a severity.
func directed(technique poison.Technique, severity report.Severity) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		for _, d := range in.directives {
			if d.Technique == technique {
				f := directingDraft(in, d)
				f.severity = severity
				all = append(all, f)
			}
		}
		return all
	}
}

// doings describe what a passage does, for the middle of a sentence.
var doings = map[poison.Technique]string{
	poison.Authority:         "claims authority over the model's other instructions",
	poison.ToolSequence:      "orders a call of another tool",
	poison.ParameterOverride: "changes what is passed to a call that is not its own",
	poison.Shadowing:         "puts another tool in the place of one that the server does not have",
	poison.Endless:           "demands ever more calls",
	poison.Concealment:       "has something kept from the user",
	poison.SensitiveData:     "asks for a file or a secret",
	poison.Redirection:       "sends data to an address that it fixes",
	poison.ContextRequest:    "asks for the model's prompt or conversation",
}

func directingDraft(in Input, d directive) draft {
	quote := strings.Join(strings.Fields(d.Quote), " ")
	tools := ""
	if len(d.Tools) > 0 {
		tools = " (" + clean(strings.Join(d.Tools, ", "), 80) + ")"
	}
	return draft{
		phase: report.PhaseList, capability: d.of, object: name(d.of),
		message:  inLaunch(d.when, sentence("The %s of %s %s%s: %s", clean(d.field, 100), name(d.of), doings[d.Technique], tools, quoted(quote))),
		evidence: evidenceAt(in.End, clean(d.of.String()+", "+d.field, 200)+": "+clean(quote, 400)),
	}
}

// inLaunch names the launch that a sentence is about, unless that is the exercise.
func inLaunch(when, sentence string) string {
	if when == "" {
		return sentence
	}
	return "Started again, " + when + ": " + sentence
}
