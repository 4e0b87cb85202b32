//go:build outputs

package outputs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The schema belongs to Jenkins' xUnit plugin. The source package of pytest has it
// for its own tests. lxml is libxml2.
const (
	pytestVersion = "8.4.2"
	lxmlVersion   = "6.1.3"
)

const validate = `
import sys
sys.path.insert(0, sys.argv[1])
from lxml import etree
schema = etree.XMLSchema(etree.parse(sys.argv[2]))
for name in sys.argv[3:]:
    if not schema.validate(etree.parse(name)):
        print(name, schema.error_log)
`

func TestJUnit(t *testing.T) {
	lxml := pip(t, "lxml", lxmlVersion)
	source := installed(t, "pytest-"+pytestVersion, "/bin/sh", "-c", python+" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary pytest pytest=="+
		pytestVersion+" && tar -xzf pytest-"+pytestVersion+".tar.gz --strip-components=1 pytest-"+pytestVersion+"/testing/example_scripts")
	schema := filepath.Join(source, "testing", "example_scripts", "junit-10.xsd")
	all := files(t, "junit", ".xml")
	if said := run(t, t.TempDir(), python, append([]string{"-c", validate, lxml, schema}, all...)...); said != "" {
		t.Error(said)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.xml")
	if err := os.WriteFile(wrong, []byte(`<testsuites><testsuite name="x"/></testsuites>`), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := run(t, t.TempDir(), python, "-c", validate, lxml, schema, wrong); !strings.Contains(said, "tests") {
		t.Errorf("nothing is wrong with a suite that has no counts: %q", said)
	}
	t.Logf("%d files were checked", len(all))
}
