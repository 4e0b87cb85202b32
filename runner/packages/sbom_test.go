package packages

import (
	"bytes"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func TestSBOM(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, test := range []struct {
		of         Installed
		root, rest string // each component's purl, or name, and first hash
	}{
		{
			Installed{
				Report: report.Package{RegistryType: "npm", Identifier: "@a/server", Version: "1.0.0"},
				locked: []locked{{"zod", "3.1.0", "sha512-AAAA"}, {"@a/server", "1.0.0", ""}, {"@a/server", "0.9.0", ""}, {"zod", "3.1.0", "sha512-AAAA sha1-/w=="}},
			}, "pkg:npm/%40a/server@1.0.0", "pkg:npm/%40a/server@0.9.0 pkg:npm/zod@3.1.0=SHA-512:000000",
		},
		{
			Installed{
				Report: report.Package{RegistryType: "pypi", Identifier: "My.Server", Version: "2.0"},
				locked: []locked{{"my-server", "2.0", "sha256:" + sum}, {"Typing_Extensions", "4.1", "sha256:"}},
			}, "pkg:pypi/my-server@2.0=SHA-256:" + sum, "pkg:pypi/typing-extensions@4.1",
		},
		{
			Installed{Report: report.Package{RegistryType: "mcpb", Identifier: "shout", Version: "1"}, locked: []locked{{"shout", "1", "sha256:" + sum}}},
			"shout@1=SHA-256:" + sum, "",
		},
	} {
		var text bytes.Buffer
		if err := test.of.SBOM(&text); err != nil {
			t.Fatal(err)
		}
		var got cdx.BOM
		if err := cdx.NewBOMDecoder(&text, cdx.BOMFileFormatJSON).Decode(&got); err != nil {
			t.Fatal(err)
		}
		var rest []string
		if got.Components != nil {
			for _, c := range *got.Components {
				rest = append(rest, listed(c))
			}
		}
		if root := listed(*got.Metadata.Component); root != test.root || strings.Join(rest, " ") != test.rest || got.SpecVersion != cdx.SpecVersion1_6 {
			t.Errorf("%s: %s with %v", test.of.Report.Identifier, root, rest)
		}
	}
}

func listed(c cdx.Component) string {
	if c.Hashes == nil {
		return c.BOMRef
	}
	first := (*c.Hashes)[0]
	return c.BOMRef + "=" + string(first.Algorithm) + ":" + first.Value
}
