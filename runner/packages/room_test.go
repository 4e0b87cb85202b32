package packages

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAD4InstallersAreBounded: an archive that grows a thousandfold ends its installer, and what that has started.
func TestAD4InstallersAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"little":             {"echo x >a", ""},
		"a failure":          {"exit 3", "exit status 3"},
		"too many bytes":     {"sh -c 'while :; do head -c 100000 /dev/zero >>a; done' & wait", "more than 1 MiB"},
		"too many files":     {"while :; do mkdir -p d; i=$((i+1)); : >d/$i; done", "more than 100 files"},
		"too much at an end": {"head -c 2000000 /dev/zero >a", "more than 1 MiB"},
	} {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", c.script)
		cmd.Dir = dir
		err := room{1 << 20, 100}.run(cmd, dir)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
