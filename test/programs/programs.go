// Package programs builds programs of this module for the tests of a package.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/mcpaudit/mcpaudit/test/tree"
)

// Run builds packages into a directory, runs the tests with it, and returns their exit code. The
// directory is below /tmp, where each sandbox shows it, and open to servers of other users.
func Run(m *testing.M, dir *string, packages ...string) int {
	built, err := os.MkdirTemp("/tmp", "programs-")
	if err == nil {
		defer func() { _ = os.RemoveAll(built) }()
		err = os.Chmod(built, 0o755)
	}
	if err == nil {
		build := exec.Command("go", append([]string{"build", "-o", built + "/"}, packages...)...)
		build.Dir, build.Stderr = tree.Path("."), os.Stderr
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // images of the tests have no libraries
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	*dir = built
	return m.Run()
}
