//go:build dist

package dist

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An update of Debian takes what the lock names out of the archive: no release is made
// then, but the tests of an unchanged tree go on.
func TestStaleLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stale, fresh, dist := filepath.Join(dir, "stale.lock"), filepath.Join(dir, "fresh.lock"), filepath.Join(dir, "dist")
	lock, err := os.ReadFile("../../hack/images/debian.lock")
	if err != nil {
		t.Fatal(err)
	}
	gone := regexp.MustCompile(`(?m)^(amd64 strace) \S+`).ReplaceAllString(string(lock), "$1 0.0-gone1")
	if err := os.WriteFile(stale, []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	said := shell(t, "../..", `hack/dist-test.sh "$FRESH" "$TO"`, "FRESH="+fresh, "TO="+dist, "DEBIAN_LOCK="+stale,
		"VERSION="+version, "COMMIT="+commit, "SOURCE_DATE_EPOCH=1700000000", "PLATFORMS=linux/amd64")
	for _, want := range []string{
		// what make dist says, and ends with
		"debian.lock is stale: no strace 0.0-gone1 for amd64 in the archive, which holds its newest versions only: go run ./hack/images lock takes those",
		"\nSTALE LOCK: ", "to renew it: go run ./hack/images lock", "\n< amd64 strace 0.0-gone1 ", "\n> amd64 strace ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the release of a test does not say %q:\n%s", want, said)
		}
	}
	if made := strings.Count(said, "dist: "+version+" in "); made != 1 {
		t.Errorf("made %d releases:\n%s", made, said)
	}
	now, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	strace := regexp.MustCompile(`(?m)^amd64 strace (\S+) `).FindSubmatch(now)
	if strace == nil {
		t.Fatalf("the fresh lock has no strace:\n%s", now)
	}
	sbom, err := os.ReadFile(filepath.Join(dist, "sbom.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(sbom), "strace@"+string(strace[1])) || strings.Contains(string(sbom), "0.0-gone1") {
		t.Error("the SBOM does not have the strace of the fresh lock")
	}
	if after, err := os.ReadFile(stale); err != nil || string(after) != gone {
		t.Errorf("the lock is not as it was: %v", err)
	}
}
