package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// plant puts files below root's /tmp, which is where the arguments of calls lead.
// What is there stays: the server may have changed it when it ran before. No
// symbolic link leads out of root, or anywhere in place of a file.
func plant(root string, files []inputs.File) error {
	if len(files) == 0 {
		return nil
	}
	all, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = all.Close() }() // opened for its name only
	tmp, err := all.OpenRoot("tmp")
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Close() }() // as above
	for _, f := range files {
		if err := plantFile(tmp, f); err != nil {
			return fmt.Errorf("plant %s: %w", f.Path, err)
		}
	}
	plantOutside(all)
	return nil
}

// plantBelow puts files into a directory that the server was started for. What it has no
// room for, or the server may not write, is not there.
func plantBelow(dir string, files []inputs.File) {
	at, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = at.Close() }() // opened for its name only
	for _, f := range files {
		_ = plantFile(at, f) // as said
	}
}

// plantOutside puts files where no argument is to lead. An image may have no such
// directory, or a read-only one: what leads there finds nothing then.
func plantOutside(all *os.Root) {
	dir := strings.TrimPrefix(inputs.OutsideDir, "/")
	if all.MkdirAll(dir, 0o755) != nil {
		return
	}
	for _, f := range inputs.OutsideFiles {
		_ = plantFile(all, inputs.File{Path: path.Join(dir, f.Path), Content: f.Content}) // as above
	}
}

// plantLures puts a link that leads out into a directory, and a directory beside it whose name
// begins with its own. What cannot be put there is not there.
func plantLures(dir string) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return
	}
	if at, err := os.OpenRoot(dir); err == nil {
		_ = at.Symlink(inputs.OutsideDir, inputs.LinkName) // as said
		for number := range inputs.MaxOutside {
			_ = at.Symlink(inputs.OutsideFile(number+1, ".txt"), inputs.FileLink(number+1)) // as said
		}
		_ = at.Close() // opened for its name only
	}
	sibling := inputs.Sibling(dir)
	if os.Mkdir(sibling, 0o755) == nil {
		plantBelow(sibling, inputs.OutsideFiles)
	}
}

func plantFile(tmp *os.Root, f inputs.File) error {
	if err := tmp.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
		return err
	}
	file, err := tmp.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.Write(f.Content)
	return errors.Join(err, file.Close())
}
