package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// maxPath is the most bytes of a path, and maxLinks the most links on one (path_resolution(7)).
	maxPath  = 4096
	maxLinks = 40
	// nobody owns files of ids that no container has.
	nobody = 65534
)

// The names of entries that remove files of lower layers (OCI image specification, "Whiteouts").
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
	reserved = ".wh..wh."
)

// unpacker applies layers to a directory. All paths are of the image, without the "/" at their beginning.
type unpacker struct {
	tree *os.Root
	own  Owner
	left *left
	// stream counts what the layers' archives have, which is more than their files.
	stream *left
	// resolved is the path of the latest directory, as long as no link and no removal may have changed that.
	latest, resolved string
}

// newUnpacker makes the directory.
func newUnpacker(dir string, own Owner) (*unpacker, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	u := &unpacker{tree: tree, own: own, left: newLeft(), stream: newLeft()}
	return u, u.give(".", 0, 0)
}

// layers applies the layers of an image, which have to be those that its config names.
func (u *unpacker) layers(ctx context.Context, of v1.Image, ids []v1.Hash) error {
	layers, err := of.Layers()
	if err != nil {
		return fmt.Errorf("read its layers: %w", err)
	}
	if len(layers) != len(ids) {
		return fmt.Errorf("it has %d layers, and %d in its config", len(layers), len(ids))
	}
	for i, layer := range layers {
		if err := u.verified(ctx, layer, ids[i]); err != nil {
			return fmt.Errorf("layer %d of %d: %w", i+1, len(layers), err)
		}
	}
	return nil
}

func (u *unpacker) verified(ctx context.Context, layer v1.Layer, id v1.Hash) error {
	content, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // only read
	sum := sha256.New()
	stream := io.TeeReader(u.stream.reader(content), sum)
	if err := u.layer(ctx, stream); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, stream); err != nil { // what follows the archive's end
		return err
	}
	if is := hex.EncodeToString(sum.Sum(nil)); id.Algorithm != "sha256" || is != id.Hex {
		return fmt.Errorf("it has the digest sha256:%s, and not %s as the image's config says", is, id)
	}
	return nil
}

// layer applies one layer.
func (u *unpacker) layer(ctx context.Context, content io.Reader) error {
	archive, made := tar.NewReader(content), map[string]bool{}
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.Join(ctx.Err(), u.left.entry())
		}
		if err != nil {
			return err
		}
		if len(h.Name) > maxPath || len(h.Linkname) > maxPath {
			return fmt.Errorf("a path has more than %d bytes", maxPath)
		}
		if name := path.Clean("/" + h.Name)[1:]; name != "" && h.Typeflag != tar.TypeXGlobalHeader {
			if err := u.entry(h, name, archive, made); err != nil {
				return fmt.Errorf("%.200q: %w", h.Name, err)
			}
		}
	}
}

// entry applies one entry of a layer, and adds it to what that layer has made.
func (u *unpacker) entry(h *tar.Header, name string, content io.Reader, made map[string]bool) error {
	dir, base := path.Split(name)
	dir, err := u.parent(dir)
	if err != nil {
		return err
	}
	switch {
	case base == opaque:
		return u.clear(dir, made)
	case strings.HasPrefix(base, reserved):
		return nil // of other whiteout schemes
	case strings.HasPrefix(base, whiteout):
		return u.remove(dir, strings.TrimPrefix(base, whiteout))
	}
	at := path.Join(dir, base)
	for above := at; above != "." && !made[above]; above = path.Dir(above) {
		made[above] = true
	}
	before, err := u.tree.Lstat(at)
	if err == nil && !(before.IsDir() && h.Typeflag == tar.TypeDir) {
		if err := u.drop(at); err != nil {
			return err
		}
	}
	return u.place(h, at, content, err == nil && before.IsDir())
}

// place makes what an entry describes where nothing is, or a directory.
func (u *unpacker) place(h *tar.Header, at string, content io.Reader, isDir bool) error {
	switch h.Typeflag {
	case tar.TypeDir:
		if !isDir {
			if err := u.tree.Mkdir(at, 0o700); err != nil {
				return err
			}
		}
	case tar.TypeReg, tar.TypeGNUSparse:
		if err := write(u.tree, at, content, u.left); err != nil {
			return err
		}
	case tar.TypeSymlink:
		u.forget()
		if err := u.tree.Symlink(h.Linkname, at); err != nil {
			return err
		}
		return u.give(at, h.Uid, h.Gid)
	case tar.TypeLink:
		return u.link(h.Linkname, at)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return nil // the sandbox has its own
	default:
		return fmt.Errorf("it is of the unknown type %q", h.Typeflag)
	}
	return u.describe(h, at)
}

// describe gives a file or a directory its owner, its mode and its time.
func (u *unpacker) describe(h *tar.Header, at string) error {
	if err := u.give(at, h.Uid, h.Gid); err != nil {
		return err
	}
	mode := h.FileInfo().Mode() & (fs.ModePerm | fs.ModeSticky)
	if u.own == nil && h.Typeflag == tar.TypeDir {
		mode |= 0o700 // we go on below it, and remove it in the end
	}
	if err := u.tree.Chmod(at, mode); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeDir || h.ModTime.IsZero() || h.ModTime.Unix() < 0 || h.ModTime.Unix() > math.MaxInt32 {
		return nil
	}
	return u.tree.Chtimes(at, h.ModTime, h.ModTime) // Python compares it with that of its bytecode
}

// link makes a hard link to a file of this layer or a lower one.
func (u *unpacker) link(target, at string) error {
	dir, base := path.Split(path.Clean("/" + target)[1:])
	dir, err := u.resolve(dir)
	if err != nil {
		return err
	}
	if err := u.tree.Link(path.Join(dir, base), at); err != nil {
		return fmt.Errorf("link to %.200q: %w", target, err)
	}
	return nil
}

// give makes the owner of a file one of the image's.
func (u *unpacker) give(at string, uid, gid int) error {
	if u.own == nil {
		return nil
	}
	uid, gid = u.own(known(uid), known(gid))
	return u.tree.Lchown(at, uid, gid)
}

// known returns an id that a container can have.
func known(id int) int {
	if id < 0 || id > nobody {
		return nobody
	}
	return id
}
