//go:build envtest || e2e

package testenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The definitions of the two kinds of policy report as they are published: those that
// clusters have, and not a copy that says what the tests would like. They are read from
// Go modules, whose content the sums hold fast.
var (
	openReports = published{
		"github.com/openreports/reports-api@v0.2.1", "h1:g9KS3yle9Y1elmww4TK9EkD1rl6inIaiIJPX6e+u680=",
		"config/crd/openreports.io_reports.yaml",
	}
	policyReports = published{
		"github.com/kyverno/kyverno@v1.13.4", "h1:2zUi+eszlisLdCir+WIf2NtuUfFPvJtjUNpewdtLjVw=",
		"config/crds/policyreport/wgpolicyk8s.io_policyreports.yaml",
	}
)

// published is a file of a Go module.
type published struct{ module, sum, file string }

// OpenReports is the definition of Report, openreports.io/v1alpha1.
func OpenReports() ([]byte, error) { return openReports.read() }

// PolicyReports is the definition of PolicyReport, wgpolicyk8s.io/v1alpha2.
func PolicyReports() ([]byte, error) { return policyReports.read() }

func (p published) read() ([]byte, error) {
	download := exec.Command("go", "mod", "download", "-json", p.module)
	download.Dir = os.TempDir() // outside of any module, whose go.sum would have a say
	download.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	download.Stderr = &stderr
	out, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("download %s: %w: %s%s", p.module, err, out, stderr.Bytes())
	}
	var got struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, fmt.Errorf("download %s: %w", p.module, err)
	}
	if got.Sum != p.sum {
		return nil, fmt.Errorf("download %s: its sum is %s, not %s", p.module, got.Sum, p.sum)
	}
	return os.ReadFile(filepath.Join(got.Dir, p.file))
}
