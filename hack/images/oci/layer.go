package oci

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is a compressed tar in a file. Its diff ID is known from the tree that
// it was made of, so that a layer made before is neither packed nor unpacked.
type layer struct {
	file   string
	size   int64
	digest v1.Hash
	diffID v1.Hash
}

// Layer packs the tree into a file of the folder cache, which it makes if it
// has to. A file that is there already is used again.
func (t *Tree) Layer(cache string) (v1.Layer, error) {
	sum := sha256.New()
	if err := t.tar(sum); err != nil {
		return nil, fmt.Errorf("digest layer: %w", err)
	}
	l := layer{diffID: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum.Sum(nil))}}
	l.file = filepath.Join(cache, l.diffID.Hex+".tar.gz")
	// The file's time says when it was last used, for whoever cleans the cache.
	now := time.Now()
	if err := os.Chtimes(l.file, now, now); errors.Is(err, fs.ErrNotExist) {
		if err := t.pack(l.file); err != nil {
			return nil, fmt.Errorf("pack layer: %w", err)
		}
	}
	f, err := os.Open(l.file)
	if err != nil {
		return nil, fmt.Errorf("open layer: %w", err)
	}
	defer func() { _ = f.Close() }()
	if l.digest, l.size, err = v1.SHA256(f); err != nil {
		return nil, fmt.Errorf("digest layer: %w", err)
	}
	return l, nil
}

// pack writes the file under another name first: one that is there is whole.
func (t *Tree) pack(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".layer-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	defer func() { _ = tmp.Close() }()
	zip, err := gzip.NewWriterLevel(tmp, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := t.tar(zip); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// The methods of v1.Layer.

func (l layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l layer) DiffID() (v1.Hash, error)             { return l.diffID, nil }
func (l layer) Size() (int64, error)                 { return l.size, nil }
func (l layer) MediaType() (types.MediaType, error)  { return types.OCILayer, nil }
func (l layer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l layer) Uncompressed() (io.ReadCloser, error) { return unzip(l.file) }

// unzipped closes the file along with the stream that reads it.
type unzipped struct {
	*gzip.Reader
	file *os.File
}

func (u unzipped) Close() error { return errors.Join(u.Reader.Close(), u.file.Close()) }

func unzip(file string) (io.ReadCloser, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return unzipped{r, f}, nil
}
