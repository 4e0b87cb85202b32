package imageref

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// errPlatform says that an image is for no platform that an audit could run on.
var errPlatform = errors.New("it is not for linux")

// choose is the image to run of what a reference names, and its platform: of an index
// the one of the wanted platform if it has it, and else another one for linux, because
// the Pod will be run where that runs. several tells whether the index has others.
func choose(found *remote.Descriptor, wanted v1.Platform) (chosen v1.Image, platform string, several bool, err error) {
	if !found.MediaType.IsIndex() {
		image, err := found.Image()
		if err != nil {
			return nil, "", false, fmt.Errorf("read manifest: %w", err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			return nil, "", false, fmt.Errorf("read config: %w", err)
		}
		if config.OS != "" && config.OS != "linux" {
			return nil, "", false, fmt.Errorf("%w but for %s", errPlatform, config.OS)
		}
		return image, written(*cmp.Or(config.Platform(), &v1.Platform{})), false, nil
	}
	index, err := found.ImageIndex()
	if err != nil {
		return nil, "", false, fmt.Errorf("read index: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, "", false, fmt.Errorf("read index: %w", err)
	}
	child, err := chooseChild(manifest.Manifests, wanted)
	if err != nil {
		return nil, "", false, err
	}
	image, err := index.Image(child.Digest)
	if err != nil {
		return nil, "", false, fmt.Errorf("read manifest: %w", err)
	}
	return image, written(platformOf(child)), isForSeveral(manifest.Manifests), nil
}

// isForSeveral tells whether an index has more than one thing to run. An attestation is
// for "unknown"; what is in an index of the index is not looked at, and counts.
func isForSeveral(children []v1.Descriptor) bool {
	n := 0
	for _, child := range children {
		if platformOf(child).Architecture != "unknown" {
			n++
		}
	}
	return n > 1
}

// chooseChild is by preference the wanted platform, amd64, arm64, and what comes first.
func chooseChild(children []v1.Descriptor, wanted v1.Platform) (v1.Descriptor, error) {
	var fitting []v1.Descriptor
	var others []string
	for _, child := range children {
		if !child.MediaType.IsImage() {
			continue
		}
		if p := platformOf(child); p.OS != "linux" || p.Architecture == "" || p.Architecture == "unknown" {
			others = append(others, p.String()) // an attestation is for "unknown"
			continue
		}
		fitting = append(fitting, child)
	}
	if len(fitting) == 0 {
		return v1.Descriptor{}, fmt.Errorf("%w but for %q", errPlatform, slices.Compact(others))
	}
	for _, like := range []v1.Platform{wanted, {OS: "linux", Architecture: wanted.Architecture}, {OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}} {
		if i := slices.IndexFunc(fitting, func(d v1.Descriptor) bool { return platformOf(d).Satisfies(like) }); i >= 0 {
			return fitting[i], nil
		}
	}
	return fitting[0], nil
}

// platformOf takes a manifest without a platform for what container runtimes do.
func platformOf(child v1.Descriptor) v1.Platform {
	if child.Platform == nil {
		return v1.Platform{OS: "linux", Architecture: "amd64"}
	}
	return *child.Platform
}

// written is empty unless both parts are known.
func written(p v1.Platform) string {
	if p.OS == "" || p.Architecture == "" {
		return ""
	}
	return strings.Join([]string{p.OS, p.Architecture}, "/")
}
