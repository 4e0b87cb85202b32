package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ensure makes a directory of the server that the machine may not have. It stays
// within the root, whatever links the machine has on the way.
func (r *root) ensure(path string, mode fs.FileMode) error {
	tree, err := os.OpenRoot(r.at("/"))
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	name := strings.TrimPrefix(path, "/")
	if err := tree.MkdirAll(name, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return tree.Chmod(name, mode)
}

// place makes a world-readable file of ours in place of any other. It stays within
// the root, as ensure does.
func (r *root) place(path string, content []byte) error {
	if err := r.ensure(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tree, err := os.OpenRoot(r.at("/"))
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	name := strings.TrimPrefix(path, "/")
	if err := tree.RemoveAll(name); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err := tree.WriteFile(name, content, 0o444); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	installed := time.Now().Add(-age)
	return tree.Chtimes(name, installed, installed)
}

// age is the time since the machine seems to have been set up.
const age = 211 * 24 * time.Hour
