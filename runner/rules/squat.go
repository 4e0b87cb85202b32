package rules

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/squat"
)

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
		message:  message,
		evidence: evidenceAt(in.End, clean(name, 214)),
	}
}
