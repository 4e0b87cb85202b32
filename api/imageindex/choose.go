package imageindex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// ErrNoPlatform means that an index has no manifest that an audit could run.
var ErrNoPlatform = errors.New("it is not for linux")

// Choice is the manifest of an index to run.
type Choice struct {
	Digest, MediaType string
	// Platform, such as "linux/amd64"; empty if the index does not say.
	Platform string
	// Several means that the index has others to run.
	Several bool
	// Ambiguous says why a container runtime on that platform could run another manifest of the
	// index; empty if none can.
	Ambiguous string
}

// platform is the platform of a descriptor.
type platform struct {
	Architecture string   `json:"architecture"`
	OS           string   `json:"os"`
	OSVersion    string   `json:"os.version"`
	OSFeatures   []string `json:"os.features"`
	Variant      string   `json:"variant"`
	Features     []string `json:"features"`
}

// Platform names in canonical form (https://go.dev/doc/install/source#environment). Runtimes
// differ in how they normalize other spellings, such as "x86_64".
var (
	otherSystems = []string{
		"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "netbsd", "openbsd", "plan9", "solaris", "wasi", "wasip1", "windows",
	}
	architectures = []string{
		"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64", "s390x", "wasm",
	}
)

// candidate is a manifest for linux.
type candidate struct {
	descriptor

	architecture string // empty if the index does not say
	// plain candidates match in all runtimes by OS and architecture alone.
	plain bool
}

// Choose prefers the wanted architecture, then amd64, arm64, and the first manifest. The choice
// is unambiguous if every other manifest is certainly for another platform.
func (d Document) Choose(wanted string) (Choice, error) {
	var candidates []candidate
	var doubts []string
	runnable := 0
	for _, child := range d.children {
		c, other, doubt := read(child)
		switch {
		case other == attestation:
			continue
		case doubt != "":
			doubts = append(doubts, doubt)
		}
		runnable++
		if other == "" && slices.Contains(imageTypes, child.MediaType) && report.IsDigest(child.Digest) {
			candidates = append(candidates, c)
		}
	}
	if len(candidates) == 0 {
		return Choice{}, ErrNoPlatform
	}
	chosen, rivals := pick(candidates, wanted)
	choice := Choice{Digest: chosen.Digest, MediaType: chosen.MediaType, Several: runnable > 1}
	if chosen.architecture != "" {
		choice.Platform = "linux/" + chosen.architecture
	}
	switch {
	case len(doubts) > 0:
		choice.Ambiguous = doubts[0]
	case rivals > 0:
		choice.Ambiguous = fmt.Sprintf("it has %d manifests for %s", rivals+1, choice.Platform)
	case !chosen.plain:
		choice.Ambiguous = fmt.Sprintf("its manifest for %s is for some nodes of that platform only", choice.Platform)
	}
	return choice, nil
}

// pick returns the candidate to run and the number of others for its architecture.
func pick(candidates []candidate, wanted string) (chosen candidate, rivals int) {
	architecture := candidates[0].architecture
	for _, preferred := range []string{wanted, "amd64", "arm64"} {
		if slices.ContainsFunc(candidates, func(c candidate) bool { return c.architecture == preferred }) {
			architecture = preferred
			break
		}
	}
	fitting := slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool { return c.architecture != architecture })
	if i := slices.IndexFunc(fitting, func(c candidate) bool { return c.plain }); i >= 0 {
		return fitting[i], len(fitting) - 1
	}
	return fitting[0], len(fitting) - 1
}

// attestation is the platform of manifests that are not run (BuildKit, attestation storage).
const attestation = "unknown/unknown"

// read parses a manifest entry of an index. other is its platform if that is certainly not
// linux; doubt is why runtimes could read it differently.
func read(child descriptor) (c candidate, other, doubt string) {
	if slices.Contains(indexTypes, child.MediaType) {
		return c, "", "it has an index in it"
	}
	if !slices.Contains(imageTypes, child.MediaType) {
		return c, "", "it has something in it that is no image"
	}
	c.descriptor = child
	p, known, err := child.platform()
	if !known {
		return c, "", "it has a manifest without a platform"
	}
	name := p.OS + "/" + p.Architecture
	isArchitecture := slices.Contains(architectures, p.Architecture)
	switch {
	case err != nil, !report.IsDigest(child.Digest):
		return c, name, "it has a manifest that cannot be read"
	case name == attestation, isArchitecture && slices.Contains(otherSystems, p.OS):
		return c, name, ""
	case p.OS != "linux", !isArchitecture:
		return c, name, "it has a platform that is not in its canonical form"
	}
	c.architecture = p.Architecture
	c.plain = p.isPlain() && child.Data == "" && len(child.URLs) == 0
	return c, "", ""
}

// platform reads the platform; known is false if the index does not say. With an error, p has what could be read.
func (d descriptor) platform() (p platform, known bool, err error) {
	if len(d.Platform) == 0 || bytes.Equal(d.Platform, []byte("null")) {
		return p, false, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(d.Platform))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&p) // before p is copied
	return p, true, err
}

// isPlain reports whether every runtime takes the platform for that of a node of the
// architecture.
func (p platform) isPlain() bool {
	return p.OSVersion == "" && len(p.OSFeatures) == 0 && len(p.Features) == 0 &&
		(p.Variant == "" || p.Architecture == "arm64" && p.Variant == "v8")
}
