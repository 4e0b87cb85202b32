package containerd

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/mcpaudit/mcpaudit/api/imageindex"
)

// store is a content store in memory.
type store map[digest.Digest][]byte

type blob struct{ content []byte }

func (b blob) ReadAt(p []byte, off int64) (int, error) { return copy(p, b.content[off:]), nil }
func (b blob) Size() int64                             { return int64(len(b.content)) }
func (b blob) Close() error                            { return nil }

// ReaderAt implements content.Provider.
func (s store) ReaderAt(_ context.Context, d specs.Descriptor) (content.ReaderAt, error) {
	if found, ok := s[d.Digest]; ok {
		return blob{found}, nil
	}
	return nil, errdefs.ErrNotFound
}

func (s store) put(mediaType string, value any) specs.Descriptor {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	d := specs.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(body), Size: int64(len(body))}
	s[d.Digest] = body
	return d
}

// image makes an image for a platform, in whose config n is. The descriptor has no
// platform yet.
func (s store) image(n int, p specs.Platform) specs.Descriptor {
	config := s.put(specs.MediaTypeImageConfig, specs.Image{Platform: p, Author: fmt.Sprint(n), RootFS: specs.RootFS{Type: "layers"}})
	m := specs.Manifest{MediaType: specs.MediaTypeImageManifest, Config: config, Layers: []specs.Descriptor{}}
	m.SchemaVersion = 2
	return s.put(specs.MediaTypeImageManifest, m)
}

func (s store) index(children ...specs.Descriptor) specs.Descriptor {
	i := specs.Index{MediaType: specs.MediaTypeImageIndex, Manifests: children}
	i.SchemaVersion = 2
	return s.put(specs.MediaTypeImageIndex, i)
}

// child is one entry of an index of the tests.
type child struct {
	specs.Platform

	bare      bool   // no platform in the index
	mediaType string // another one than the content's
	nested    bool   // an index that has an image for that platform
	sameAs    int    // the number of an earlier child, from 1
}

func on(platform ...string) child {
	c := child{Platform: specs.Platform{OS: platform[0], Architecture: platform[1]}}
	if len(platform) > 2 {
		c.Variant = platform[2]
	}
	return c
}

func (c child) with(change func(*child)) child {
	change(&c)
	return c
}

func (s store) build(children []child) specs.Descriptor {
	var all []specs.Descriptor
	for n, c := range children {
		d := s.image(n, c.Platform)
		if c.nested {
			inner := d
			inner.Platform = &c.Platform
			d = s.index(inner)
		}
		if c.sameAs > 0 && c.sameAs <= len(all) {
			d = all[c.sameAs-1]
		}
		if !c.bare {
			platform := c.Platform
			d.Platform = &platform
		}
		if c.mediaType != "" {
			d.MediaType = c.mediaType
		}
		all = append(all, d)
	}
	return s.index(all...)
}

// nodes has the platforms by which nodes of each architecture choose.
var nodes = map[string]map[string]platforms.MatchComparer{
	"amd64": {
		"only":          platforms.Only(specs.Platform{OS: "linux", Architecture: "amd64"}),
		"strict":        platforms.OnlyStrict(specs.Platform{OS: "linux", Architecture: "amd64"}),
		"v1":            platforms.Only(specs.Platform{OS: "linux", Architecture: "amd64", Variant: "v1"}),
		"v3":            platforms.Only(specs.Platform{OS: "linux", Architecture: "amd64", Variant: "v3"}),
		"with a system": platforms.Only(specs.Platform{OS: "linux", Architecture: "amd64", OSVersion: "6.1", OSFeatures: []string{"x"}}),
	},
	"arm64": {
		"only":      platforms.Only(specs.Platform{OS: "linux", Architecture: "arm64"}),
		"strict":    platforms.OnlyStrict(specs.Platform{OS: "linux", Architecture: "arm64"}),
		"v8":        platforms.Only(specs.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}),
		"strict v8": platforms.OnlyStrict(specs.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}),
		"v9":        platforms.Only(specs.Platform{OS: "linux", Architecture: "arm64", Variant: "v9.2"}),
	},
	"386": {"only": platforms.Only(specs.Platform{OS: "linux", Architecture: "386"})},
	"arm": {"v7": platforms.Only(specs.Platform{OS: "linux", Architecture: "arm", Variant: "v7"})},
}

