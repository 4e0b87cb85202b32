// Package image gets container images from registries, OCI layouts and archives, and unpacks them. Whoever built an image
// may be hostile: nothing is written outside of the directory that it is unpacked into.
package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/packages"
)

const (
	// timeout bounds how long it may take to get and unpack an image.
	timeout = 10 * time.Minute
	// maxSaid bounds an error about an image in bytes: registries write parts of it.
	maxSaid = 500
)

// Image is an unpacked image.
type Image struct {
	// Name is the image's in its registry, or a path, and Tag the one that it was found by; "" for a digest or a path.
	Name, Tag string
	// Digest of the platform's manifest. An archive of an older "docker save" has none: there it is that of the
	// config, which Docker shows as the image's ID.
	Digest string
	// Root is the directory with its files.
	Root string
	// Command is the command line of the container, and Env ("NAME=value") the environment in the image's config.
	Command, Env []string
	// Dir is the working directory, without links.
	Dir string
	// UID and GID are the ids of its user, and Home is what a container runtime sets HOME to.
	UID, GID int
	Home     string
}

// Owner returns the ids that own a file of the image on this machine.
type Owner func(uid, gid int) (int, int)

// Get gets the image of a container, and unpacks it into a new directory, with empty ones for its volumes. With a nil owner,
// the files belong to the user of this process.
func Get(ctx context.Context, c packages.Container, dir string, own Owner) (Image, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	of, err := get(ctx, c, dir, own)
	switch {
	case ctx.Err() != nil:
		return of, fmt.Errorf("get image %s: %w", c.Image, ctx.Err())
	case err != nil:
		return of, fmt.Errorf("get image %s: %s", c.Image, report.Cut(strings.Join(strings.Fields(err.Error()), " "), maxSaid))
	}
	return of, nil
}

func get(ctx context.Context, c packages.Container, dir string, own Owner) (of Image, err error) {
	find := fromRegistry
	if strings.HasPrefix(c.Image, "/") || strings.HasPrefix(c.Image, ".") {
		find = fromPath
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return of, err
	}
	from, err := find(ctx, c.Image, filepath.Join(dir, "archive"))
	if err != nil {
		return of, err
	}
	config, err := from.config()
	if err != nil {
		return of, err
	}
	of = Image{Name: from.name, Tag: from.tag, Digest: from.digest, Root: filepath.Join(dir, "root"), Env: config.Config.Env}
	if of.Command = commandOf(c, config.Config); len(of.Command) == 0 {
		return of, errors.New("it starts no program (it has no entrypoint): name one after it")
	}
	u, err := newUnpacker(of.Root, own)
	if err != nil {
		return of, err
	}
	defer func() { _ = u.tree.Close() }() // opened for its name only
	if err := u.layers(ctx, from.image, config.RootFS.DiffIDs); err != nil {
		return of, err
	}
	if of.UID, of.GID, err = u.user(cmp.Or(c.User, config.Config.User)); err != nil {
		return of, err
	}
	if of.Home, err = u.home(of.UID, of.Env); err != nil {
		return of, err
	}
	if of.Dir, err = u.directory(cmp.Or(c.Dir, config.Config.WorkingDir)); err != nil {
		return of, err
	}
	for _, volume := range c.Volumes {
		if err := u.volume(volume, of.UID, of.GID); err != nil {
			return of, err
		}
	}
	return of, os.RemoveAll(filepath.Join(dir, "archive"))
}

// commandOf returns the command line of a container: an entrypoint replaces the image's whole command, arguments its Cmd.
func commandOf(c packages.Container, config v1.Config) []string {
	entrypoint, arguments := config.Entrypoint, config.Cmd
	if c.Entrypoint != "" {
		entrypoint, arguments = []string{c.Entrypoint}, nil
	}
	if len(c.Arguments) > 0 {
		arguments = c.Arguments
	}
	return slices.Concat(entrypoint, arguments)
}

// Package describes the image in a report.
func (i Image) Package() report.Package {
	return report.Package{RegistryType: "oci", Identifier: i.Name, Version: i.Tag, LockDigest: i.Digest, Count: 1}
}

// Encrypted returns an error for an image that no registry serves by HTTPS, such as one of this machine.
func Encrypted(reference string) error {
	ref, err := name.ParseReference(reference)
	if err == nil && ref.Context().Scheme() != "https" {
		err = fmt.Errorf("the registry of %s is not asked by HTTPS", reference)
	}
	return err
}

// fromRegistry finds an image by its name, with the credentials that docker login has stored.
func fromRegistry(ctx context.Context, reference, _ string) (s source, err error) {
	ref, err := name.ParseReference(reference)
	if id := strings.HasPrefix(reference, "sha256:") && !strings.Contains(reference, "/"); err != nil || id { // else a tag of docker.io/library/sha256
		return s, errors.New("invalid name (want oci:NAME, oci:NAME:TAG, oci:NAME@sha256:DIGEST or the path of a layout or an archive, which begins with / or .)")
	}
	if tag, ok := ref.(name.Tag); ok {
		s.tag = tag.TagStr()
	}
	s.name = ref.Context().Name()
	found, err := remote.Get(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		if _, missing := os.Lstat(reference); missing == nil {
			err = fmt.Errorf("%w; if the local path is meant, write oci:./%s", err, reference)
		}
		return s, err
	}
	if found.MediaType.IsIndex() {
		index, err := found.ImageIndex()
		if err != nil {
			return s, err
		}
		err = s.choose(index, maxDepth) // before s is copied
		return s, err
	}
	if s.image, err = found.Image(); err != nil {
		return s, err
	}
	err = s.verify(found.Digest)
	return s, err
}
