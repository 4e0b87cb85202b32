package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	if err := expand(ctx, file, dir); err != nil {
		return s, fmt.Errorf("it is no archive of an image: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, index)); err == nil {
		err = s.fromLayout(dir)
		return s, err
	}
	if s.image, err = tarball.ImageFromPath(file, nil); err != nil {
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

func (s *source) fromLayout(dir string) error {
	if info, err := os.Lstat(filepath.Join(dir, index)); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("the directory is no OCI layout: it has no %s", index)
	}
	images, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return fmt.Errorf("read its index: %w", err)
	}
	return s.choose(images, maxDepth)
}

// maxParents is the most directories above a file that is unpacked: an image has its blobs in two.
const maxParents = 4

// expand unpacks the regular files of an archive.
func expand(ctx context.Context, file, dir string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	archive, left := tar.NewReader(from), newLeft()
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.Join(ctx.Err(), left.entry())
		}
		if err != nil {
			return err
		}
		name := path.Clean("/" + h.Name)[1:]
		if h.Typeflag != tar.TypeReg || name == "" || strings.Count(name, "/") > maxParents {
			continue
		}
		if err := tree.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := write(tree, name, archive, left); err != nil {
			return err
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
