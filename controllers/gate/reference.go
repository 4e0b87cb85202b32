package gate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxReference bounds a reference in bytes: a host has 253 at most, a path 255, a tag 128 and a
// digest 135. Parsing one of megabytes takes a second.
const maxReference = 1024

var errLong = fmt.Errorf("an image has at most %d bytes", maxReference)

// errShortID is for a truncated image ID, which container runtimes accept as an ID.
var errShortID = errors.New("a part of an image's id names no image: give all of it, or a name")

// Reference parses an image as a kubelet does. full is the name with registry and tag or digest
// ("docker.io/library/notes:latest"); digest is empty unless the image has one. For the ID of
// an image on the node, "sha256:...", digest is that of its config. Errors are for images that
// a kubelet would reject, and for truncated IDs.
func Reference(image string) (full string, digest v1alpha1.Digest, err error) {
	name, err := parse(image)
	return name.String(), name.digest, err
}

// name is a parsed image name; zero if it cannot be parsed.
type name struct {
	// repository with the registry; empty for the id of an image.
	repository, tag string
	digest          v1alpha1.Digest
}

func parse(image string) (name, error) {
	if len(image) > maxReference {
		return name{}, errLong
	}
	if strings.HasPrefix(image, "sha256:") && !strings.Contains(image, "/") { // else a host of that name
		if !report.IsDigest(image) {
			return name{}, fmt.Errorf("image %q: %w", image, errShortID)
		}
		return name{digest: v1alpha1.Digest(image)}, nil
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return name{}, fmt.Errorf("image %q: %w", image, err)
	}
	parsed := name{repository: host(reference.Domain(named)) + "/" + reference.Path(named)}
	if tagged, ok := reference.TagNameOnly(named).(reference.Tagged); ok {
		parsed.tag = tagged.Tag()
	}
	if digested, ok := named.(reference.Digested); ok {
		parsed.digest = v1alpha1.Digest(digested.Digest())
	}
	return parsed, nil
}

// host lowercases a registry, as host names are case-insensitive, unless only its capitals
// distinguish it from a path.
func host(registry string) string {
	if lower := strings.ToLower(registry); lower == "localhost" || strings.ContainsAny(lower, ".:") {
		return lower
	}
	return registry
}

// String returns the full name.
func (n name) String() string {
	switch {
	case n.repository == "":
		return string(n.digest)
	case n.digest != "" && n.tag != "":
		return n.repository + ":" + n.tag + "@" + string(n.digest)
	case n.digest != "":
		return n.repository + "@" + string(n.digest)
	case n.tag != "":
		return n.repository + ":" + n.tag
	}
	return n.repository
}

// isID reports whether this is the ID of an image on the node: the digest of its config, not of
// a manifest.
func (n name) isID() bool { return n.repository == "" && n.digest != "" }
