package imageref

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/mcpaudit/mcpaudit/api/imageindex"
)

// choose fetches the image manifest to run of what a digest names: of an index the one
// of the preferred platform if it has it, else another one for linux, because the Pod is
// run where that runs.
func (r *Resolver) choose(resolved name.Digest, options []remote.Option) (*remote.Descriptor, imageindex.Choice, error) {
	var none imageindex.Choice
	named, document, err := fetch(resolved, options)
	if err != nil || !document.IsIndex {
		return named, none, err
	}
	choice, err := document.Choose(r.platform.Architecture)
	if err != nil {
		return nil, none, err
	}
	child, document, err := fetch(resolved.Context().Digest(choice.Digest), options)
	switch {
	case err != nil:
		return nil, none, err
	case document.IsIndex, string(child.MediaType) != choice.MediaType:
		return nil, none, fmt.Errorf("%w: a manifest has another media type than its index states", imageindex.ErrAmbiguous)
	}
	return child, choice, nil
}

func fetch(reference name.Digest, options []remote.Option) (*remote.Descriptor, imageindex.Document, error) {
	found, err := remote.Get(reference, options...)
	if err != nil {
		return nil, imageindex.Document{}, fmt.Errorf("read manifest: %w", err)
	}
	document, err := imageindex.Read(found.Manifest, string(found.MediaType))
	if err != nil {
		return nil, document, fmt.Errorf("read manifest: %w", err)
	}
	return found, document, nil
}

// readConfig reads the config of an image for linux.
func readConfig(image v1.Image) (*v1.ConfigFile, error) {
	raw, err := image.RawConfigFile()
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if err := imageindex.CheckConfig(raw); err != nil {
		return nil, err
	}
	if config.OS != "" && config.OS != "linux" {
		return nil, imageindex.ErrNoPlatform
	}
	return config, nil
}

// written is the platform of a config; empty unless both parts are known.
func written(config *v1.ConfigFile) string {
	if config.OS == "" || config.Architecture == "" {
		return ""
	}
	return strings.Join([]string{config.OS, config.Architecture}, "/")
}
