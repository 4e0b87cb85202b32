package audit

import "runtime/debug"

// Version is set by the linker (-X); without it, Build asks the module.
var Version string

// Build is the version of this program, such as "v0.1.0"; "devel" for a build
// from a working copy.
func Build() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
