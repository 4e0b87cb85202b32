package build

import (
	"runtime"
	"testing"
)

func TestDescribe(t *testing.T) {
	defer func(v, c string) { version, commit = v, c }(version, commit)
	version, commit = "v1.2.3", "0123abc"
	want := "mcpaudit v1.2.3 commit 0123abc " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\nrules sha256:1"
	if got := Describe("mcpaudit", "sha256:1"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	version, commit = "", ""
	if got := Version(); got != "devel" {
		t.Errorf("without a version it is %q", got)
	}
	if got := Commit(); got == "" {
		t.Error("without a commit it says nothing")
	}
}
