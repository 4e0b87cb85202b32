package audit

import (
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// specified returns what a spec asks to be run; empty for a remote server, which has no image
// to compare.
func specified(spec v1alpha1.MCPServerAuditSpec) v1alpha1.AuditedServer {
	server := spec.Server
	if server.URL != "" {
		return v1alpha1.AuditedServer{}
	}
	return v1alpha1.AuditedServer{
		Image: server.Image, CommandDigest: v1alpha1.CommandDigest(server.Command, server.Args), Environment: unmatched(server), Exercise: exercise(spec),
	}
}

// audited describes what ran, for the status; nil for a remote server.
func (s *session) audited() *v1alpha1.AuditedServer {
	ran := s.run.Audited
	if ran.Image == "" { // recorded by an older manager, for this spec
		of := specified(s.audit.Spec)
		ran.Image, ran.CommandDigest, ran.Environment, ran.Exercise = of.Image, of.CommandDigest, of.Environment, of.Exercise
		if ran.Platform == "" && s.pod != nil { // the image may be multi-platform
			ran.Platform = podspec.Platform(s.pod)
		}
	}
	if ran.Image == "" {
		return nil
	}
	// Values that need cutting name no real image or platform.
	ran.Image, ran.Platform = excerpt.Line(ran.Image, maxImage), excerpt.Line(ran.Platform, maxWord)
	before := ptr.Deref(s.audit.Status.Audited, v1alpha1.AuditedServer{})
	if s.resolved != "" && len(ran.Digests) == 0 && ran.ImageID == "" {
		ran.AmbiguousDigest = s.resolved // nobody checked what it refers to
	}
	if s.resolved == "" && s.report == nil && before.Image == ran.Image && before.CommandDigest == ran.CommandDigest {
		// The image could not be pulled, so nothing ran: keep what was known of the image.
		ran.Digests, ran.AmbiguousDigest, ran.ImageID = before.Digests, before.AmbiguousDigest, before.ImageID
		ran.Platform, ran.ArgvDigest = before.Platform, before.ArgvDigest
		ran.Environment, ran.WorkingDir, ran.CodePaths = before.Environment, before.WorkingDir, before.CodePaths
	}
	if s.report != nil {
		ran.CodePaths = s.codePaths()
		ran.Unsuppressed = counts(report.Count(report.Counting(s.report.Findings)))
	}
	return &ran
}
