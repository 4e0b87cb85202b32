package gate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxReference is the most bytes of a reference: there are 253 in a host's name, 255 in a
// path, 128 in a tag and 135 in a digest. To find the parts of one with millions takes a second.
const maxReference = 1024

var errLong = fmt.Errorf("an image has at most %d bytes", maxReference)

// errShortID is about a part of an image's id, which a container runtime takes for the id.
var errShortID = errors.New("a part of an image's id names no image: give all of it, or a name")

// Reference reads an image as a kubelet does. full is its whole name, with the registry
// and the tag, or with the digest ("docker.io/library/notes:latest"); digest is empty
// unless the image names one. Of the ID of an image that is on the node, "sha256:...",
// it is the digest of the image's config. An error means that a kubelet would refuse the image, too; a part of
// an ID, which a container runtime takes for the whole, is an error as well.
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

// host is a registry in lower case, as hosts know none; but for one that only its capitals
// tell from the first part of a path.
func host(registry string) string {
	if lower := strings.ToLower(registry); lower == "localhost" || strings.ContainsAny(lower, ".:") {
		return lower
	}
	return registry
}

// String is the name as one text.
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

// isID reports whether it is the ID of an image on the node, which is the digest of its
// config and not of a manifest.
func (n name) isID() bool { return n.repository == "" && n.digest != "" }