func init() {
	spec := platforms.DefaultSpec()
	if nodes[spec.Architecture] == nil {
		nodes[spec.Architecture] = map[string]platforms.MatchComparer{}
	}
	nodes[spec.Architecture]["default"] = platforms.Default()
}

// author tells images apart.
func (s store) author(config digest.Digest) string {
	var image specs.Image
	if err := json.Unmarshal(s[config], &image); err != nil {
		panic(err)
	}
	return image.Author
}

// compare lets both choose. disagree says how containerd could run another image than we
// do, and ambiguous is our own word; ok is false if we choose none.
func (s store) compare(root specs.Descriptor, wanted string) (disagree, ambiguous string, ok bool, err error) {
	document, err := imageindex.Read(s[root.Digest], root.MediaType)
	if err != nil {
		return "", "", false, err
	}
	choice, err := document.Choose(wanted)
	if err != nil {
		return "", "", false, nil // there is nothing to run
	}
	child := digest.Digest(choice.Digest)
	if document, err := imageindex.Read(s[child], choice.MediaType); err != nil || document.IsIndex {
		return "", "", false, nil // it is refused
	}
	var ours specs.Manifest
	if err := json.Unmarshal(s[child], &ours); err != nil {
		return "", "", false, err
	}
	for architecture, matchers := range nodes {
		if choice.Several && choice.Platform != "linux/"+architecture {
			continue // the gate admits it on nodes of the platform that was audited only
		}
		for name, matcher := range matchers {
			theirs, err := images.Manifest(context.Background(), s, root, matcher)
			if err == nil && s.author(theirs.Config.Digest) != s.author(ours.Config.Digest) {
				disagree = fmt.Sprintf("%s nodes (%s) run image %s, we run %s of %s", architecture, name,
					s.author(theirs.Config.Digest), s.author(ours.Config.Digest), choice.Platform)
			}
			if err != nil && choice.Platform == "linux/"+architecture {
				disagree = fmt.Sprintf("%s nodes (%s) run nothing: %s", architecture, name, err)
			}
		}
	}
	return disagree, choice.Ambiguous, true, nil
}

func TestS1ContainerdRunsWhatIsUnambiguous(t *testing.T) {
	amd64, arm64, windows := on("linux", "amd64"), on("linux", "arm64"), on("windows", "amd64")
	attestation := on("unknown", "unknown")
	bare := amd64.with(func(c *child) { c.bare = true })
	nested := amd64.with(func(c *child) { c.nested = true })
	features := amd64.with(func(c *child) { c.OSFeatures = []string{"x"} })
	version := amd64.with(func(c *child) { c.OSVersion = "6.1" })
	of := func(mediaType string) child { return amd64.with(func(c *child) { c.mediaType = mediaType }) }
	disagreements := 0
	for _, test := range []struct {
		name      string
		children  []child
		ambiguous bool
	}{
		{"one", []child{amd64}, false},
		{"two platforms", []child{arm64, amd64}, false},
		{"arm64 alone", []child{arm64}, false},
		{"arm64 by its variant", []child{on("linux", "arm64", "v8"), on("linux", "s390x")}, false},
		{"with Windows", []child{windows, windows, amd64}, false},
		{"with attestations", []child{amd64, attestation, arm64, attestation}, false},
		{"as big images have it", []child{amd64, attestation, on("linux", "arm", "v5"), on("linux", "arm", "v7"), on("linux", "arm64", "v8"), on("linux", "386"),
			on("linux", "ppc64le"), on("linux", "riscv64"), on("linux", "s390x")}, false},
		{"386 before amd64", []child{on("linux", "386"), amd64}, false},
		{"386 alone", []child{on("linux", "386")}, false},
		{"a variant before", []child{on("linux", "amd64", "v9"), amd64}, true},
		{"a variant that there is", []child{on("linux", "amd64", "v2"), amd64}, true},
		{"a variant behind", []child{amd64, on("linux", "amd64", "v3")}, true},
		{"a variant alone", []child{on("linux", "amd64", "v3")}, true},
		{"the first variant", []child{on("linux", "amd64", "v1"), amd64}, true},
		{"the same twice", []child{amd64, amd64}, true},
		{"arm64 twice, as v8 and without", []child{on("linux", "arm64", "v8"), arm64}, true},
		{"arm64 v9", []child{arm64, on("linux", "arm64", "v9")}, true},
		{"arm of several variants", []child{on("linux", "arm", "v6"), on("linux", "arm", "v7")}, true},
		{"no platform, before", []child{bare, amd64}, true},
		{"no platform, behind", []child{amd64, bare}, true},
		{"no platform alone", []child{bare}, true},
		{"nested before", []child{nested, amd64}, true},
		{"nested behind", []child{amd64, nested}, true},
		{"os.features", []child{features, amd64}, true},
		{"os.features behind", []child{amd64, features}, true},
		{"os.version", []child{version, amd64}, true},
		{"another spelling", []child{on("linux", "x86_64"), amd64}, true},
		{"another spelling behind", []child{amd64, on("linux", "x86-64")}, true},
		{"another spelling of arm64", []child{on("linux", "aarch64"), arm64}, true},
		{"in capitals", []child{on("Linux", "AMD64"), amd64}, true},
		{"no os", []child{on("", "amd64"), amd64}, true},
		{"no architecture", []child{on("linux", ""), amd64}, true},
		{"no platform in it", []child{on("", ""), amd64}, true},
		{"an unknown media type", []child{of("application/vnd.example+json"), amd64}, true},
		{"no media type", []child{of("application/octet-stream"), amd64}, true},
		{"Docker's schema 1", []child{of("application/vnd.docker.distribution.manifest.v1+json"), amd64}, true},
		{"a manifest that is called an index", []child{of(specs.MediaTypeImageIndex), amd64}, true},
		{"an index that is called a manifest", []child{nested.with(func(c *child) { c.mediaType = specs.MediaTypeImageManifest }), amd64}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := store{}
			disagree, ambiguous, ok, err := s.compare(s.build(test.children), "amd64")
			if err != nil || !ok && !test.ambiguous { // what is refused is not passed either
				t.Fatal(ok, err)
			}
			if ok && (ambiguous != "") != test.ambiguous || disagree != "" && ambiguous == "" {
				t.Errorf("ambiguous: %q; containerd: %q", ambiguous, disagree)
			}
			if disagree != "" {
				disagreements++
			}
		})
	}
	if disagreements < 10 {
		t.Errorf("containerd disagrees on %d of them only: they say little", disagreements)
	}
}

