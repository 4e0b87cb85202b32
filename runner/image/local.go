package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const index = "index.json"

// fromPath finds the image in an OCI layout, or in an archive of one or of "docker save", which it unpacks into a new directory.
func fromPath(ctx context.Context, file, dir string) (s source, err error) {
	s.name = file
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return s, err
	case info.IsDir():
		err = s.fromLayout(file)
		return s, err
	case !info.Mode().IsRegular():
		return s, errors.New("it is no file or directory")
	}
	sizes, err := expand(ctx, file, dir)
	if err != nil {
		return s, fmt.Errorf("it is no archive of an image: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, index)); err == nil {
		err = s.fromLayout(dir)
		return s, err
	}
	if err := s.fromDocker(file, sizes); err != nil {
		return s, fmt.Errorf("it is no archive of one image: %w", err)
	}
	config, err := s.image.RawConfigFile()
	if err != nil {
		return s, fmt.Errorf("read its config: %w", err)
	}
	id, _, err := v1.SHA256(bytes.NewReader(config))
	s.digest = id.String()
	return s, err
}

// fromDocker finds the image in an archive of an older "docker save", whose files have sizes.
func (s *source) fromDocker(file string, sizes map[string]int64) error {
	const table = "manifest.json"
	if sizes[table] > maxConfig {
		return fmt.Errorf("its %s has more than %d bytes", table, maxConfig)
	}
	open := func() (io.ReadCloser, error) { return os.Open(file) }
	images, err := tarball.LoadManifest(open)
	if err != nil {
		return err
	}
	for _, of := range images {
		if sizes[local(of.Config)] > maxConfig {
			return fmt.Errorf("its config has more than %d bytes", maxConfig)
		}
	}
	s.image, err = tarball.Image(open, nil)
	return err
}

// small checks a blob of a layout that is read into memory, or waited for: a registry's are bounded by their descriptors.
func (s *source) small(digest v1.Hash, most int64) error {
	if s.layout == "" {
		return nil
	}
	info, err := os.Stat(filepath.Join(s.layout, "blobs", digest.Algorithm, digest.Hex))
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("its blob %s is no file", digest)
	case info.Size() > most:
		return fmt.Errorf("its blob %s has more than %d bytes", digest, most)
	}
	return nil
}

// local returns the name of a file in an archive as expand knows it.
func local(name string) string { return path.Clean("/" + name)[1:] }

func (s *source) fromLayout(dir string) error {
	s.layout = dir
	if info, err := os.Lstat(filepath.Join(dir, index)); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return fmt.Errorf("the directory is no OCI layout: it has no %s, or one of more than %d bytes", index, maxConfig)
	}
	images, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return fmt.Errorf("read its index: %w", err)
	}
	return s.choose(images, maxDepth)
}

// maxParents is the most directories above a file that is unpacked: an image has its blobs in two.
const maxParents = 4

// expand unpacks the regular files of an archive, and returns their sizes: of several with one name the largest, and no
// bound for a link, which may lead to any.
func expand(ctx context.Context, file, dir string) (sizes map[string]int64, err error) {
	from, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // only read
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	archive, left := tar.NewReader(from), newLeft()
	sizes = map[string]int64{}
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return sizes, nil
		}
		if err == nil {
			err = errors.Join(ctx.Err(), left.entry())
		}
		if err != nil {
			return nil, err
		}
		name := local(h.Name)
		if h.Typeflag != tar.TypeReg || name == "" || strings.Count(name, "/") > maxParents {
			sizes[name] = math.MaxInt64
			continue
		}
		sizes[name] = max(sizes[name], h.Size)
		if err := tree.MkdirAll(path.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := write(tree, name, archive, left); err != nil {
			return nil, err
		}
	}
}

// write makes a file in place of any other.
func write(tree *os.Root, name string, from io.Reader, left *left) error {
	if err := tree.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := tree.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, left.reader(from))
	return errors.Join(err, to.Close())
}
