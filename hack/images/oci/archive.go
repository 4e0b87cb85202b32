package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/mcpaudit/mcpaudit/test/command"
)

// The annotations that name an image in an archive: refName by the OCI image spec,
// containerName for containerd.
const (
	refName       = "org.opencontainers.image.ref.name"
	containerName = "io.containerd.image.name"
)

// plain is an image without artifactType in its descriptor. The library would set one, which
// is for artifacts other than images (OCI image spec, descriptor).
type plain struct{ v1.Image }

// Descriptor implements partial.Describable.
func (p plain) Descriptor() (*v1.Descriptor, error) {
	d := new(v1.Descriptor)
	var err error
	if d.MediaType, err = p.MediaType(); err != nil {
		return nil, err
	}
	if d.Size, err = p.Size(); err != nil {
		return nil, err
	}
	d.Digest, err = p.Digest()
	return d, err
}

// Index makes an index of the images of one program for several architectures.
func Index(annotations map[string]string, images ...v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		file, err := image.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("read image config: %w", err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: plain{image}, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: file.OS, Architecture: file.Architecture}},
		})
	}
	annotated, ok := mutate.Annotations(index, annotations).(v1.ImageIndex)
	if !ok {
		return nil, errors.New("annotate index: result is not an index")
	}
	return annotated, nil
}

// WriteArchive writes an index as a tar of an OCI image layout, for skopeo, crane, oras and
// containerd. ref is REGISTRY/REPOSITORY:TAG. Equal arguments give equal files.
func WriteArchive(file, ref string, index v1.ImageIndex) error {
	dir, err := os.MkdirTemp(filepath.Dir(file), ".layout-")
	if err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	// Tools look up the tag, containerd the whole name.
	tag, err := name.NewTag(ref)
	if err != nil {
		return fmt.Errorf("parse reference: %w", err)
	}
	names := layout.WithAnnotations(map[string]string{refName: tag.TagStr(), containerName: ref})
	if err := l.AppendIndex(index, names); err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	t := NewTree()
	t.CopyAll("/", dir, nil)
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := errors.Join(t.tar(out), out.Close()); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// PushArchive uploads the index of an archive to REGISTRY or REGISTRY/PATH, under its
// repository and tag in the archive, and returns the reference by digest.
func PushArchive(ctx context.Context, file, registry string) (string, error) {
	dir, err := os.MkdirTemp("", "images-")
	if err != nil {
		return "", fmt.Errorf("make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := command.Output(ctx, "", "tar", "-xf", file, "-C", dir, "--no-same-owner"); err != nil { // refuses names outside of dir
		return "", err
	}
	l, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	manifest, err := l.IndexManifest()
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if len(manifest.Manifests) != 1 || !manifest.Manifests[0].MediaType.IsIndex() {
		return "", fmt.Errorf("read %s: an archive of a release has one index of images, this one has %d entries", file, len(manifest.Manifests))
	}
	descriptor := manifest.Manifests[0]
	ref, err := name.NewTag(descriptor.Annotations[containerName])
	if err != nil {
		return "", fmt.Errorf("read %s: the annotation %s: %w", file, containerName, err)
	}
	target, err := name.NewTag(registry + "/" + ref.RepositoryStr() + ":" + ref.TagStr())
	if err != nil {
		return "", fmt.Errorf("parse reference: %w", err)
	}
	index, err := l.ImageIndex(descriptor.Digest)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if err := remote.WriteIndex(target, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("push %s: %w", target, err)
	}
	return target.Context().Digest(descriptor.Digest.String()).String(), nil
}
