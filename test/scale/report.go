package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// The size of the canned report: about 40 KB of JSON, for a typical number of tools.
const (
	tools       = 20
	findings    = 5
	readsOfTool = 9
)

// canned is a report in the form that an audit Pod leaves.
type canned struct {
	summary string // the termination message of the runner
	log     string // of the runner
	bytes   int    // of the report's JSON
}

func newCanned() (canned, error) {
	r := leaky()
	encoded, err := report.Encode(r)
	if err != nil {
		return canned{}, err
	}
	summary, err := report.Summarise(r, encoded).Encode()
	if err != nil {
		return canned{}, err
	}
	var frame bytes.Buffer
	if err := report.WriteFrame(&frame, encoded); err != nil {
		return canned{}, err
	}
	return canned{summary: string(summary), log: frame.String(), bytes: len(encoded)}, nil
}

// digest returns the digest of a text.
func digest(of string) string { return "sha256:" + report.Sum([]byte(of)) }

// leaky returns the report of a server that does more than it declares.
func leaky() report.Report {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := report.Report{
		Server:    report.ServerRun{Name: "notes", Version: "1.4.2", ProtocolVersion: "2025-11-25", Command: []string{"/notes", "--stdio"}},
		FailOn:    report.SeverityHigh,
		StartTime: report.At(began), EndTime: report.At(began.Add(40 * time.Second)),
		ManifestDigest: digest("manifest"), RulesetDigest: rules.Digest(),
		Runner: report.Component{Name: "mcpaudit", Version: "v0.1.0"}, Tracer: report.Component{Name: "ptrace", Version: "v0.1.0"},
		Network:  report.NetworkSinkhole,
		Manifest: report.Manifest{Digest: digest("manifest"), Envelope: digest("envelope"), Definition: "{}"},
		Risk: report.Risk{Score: 61, Level: report.RiskHigh, Parts: []report.RiskPart{
			{Family: "FileRead", Points: 40, Because: "a tool read a private key"}, {Family: "Egress", Points: 21, Because: "a tool connected to an address that it does not name"}}},
		Coverage: report.Coverage{
			Tools: report.Exercised{Listed: tools, Called: tools, Accepted: tools},
			Calls: report.Share{Total: 6 * tools, Done: 6 * tools}, Branches: report.Share{Total: 8 * tools, Done: 7 * tools},
		},
	}
	var entries []string
	for i := range tools {
		tool := fmt.Sprintf("notes_operation_%02d", i)
		r.Manifest.Tools = append(r.Manifest.Tools, advertised(tool))
		r.Profile.Capabilities = append(r.Profile.Capabilities, seen(tool))
		r.Exercise = append(r.Exercise, report.CapabilityCoverage{
			Kind: report.CapabilityTool, Name: tool, Calls: report.Share{Total: 6, Done: 6}, Branches: report.Share{Total: 8, Done: 7},
		})
		entries = append(entries, fmt.Sprintf("read ~/notes/%s/", tool))
	}
	r.Behavior = report.BehaviorOf(entries, false)
	for i := range findings {
		r.Findings = append(r.Findings, found(i, began))
	}
	r.Assurance = report.AssuranceOf(r)
	r.Verdict, r.Reason, r.Message = report.Judge(r.Findings, report.Demand{FailOn: r.FailOn}, report.Incomplete{}, r.Assurance)
	return r
}

func advertised(tool string) report.Item {
	property := `"%s":{"type":"string","description":"The %s of the note that the operation is about, as the list has it."}`
	var properties []string
	for _, name := range []string{"title", "folder", "author"} {
		properties = append(properties, fmt.Sprintf(property, name, name))
	}
	return report.Item{
		Name: tool, Digest: digest(tool),
		Description: "Finds the notes that match and returns them with their titles. " + strings.Repeat("Use it when notes are asked for. ", 4),
		Definition:  `{"inputSchema":{"properties":{` + strings.Join(properties, ",") + `},"required":["title"],"type":"object"}}`,
	}
}

// seen returns the profile of a tool.
func seen(tool string) report.CapabilityProfile {
	p := report.CapabilityProfile{Kind: report.CapabilityTool, Name: tool, Phase: report.PhaseCall}
	for i := range readsOfTool {
		p.Reads = append(p.Reads, report.FileAccess{Path: fmt.Sprintf("/home/ellis/notes/%s/%d.md", tool, i), Operation: "openat", Count: 6})
	}
	p.Connects = []report.Connection{{Address: "93.184.216.34", Port: 443, Protocol: "tcp", Host: "api.notes.example", Count: 2, BytesOut: 512}}
	return p
}

func found(i int, at time.Time) report.Finding {
	f := report.Finding{
		Rule: "MCPA-READ-001", Severity: report.SeverityHigh, Title: "Read outside of what is declared", Phase: report.PhaseCall,
		Capability: report.Capability{Kind: report.CapabilityTool, Name: fmt.Sprintf("notes_operation_%02d", i)},
		Message:    fmt.Sprintf("Tool notes_operation_%02d read /home/ellis/.ssh/id_rsa_%d, which nothing in its description speaks of.", i, i),
		Mitigation: "Give the server no volume with credentials; declare what it has to read in spec.declaredScope.",
	}
	if i > 0 {
		f.Severity = report.SeverityMedium
	}
	for call := range report.MaxEvidence {
		f.Evidence = append(f.Evidence, report.Evidence{
			Time: report.At(at.Add(time.Duration(call) * time.Second)), PID: 17, Syscall: "openat", Attribution: report.AttributionInFlight,
			Detail: fmt.Sprintf(`openat(AT_FDCWD, "/home/ellis/.ssh/id_rsa_%d", O_RDONLY|O_CLOEXEC) = 9`, i),
		})
	}
	return f
}
