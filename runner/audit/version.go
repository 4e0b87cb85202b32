package audit

import "github.com/mcpaudit/mcpaudit/runner/build"

// Build is the version of this program, as reports give it.
func Build() string { return build.Version() }
