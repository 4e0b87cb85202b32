package rules

import (
	"math"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/squat"
)

// squatRules are about names that are taken for others.
var squatRules = []family{
	{squattedServer, findSquattedServer},
	{squattedPackage, findSquattedPackage},
	{disguisedTool, findDisguisedTools},
}

var squattedServer = Rule{
	ID: "MCPA-SQUAT-001", Severity: report.SeverityMedium, Title: "A server's name that looks like a well-known one",
	Description: "The name that the server gives itself differs from that of a well-known server or service by what an error of a typist does, " +
		"or by characters that look alike. Words that all servers' names have, scopes, hyphens and case do not count, words of fewer than five " +
		"letters neither, and a name that is itself well known is no finding.",
	Fix:        "Give the server a name that nobody takes for another's.",
	Expected:   "Names that are near by chance. The list of known names has such neighbours; of 28,000 packages that speak of MCP one in 2,000 is found.",
	Mitigation: "Compare the publisher of {object} with that of the server that was meant, and install by registry entry and digest, not by name.",
	References: []string{"OWASP MCP04:2025", "SAFE-T1003"},
}

var squattedPackage = Rule{
	ID: "MCPA-SQUAT-002", Severity: report.SeverityMedium, Title: "A package's name that looks like a well-known one",
	Description: "The package that the command starts (npx, uvx and their like, a path in node_modules, python -m) has a name that differs from a " +
		"well-known one as in MCPA-SQUAT-001, or by a scope that looks like the known one or became a part of the name.",
	Fix:        "Start the package that was meant; where this is the one, have its author rename it.",
	Expected:   "Those of MCPA-SQUAT-001. A package of the same name in another scope is no finding.",
	Mitigation: "Check that {object} is the package that was meant, pin its version and integrity hash, and allow only listed packages to be installed.",
	References: []string{"OWASP MCP04:2025", "SAFE-T1002", "SAFE-T1003"},
}

var disguisedTool = Rule{
	ID: "MCPA-SQUAT-003", Severity: report.SeverityMedium, Title: "A tool's name with letters that look like others",
	Description: "The name of a tool is of Latin letters, with some among them of another script that look the same: reаd_file with a Cyrillic а. " +
		"A list of allowed tools, and a person, take it for another tool.",
	Fix:        "Write the name in letters of one script.",
	Expected:   "None are known: names that are wholly of another script are no findings.",
	Mitigation: "Allow tools by exact name, and only names in ASCII.",
	References: []string{"OWASP MCP03:2025", "SAFE-T1004"},
}

func findSquattedServer(in Input) []draft {
	own := manifest.Text(in.Manifest.ServerName)
	l, ok := squat.Server(own)
	if !ok {
		return nil
	}
	return []draft{named(in, report.PhaseHandshake, own,
		sentence("The server calls itself %s, which looks like %s: %s", quoted(own), l.Known, l.How))}
}

func findSquattedPackage(in Input) []draft {
	started := squat.PackageOf(in.Command)
	l, ok := squat.Package(started)
	if !ok {
		return nil
	}
	return []draft{named(in, report.PhaseStartup, started,
		sentence("The command starts the package %s, whose name looks like %s: %s", quoted(started), l.Known, l.How))}
}

func findDisguisedTools(in Input) []draft {
	var all []draft
	for _, tool := range manifest.Items(report.CapabilityTool, in.Manifest.Tools) {
		looks, ok := squat.Disguised(tool.Name)
		if !ok {
			continue
		}
		d := named(in, report.PhaseList, tool.Name, sentence("A tool is called %s, which looks like %s and has letters of another script", quoted(tool.Name), quoted(looks)))
		d.capability = report.Capability{Kind: report.CapabilityTool, Name: tool.Name}
		all = append(all, d)
	}
	return all
}

// named makes the draft of a finding about a name.
func named(in Input, phase report.Phase, name, message string) draft {
	return draft{
		severity: report.SeverityMedium, phase: phase, capability: report.Capability{Kind: report.CapabilityServer}, object: name,
		message: message, order: math.MaxInt,
		evidence: report.Evidence{Time: in.End, Detail: clean(name, 214), Attribution: report.AttributionPhase},
	}
}
