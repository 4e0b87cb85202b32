// Package build says what a program of mcpaudit is: its version, the commit, and
// what it was compiled by and for. The linker sets what the source cannot know
// (Makefile, Dockerfile and hack/images: -X).
package build

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// set by the linker (-X)
var version, commit string

// Version returns the version of this program, such as "v0.1.0"; "devel" for a build from a
// working copy.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Commit is the commit of git that this program was built from; "unknown" without one.
func Commit() string { return cmp.Or(commit, setting("vcs.revision"), "unknown") }

// Describe says in two lines what the program is, and by which rules it judges.
func Describe(program, ruleset string) string {
	return fmt.Sprintf("%s %s commit %s %s %s/%s\nrules %s", program, Version(), Commit(),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, ruleset)
}

// setting returns what the go command wrote into the program (runtime/debug.BuildSetting).
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
