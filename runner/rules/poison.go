package rules

import (
	"encoding/json"
	"hash/maphash"
	"maps"
	"net/url"
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
	all := in.directing(in.Manifest, in.texts, func(string) bool { return true })
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
		for _, d := range in.directing(other.Manifest, textsOf(other.Manifest), fresh) {
			d.when = other.When
			all = append(all, d)
		}
	}
	return all
}

// directing reads those of a manifest's texts that are fresh.
func (in Input) directing(m manifest.Manifest, texts []text, fresh func(text string) bool) []directive {
	named, arguments, switches := namesIn(texts), map[report.Capability]poison.Names{}, map[text]bool{}
	eachOf(texts, func(of report.Capability, field, is string) {
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
	free, purposes, anywhere := freeArguments(m), purposesOf(texts, manifest.Text(m.ServerName)), poison.NamesOf()
	for _, names := range free {
		maps.Copy(anywhere, names)
	}
	var all []directive
	eachOf(texts, func(of report.Capability, field, is string) {
		if is == "" || !fresh(is) {
			return
		}
		kind := textKind(of, field)
		if kind == poison.KindParameter && switches[text{of: of, field: strings.TrimSuffix(field, ".description")}] {
			kind = poison.KindSwitch
		}
		found := poison.Read(spoken(field, is), poison.Context{
			Kind: kind, Own: of.Name, Parameters: arguments[of], Free: free[of], Anywhere: anywhere, Argument: argumentOf(field, is, free[of]), Purpose: purposes[of], Tools: named.tools, Kinds: named.kinds, Family: named.family,
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

// spoken writes the type and the address of a resource as they would be read: without quotes, escapes and the signs between words.
func spoken(field, text string) string {
	switch field {
	case "mimeType":
		return unquoted.Replace(text)
	case "uri", "uriTemplate":
		if decoded, err := url.PathUnescape(text); err == nil && strings.Count(decoded, "-")+strings.Count(decoded, " ") > mostSigns {
			return hyphens.Replace(decoded)
		}
	}
	return text
}

// mostSigns is the greatest number of signs between words of an address that is no sentence.
const mostSigns = 3

var (
	unquoted = strings.NewReplacer(`"`, " ", "'", " ", ";", ". ")
	hyphens  = strings.NewReplacer("://", ": ", "-", " ")
)

// toolNames holds the names of all tools and prompts, and their words; family is the prefix of all tools' names.
type toolNames struct {
	tools  poison.Names
	kinds  poison.Kinds
	family string
}

func namesIn(texts []text) toolNames {
	var names, tools []string
	eachOf(texts, func(of report.Capability, field, text string) {
		if !isTool(of, field) {
			return
		}
		names = append(names, text)
		if of.Kind == report.CapabilityTool {
			tools = append(tools, text)
		}
	})
	return toolNames{tools: poison.NamesOf(names...), kinds: poison.KindsOf(names...), family: poison.FamilyOf(tools)}
}

// isTool reports whether a text is the name of a tool or a prompt.
func isTool(of report.Capability, field string) bool {
	return field == "name" && (of.Kind == report.CapabilityTool || of.Kind == report.CapabilityPrompt)
}

// purposesOf returns the words that say what each tool and prompt is for: its name, titles and description, and the name
// of its server.
func purposesOf(texts []text, server string) map[report.Capability]poison.Names {
	all := map[report.Capability]poison.Names{}
	eachOf(texts, func(of report.Capability, field, text string) {
		if field != "name" && field != "title" && field != "description" && field != "annotations.title" {
			return
		}
		if all[of] == nil {
			all[of] = poison.NamesOf()
			all[of].AddWords(server)
		}
		all[of].AddText(text)
	})
	return all
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

// freeArguments returns the arguments of each tool and prompt that take any text, also those within others.
func freeArguments(m manifest.Manifest) map[report.Capability]poison.Names {
	all := map[report.Capability]poison.Names{}
	for _, item := range manifest.Items(report.CapabilityTool, m.Tools) {
		free := poison.NamesOf()
		var schema any
		if json.Unmarshal(item.Members["inputSchema"], &schema) == nil {
			addFree(free, schema, 0)
		}
		all[report.Capability{Kind: report.CapabilityTool, Name: item.Name}] = free
	}
	for _, item := range manifest.Items(report.CapabilityPrompt, m.Prompts) {
		free := poison.NamesOf()
		var arguments []map[string]json.RawMessage
		if json.Unmarshal(item.Members["arguments"], &arguments) == nil {
			for _, argument := range arguments {
				free.Add(manifest.Text(argument["name"]))
			}
		}
		all[report.Capability{Kind: report.CapabilityPrompt, Name: item.Name}] = free
	}
	return all
}

// naming are the keywords of JSON Schema whose members are schemas by name, grouping those with schemas of the same
// value.
var (
	naming   = []string{"properties", "patternProperties", "$defs", "definitions"}
	grouping = []string{"items", "additionalProperties", "anyOf", "oneOf", "allOf"}
)

// addFree adds the names of a schema's members that take any text.
func addFree(free poison.Names, schema any, depth int) {
	members, _ := schema.(map[string]any)
	if len(members) == 0 || depth > maxWalk {
		return
	}
	for _, keyword := range naming {
		named, _ := members[keyword].(map[string]any)
		for name, one := range named {
			if takesText(one) {
				free.Add(name)
			}
			addFree(free, one, depth+1)
		}
	}
	for _, keyword := range grouping {
		for _, one := range schemasIn(members[keyword]) {
			addFree(free, one, depth+1)
		}
	}
}

// takesText reports whether a schema allows any text, maybe among other values.
func takesText(schema any) bool {
	members, _ := schema.(map[string]any)
	return freeText(members) || slices.ContainsFunc(slices.Concat(schemasIn(members["anyOf"]), schemasIn(members["oneOf"])), func(one any) bool {
		choice, _ := one.(map[string]any)
		return freeText(choice)
	})
}

// schemasIn returns the schemas of a list, or the only one.
func schemasIn(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}

// argumentOf returns the free argument that a text of the manifest belongs to or names; "" for none.
func argumentOf(field, is string, free poison.Names) string {
	if last := lastOf(field); slices.Contains(naming, last) || last == "required" || field == "arguments.name" {
		if free.Has(is) {
			return is
		}
		return ""
	}
	parts := strings.Split(field, ".")
	for i := len(parts) - 2; i > 0; i-- {
		if slices.Contains(naming, parts[i-1]) && free.Has(parts[i]) {
			return parts[i]
		}
	}
	return ""
}

// ownWord reports whether a text of the manifest is the name of an argument of the tool, or a value of one.
func ownWord(field, text string) bool {
	return len(text) <= 100 && (slices.Contains([]string{"properties", "enum", "const", "default", "required"}, lastOf(field)) || field == "arguments" || field == "arguments.name")
}

// lastOf returns the last part of a field's path.
func lastOf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

func ofResource(of report.Capability) bool {
	return of.Kind == report.CapabilityResource || of.Kind == report.CapabilityResourceTemplate
}

// fixing are the keywords of JSON Schema that have values.
var fixing = []string{"enum", "const", "default", "examples", "pattern"}

// textKind returns the kind of a text in the manifest, by its path.
func textKind(of report.Capability, field string) poison.Kind {
	first, _, _ := strings.Cut(field, ".")
	switch last := lastOf(field); {
	case of.Kind == report.CapabilityServer && field == "instructions":
		return poison.KindInstructions
	case last == "name" && ofResource(of):
		return poison.KindTitle
	case last == "name" || last == "properties" || last == "required":
		return poison.KindName
	case slices.Contains(fixing, last):
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
	return graded(technique, func(poison.Finding) report.Severity { return severity })
}

// whenSure is High for what a text plainly says, else Medium.
func whenSure(f poison.Finding) report.Severity {
	if f.Confidence >= leastSure {
		return report.SeverityHigh
	}
	return report.SeverityMedium
}

func graded(technique poison.Technique, severity func(poison.Finding) report.Severity) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		for _, d := range in.directives {
			if d.Technique == technique {
				f := directingDraft(in, d)
				f.severity = severity(d.Finding)
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