// randomIndex picks from what is usual and what is odd.
func randomIndex(r *rand.Rand) []child {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	var children []child
	for range 1 + r.IntN(4) {
		c := on(pick("linux", "linux", "linux", "linux", "linux", "linux", "linux", "linux", "windows", "unknown", "", "Linux", "darwin"),
			pick("amd64", "amd64", "arm64", "arm64", "386", "arm", "unknown", "", "x86_64", "aarch64", "s390x", "armhf"),
			pick("", "", "", "", "", "", "", "", "", "", "v8", "v1", "v2", "v7", "v9", "8", "V8"))
		odd := func() bool { return r.IntN(30) == 0 }
		c.bare, c.nested = odd(), odd()
		if odd() {
			c.OSVersion = pick("6.1", "10.0")
		}
		if odd() {
			c.OSFeatures = []string{pick("x", "y")}
		}
		if odd() {
			c.mediaType = pick(images.MediaTypeDockerSchema2Manifest, images.MediaTypeDockerSchema2ManifestList, "application/json", specs.MediaTypeImageIndex, specs.MediaTypeImageManifest)
		}
		if odd() {
			c.sameAs = 1
		}
		children = append(children, c)
	}
	return children
}

// checkRandom holds one index to containerd, and reports whether it is unambiguous.
func checkRandom(t *testing.T, seed uint64) bool {
	t.Helper()
	r, s := rand.New(rand.NewPCG(seed, 15)), store{}
	children := randomIndex(r)
	disagree, ambiguous, ok, err := s.compare(s.build(children), []string{"amd64", "arm64"}[r.IntN(2)])
	if err != nil {
		t.Fatal(err)
	}
	if disagree != "" && ambiguous == "" {
		t.Fatalf("seed %d: %s: %+v", seed, disagree, children)
	}
	return ok && ambiguous == ""
}

func TestS1ContainerdRunsWhatIsUnambiguousOfAnyIndex(t *testing.T) {
	clear := 0
	for seed := range uint64(20_000) {
		if checkRandom(t, seed) {
			clear++
		}
	}
	if clear < 1000 {
		t.Errorf("only %d indexes are unambiguous: the others say little", clear)
	}
}

func FuzzS1Choose(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64) { checkRandom(t, seed) })
}
