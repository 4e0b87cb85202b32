package main

import (
	"slices"
	"strings"
	"testing"
)

// The lock has every package for every architecture, and strace at the version
// that the parser of its lines was measured against.
func TestDebianLock(t *testing.T) {
	all, err := readLock(debianLock)
	if err != nil {
		t.Fatal(err)
	}
	for arch := range triplets {
		for _, name := range debianPackages {
			if !slices.ContainsFunc(all, func(p debianPackage) bool { return p.arch == arch && p.name == name }) {
				t.Errorf("no %s for %s: go run ./hack/images lock", name, arch)
			}
		}
	}
	for _, p := range all {
		if p.name == "strace" && p.version != "6.1-0.1" {
			t.Errorf("strace is %s: Dockerfile and the parser are for 6.1-0.1", p.version)
		}
	}
	if len(all) != len(triplets)*len(debianPackages) {
		t.Errorf("%d packages", len(all))
	}
}

func TestReadLockRefusesWhatIsNone(t *testing.T) {
	for _, lock := range []string{"amd64 libc6 2.36", "amd64 libc6 2.36 abc", "amd64 libc6 2.36 " + strings.Repeat("0", 64) + " more"} {
		if _, err := readLock(lock); err == nil {
			t.Errorf("%q was read", lock)
		}
	}
}
