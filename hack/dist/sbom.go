package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

const product = "github.com/mcpaudit/mcpaudit"

// release is the subject of the SBOM.
type release struct {
	dist     string // images.txt, and the programs of the command line
	programs string // those in the images, NAME-linux-ARCHITECTURE
	lock     string // hack/images/debian.lock
	version  string
	made     time.Time
}

// bill is an SBOM under construction, with components by reference.
type bill struct {
	components map[string]cdx.Component
	needs      map[string][]string
}

func (b bill) add(c cdx.Component, neededBy string) string {
	b.components[c.BOMRef] = c
	if _, ok := b.needs[c.BOMRef]; !ok {
		b.needs[c.BOMRef] = nil
	}
	if !slices.Contains(b.needs[neededBy], c.BOMRef) {
		b.needs[neededBy] = append(b.needs[neededBy], c.BOMRef)
	}
	return c.BOMRef
}

// writeSBOM lists the contents of a release's files as CycloneDX 1.6: the modules recorded in
// each program, and the Debian packages in the images by the lock.
func writeSBOM(w io.Writer, r release) error {
	root := cdx.Component{
		BOMRef: golang(product, r.version), Type: cdx.ComponentTypeApplication, Name: product, Version: r.version, PackageURL: golang(product, r.version),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	b := bill{components: map[string]cdx.Component{}, needs: map[string][]string{root.BOMRef: nil}}
	if err := b.addFiles(r, root.BOMRef); err != nil {
		return err
	}
	if err := b.addImages(r, root.BOMRef); err != nil {
		return err
	}
	document := b.document(root, r.made)
	var first bytes.Buffer
	if err := cdx.NewBOMEncoder(&first, cdx.BOMFileFormatJSON).EncodeVersion(document, cdx.SpecVersion1_6); err != nil {
		return err
	}
	// The serial number is derived from the content (RFC 9562, version 8).
	sum := sha256.Sum256(first.Bytes())
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	document.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(document, cdx.SpecVersion1_6)
}

func (b bill) document(root cdx.Component, made time.Time) *cdx.BOM {
	document := cdx.NewBOM()
	document.Metadata = &cdx.Metadata{Timestamp: made.Format(time.RFC3339), Component: &root}
	components := slices.SortedFunc(maps.Values(b.components), func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	var needs []cdx.Dependency
	for ref, on := range b.needs {
		slices.Sort(on)
		needs = append(needs, cdx.Dependency{Ref: ref, Dependencies: &on})
	}
	slices.SortFunc(needs, func(a, b cdx.Dependency) int { return cmp.Compare(a.Ref, b.Ref) })
	document.Components, document.Dependencies = &components, &needs
	return document
}

// addFiles adds the command line programs.
func (b bill) addFiles(r release, root string) error {
	files, err := filepath.Glob(filepath.Join(r.dist, "mcpaudit-linux-*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := b.addProgram(file, r.version, root); err != nil {
			return err
		}
	}
	return nil
}

// addProgram adds a program with its linked modules.
func (b bill) addProgram(file, version, neededBy string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("read the modules of %s: %w", file, err)
	}
	name := filepath.Base(file)
	sum := sha256.Sum256(content)
	ref := b.add(cdx.Component{
		BOMRef: "file:" + name, Type: cdx.ComponentTypeApplication, Name: name, Version: version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}},
	}, neededBy)
	b.add(module("stdlib", strings.TrimPrefix(info.GoVersion, "go"), ""), ref)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = (*debug.Module)(m.Replace)
		}
		b.add(module(m.Path, m.Version, m.Sum), ref)
	}
	return nil
}

func module(path, version, sum string) cdx.Component {
	c := cdx.Component{BOMRef: golang(path, version), Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: golang(path, version)}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}} // as in go.sum
	}
	return c
}

// golang is the package URL of a Go module (purl-spec, golang).
func golang(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + url.PathEscape(version)
}

// addImages adds the images of images.txt with their programs and Debian packages.
func (b bill) addImages(r release, root string) error {
	list, err := os.ReadFile(filepath.Join(r.dist, "images.txt"))
	if err != nil {
		return err
	}
	packages, err := debianPackages(r.lock)
	if err != nil {
		return err
	}
	for line := range strings.FieldsSeq(string(list)) {
		ref, digest, _ := strings.Cut(line, "@")
		repository := ref[:strings.LastIndex(ref, ":")]
		name := repository[strings.LastIndex(repository, "/")+1:]
		image := b.add(cdx.Component{
			BOMRef: "image:" + name, Type: cdx.ComponentTypeContainer, Name: repository, Version: r.version,
			PackageURL: "pkg:oci/" + name + "@" + url.QueryEscape(digest) + "?repository_url=" + url.QueryEscape(repository),
		}, root)
		programs, err := filepath.Glob(filepath.Join(r.programs, name+"-linux-*"))
		if err != nil || len(programs) == 0 {
			return fmt.Errorf("no programs of the image %s in %s", name, r.programs)
		}
		for _, program := range programs {
			if err := b.addProgram(program, r.version, image); err != nil {
				return err
			}
			for _, p := range packages {
				// certificates are in both images, the rest is the runner's
				if strings.HasSuffix(program, "-"+p.arch) && (name == "runner" || p.component.Name == "ca-certificates") {
					b.add(p.component, image)
				}
			}
		}
	}
	return nil
}

type debian struct {
	arch      string
	component cdx.Component
}

// debianPackages reads hack/images/debian.lock.
func debianPackages(lock string) ([]debian, error) {
	content, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	var all []debian
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) != 4 || f[0] == "#" {
			continue
		}
		ref := fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s&distro=debian-12", f[1], url.QueryEscape(f[2]), f[0])
		all = append(all, debian{f[0], cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: f[1], Version: f[2], PackageURL: ref,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: f[3]}},
		}})
	}
	return all, nil
}
