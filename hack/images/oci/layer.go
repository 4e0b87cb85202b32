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
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is a compressed tar in a file. Its diff ID comes from the tree, so that a cached layer
// is neither packed nor unpacked.
type layer struct {
	file   string
	size   int64
	digest v1.Hash
	diffID v1.Hash
}

// Layer packs the tree into a file in the folder cache, which it creates if needed, or reuses
// the file of an earlier run.
func (t *Tree) Layer(cache string) (v1.Layer, error) {
	sum := sha256.New()
	if err := t.tar(sum); err != nil {
		return nil, fmt.Errorf("digest layer: %w", err)
	}
	l := layer{diffID: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum.Sum(nil))}}
	l.file = filepath.Join(cache, l.diffID.Hex+".tar.gz")
	// The file's time is that of its last use, by which the cache is pruned.
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
	return partial.CompressedToLayer(l)
}

// pack writes a file under another name and renames it, so an existing file is complete.
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

// The methods of partial.CompressedLayer and partial.WithDiffID.

func (l layer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l layer) DiffID() (v1.Hash, error)            { return l.diffID, nil }
func (l layer) Size() (int64, error)                { return l.size, nil }
func (l layer) MediaType() (types.MediaType, error) { return types.OCILayer, nil }
func (l layer) Compressed() (io.ReadCloser, error)  { return os.Open(l.file) }
