package image

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/mcpaudit/mcpaudit/api/imageindex"
)

const (
	// maxDepth bounds how many indexes may lead to an image.
	maxDepth = 4
	// maxLayers and maxConfig (bytes) bound an image.
	maxLayers = 256
	maxConfig = 4 << 20
	// maxListed bounds the platforms in an error.
	maxListed = 20
)

// source is an image that was found and is not unpacked yet.
type source struct {
	image             v1.Image
	name, tag, digest string
	// layout is the directory of the OCI layout that it is in; "" for none.
	layout string
}

// platform is the one whose images run here.
func platform() v1.Platform { return v1.Platform{OS: "linux", Architecture: runtime.GOARCH} }

// choose finds the only image of an index that runs here.
func (s *source) choose(index v1.ImageIndex, depth int) error {
	if depth == 0 {
		return errors.New("its indexes name indexes without end")
	}
	document, err := read(index)
	if err != nil {
		return fmt.Errorf("read its index: %w", err)
	}
	fit := document.Fitting(platform().Architecture)
	if len(fit) != 1 {
		return fmt.Errorf("it has %d images for %s, and not one (%s)", len(fit), platform(), listed(document))
	}
	digest, err := v1.NewHash(fit[0].Digest)
	if err != nil {
		return fmt.Errorf("read its index: %w", err)
	}
	if err := s.small(digest, maxConfig); err != nil {
		return err
	}
	if !fit[0].IsIndex {
		if s.image, err = index.Image(digest); err != nil {
			return err
		}
		return s.verify(digest)
	}
	below, err := index.ImageIndex(digest)
	if err != nil {
		return fmt.Errorf("read its index: %w", err)
	}
	return s.choose(below, depth-1)
}

func read(index v1.ImageIndex) (imageindex.Document, error) {
	text, err := index.RawManifest()
	if err != nil {
		return imageindex.Document{}, err
	}
	mediaType, err := index.MediaType()
	if err != nil {
		return imageindex.Document{}, err
	}
	return imageindex.Read(text, string(mediaType))
}

// listed names the platforms of an index.
func listed(document imageindex.Document) string {
	names := document.Platforms(maxListed)
	if len(names) == 0 {
		return "it names no platforms"
	}
	return "it names " + strings.Join(names, ", ")
}

// verify checks that the image's manifest has a digest and names the config, and sets the digest.
func (s *source) verify(said v1.Hash) error {
	text, err := s.image.RawManifest()
	if err != nil {
		return fmt.Errorf("read its manifest: %w", err)
	}
	digest, _, err := v1.SHA256(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if said != digest {
		return fmt.Errorf("its manifest has the digest %s, and not %s by which it is named", digest, said)
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(text))
	if err != nil {
		return errors.New("its manifest is no JSON of a manifest")
	}
	switch {
	case manifest.Config.Size > maxConfig:
		return fmt.Errorf("its config has more than %d bytes", maxConfig)
	case len(manifest.Layers) > maxLayers:
		return fmt.Errorf("it has more than %d layers", maxLayers)
	}
	for _, layer := range manifest.Layers {
		if err := s.small(layer.Digest, maxBytes); err != nil {
			return err
		}
	}
	if err := s.small(manifest.Config.Digest, maxConfig); err != nil {
		return err
	}
	config, err := s.image.RawConfigFile()
	if err != nil {
		return fmt.Errorf("read its config: %w", err)
	}
	if is, _, err := v1.SHA256(bytes.NewReader(config)); err != nil || is != manifest.Config.Digest {
		return fmt.Errorf("its config has the digest %s, and not %s as its manifest says", is, manifest.Config.Digest)
	}
	s.digest = digest.String()
	return nil
}

// config returns the image's config.
func (s *source) config() (*v1.ConfigFile, error) {
	config, err := s.image.ConfigFile()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read its config: %w", err)
	case config.OS != platform().OS || config.Architecture != platform().Architecture:
		return nil, fmt.Errorf("it is for %s/%s, and this machine runs images for %s", config.OS, config.Architecture, platform())
	case len(config.RootFS.DiffIDs) > maxLayers:
		return nil, fmt.Errorf("it has more than %d layers", maxLayers)
	}
	return config, nil
}
