package rules

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Family is a group of rules, a section of docs/rules.md.
type Family struct {
	// ID is the middle of the ids of its rules: "EGRESS".
	ID           string
	Title, About string
	// Risk is the kind of risk of its findings; a rule may name another.
	Risk  string
	Rules []Rule
}

// Rule is one rule, for people and for the documentation.
type Rule struct {
	// ID is stable: suppressions and dashboards name it.
	ID string
	// Severity is the highest that the rule gives.
	Severity report.Severity
	// Title is the observation in a few words.
	Title string
	// Risk is the kind of risk of its findings, if not the family's.
	Risk string
	// Description says when the rule finds something.
	Description string
	// Severities say when a finding has which severity, if it varies.
	Severities []string
	// Exempt lists what is similar and no finding.
	Exempt []string
	// Fix says what the author of the server can do about it.
	Fix string
	// Expected are the false positives that are known to be possible, and how
	// the rule keeps them rare.
	Expected string
	// Mitigation names the control that removes the risk, for whoever runs the server;
	// "{object}" stands for the finding's object.
	Mitigation string
	// References are ids of other catalogues: "OWASP MCP05:2025", "SAFE-T1104".
	References []string
}

// Part is a part of what a rule says: a text, or a list.
type Part struct {
	Name, Text string
	Items      []string
}

// Parts returns the parts of a rule in reading order, without empty ones.
func (r Rule) Parts() []Part {
	return slices.DeleteFunc([]Part{
		{Name: "Found", Text: r.Description},
		{Name: "Severity", Items: r.Severities},
		{Name: "No finding", Items: r.Exempt},
		{Name: "Expected false positives", Text: r.Expected},
		{Name: "For whoever wrote the server", Text: r.Fix},
		{Name: "For whoever runs it", Text: strings.ReplaceAll(r.Mitigation, "{object}", "what the finding names")},
	}, func(p Part) bool { return p.Text == "" && len(p.Items) == 0 })
}

// Reference is an entry of another catalogue.
type Reference struct {
	// ID is how rules name it: "OWASP MCP05:2025", "SAFE-T1104".
	ID, Title, URL string
}

//go:embed catalogue/*.yaml
var catalogueFiles embed.FS

// catalogue is the parsed directory of that name.
type catalogue struct {
	families   []Family
	rules      []Rule
	byID       map[string]Rule
	risks      map[string]float64
	references []Reference
}

var loaded = sync.OnceValue(func() catalogue {
	var index struct {
		Families   []string
		Risks      map[string]float64
		References []Reference
	}
	decode("catalogue", &index)
	all := catalogue{risks: index.Risks, references: index.References, byID: map[string]Rule{}}
	for i, r := range all.references {
		if r.URL == "" { // a technique of SAFE-MCP that has a page of its own
			all.references[i].URL = "https://github.com/safe-agentic-framework/safe-mcp/blob/main/techniques/" + r.ID + "/README.md"
		}
	}
	for _, id := range index.Families {
		var f Family
		decode(strings.ToLower(id), &f)
		for i, r := range f.Rules {
			if r.Risk == "" {
				f.Rules[i].Risk = f.Risk
			}
			all.byID[r.ID] = f.Rules[i]
		}
		all.families = append(all.families, f)
		all.rules = append(all.rules, f.Rules...)
	}
	return all
})

// decode parses an embedded file. It panics for one that does not parse: the tests read
// them all.
func decode(name string, into any) {
	text, err := catalogueFiles.ReadFile("catalogue/" + name + ".yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		panic(fmt.Sprintf("rules: catalogue/%s.yaml: %v", name, err))
	}
}

// Families lists the rules by family, in the order of the documentation. Callers must
// not change what it returns; this goes for All and References as well.
func Families() []Family { return loaded().families }

// All lists the rules in the order of the documentation.
func All() []Rule { return loaded().rules }

// References lists the entries of other catalogues.
func References() []Reference { return loaded().references }

// LookUp finds a reference by its id.
func LookUp(id string) (Reference, bool) {
	i := slices.IndexFunc(References(), func(r Reference) bool { return r.ID == id })
	if i < 0 {
		return Reference{}, false
	}
	return References()[i], true
}

// Find returns a rule by its id.
func Find(id string) (Rule, bool) {
	r, ok := loaded().byID[id]
	return r, ok
}

// Risk returns the kind of risk of a rule's findings and its weight: the greatest share of
// 1 that it adds alone. An unknown rule has the risk of its family, or "Other".
func Risk(rule string) (name string, weight float64) {
	name = "Other"
	if r, ok := Find(rule); ok {
		name = r.Risk
	} else {
		for _, f := range Families() {
			if strings.HasPrefix(rule, "MCPA-"+f.ID+"-") {
				name = f.Risk
			}
		}
	}
	return name, loaded().risks[name]
}
