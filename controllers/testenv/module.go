//go:build envtest || e2e

package testenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The published CRDs of the two kinds of policy report, as clusters have them. They come from
// Go modules, pinned by checksum.
var (
	openReports = Published{
		"github.com/openreports/reports-api@v0.2.1", "h1:g9KS3yle9Y1elmww4TK9EkD1rl6inIaiIJPX6e+u680=",
		"config/crd/openreports.io_reports.yaml",
	}
	policyReports = Published{
		"github.com/kyverno/kyverno@v1.13.4", "h1:2zUi+eszlisLdCir+WIf2NtuUfFPvJtjUNpewdtLjVw=",
		"config/crds/policyreport/wgpolicyk8s.io_policyreports.yaml",
	}
)

// Published is a file of a Go module that is fetched for a test: as a dependency, the module
// would be too heavy for one file.
type Published struct{ Module, Sum, File string }

// OpenReports is the definition of Report, openreports.io/v1alpha1.
func OpenReports() ([]byte, error) { return openReports.read() }

// PolicyReports is the definition of PolicyReport, wgpolicyk8s.io/v1alpha2.
func PolicyReports() ([]byte, error) { return policyReports.read() }

func (p Published) read() ([]byte, error) {
	path, err := p.Path()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Path downloads the module unless cached, and returns the path of the file. The go command
// falls back from a failing proxy.
func (p Published) Path() (path string, err error) {
	for range 5 {
		if path, err = p.download(); err == nil {
			return path, nil
		}
		time.Sleep(2 * time.Second)
	}
	return "", err
}

func (p Published) download() (string, error) {
	download := exec.Command("go", "mod", "download", "-json", p.Module)
	download.Dir = os.TempDir() // outside any module, whose go.sum would apply
	download.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	download.Stderr = &stderr
	out, err := download.Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w: %s%s", p.Module, err, out, stderr.Bytes())
	}
	var got struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", fmt.Errorf("download %s: %w", p.Module, err)
	}
	if got.Sum != p.Sum {
		return "", fmt.Errorf("download %s: its sum is %s, not %s", p.Module, got.Sum, p.Sum)
	}
	return filepath.Join(got.Dir, p.File), nil
}
