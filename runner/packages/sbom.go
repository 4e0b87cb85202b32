package packages

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/package-url/packageurl-go"
)

// SBOM writes the package and all that was installed with it as CycloneDX 1.6 (ECMA-424), in JSON. The same installation gives
// the same bytes.
func (i Installed) SBOM(w io.Writer) error {
	of := Registry(i.Report.RegistryType)
	document := cdx.NewBOM()
	root := cdx.Component{Type: cdx.ComponentTypeApplication, Name: i.Report.Identifier, Version: i.Report.Version}
	var components []cdx.Component
	all := slices.SortedFunc(slices.Values(i.locked), func(a, b locked) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version), cmp.Compare(a.digest, b.digest))
	})
	all = slices.CompactFunc(all, func(a, b locked) bool { return a.name == b.name && a.version == b.version }) // npm installs one version in several places
	for _, l := range all {
		c := l.component(of)
		if l.version == root.Version && normal(of, l.name) == normal(of, root.Name) {
			c.Type = root.Type
			root = c
			continue
		}
		components = append(components, c)
	}
	document.Metadata, document.Components = &cdx.Metadata{Component: &root}, &components
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(document, cdx.SpecVersion1_6)
}

func (l locked) component(of Registry) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: l.name, Version: l.version, PackageURL: l.purl(of), Hashes: l.hashes()}
	c.BOMRef = cmp.Or(c.PackageURL, l.name+"@"+l.version)
	return c
}

// purl returns the package URL (purl-spec, npm and pypi); "" for a bundle, for which there is no type.
func (l locked) purl(of Registry) string {
	switch of {
	case NPM:
		scope, name, scoped := strings.Cut(l.name, "/")
		if !scoped {
			scope, name = "", l.name
		}
		return packageurl.NewPackageURL(packageurl.TypeNPM, scope, name, l.version, nil, "").ToString()
	case PyPI:
		return packageurl.NewPackageURL(packageurl.TypePyPi, "", normal(of, l.name), l.version, nil, "").ToString()
	default:
		return ""
	}
}

// hashes reads the digest of the archive: "sha256:" and hexadecimal, or hashes in Base64 (W3C Subresource Integrity).
func (l locked) hashes() *[]cdx.Hash {
	var all []cdx.Hash
	if hash, ok := strings.CutPrefix(l.digest, "sha256:"); ok && hash != "" {
		all = append(all, cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: hash})
	}
	algorithms := map[string]cdx.HashAlgorithm{"sha1": cdx.HashAlgoSHA1, "sha256": cdx.HashAlgoSHA256, "sha384": cdx.HashAlgoSHA384, "sha512": cdx.HashAlgoSHA512}
	for hash := range strings.FieldsSeq(l.digest) {
		name, encoded, _ := strings.Cut(hash, "-")
		if sum, err := base64.StdEncoding.DecodeString(encoded); err == nil && algorithms[name] != "" {
			all = append(all, cdx.Hash{Algorithm: algorithms[name], Value: hex.EncodeToString(sum)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all
}
