package audit

import "github.com/mcpaudit/mcpaudit/runner/build"

// Build returns the version of this program for reports.
func Build() string { return build.Version() }
