package oci

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// library matches the absolute paths that ldd(1) prints, both behind an arrow
// and alone (the loader).
var library = regexp.MustCompile(`(?m)(?:=> |^\s+)(/\S+) \(0x`)

// CopyProgram adds programs or shared objects of this machine at their own
// paths, with every library that the loader would find for them.
func (t *Tree) CopyProgram(ctx context.Context, files ...string) {
	for _, file := range files {
		t.Copy(file, file)
	}
	t.CopyLibraries(ctx, files...)
}

// CopyLibraries adds the libraries that the files need, at their own paths.
// Static programs need none.
func (t *Tree) CopyLibraries(ctx context.Context, files ...string) {
	libraries, err := Libraries(ctx, files...)
	if err != nil {
		t.fail(err)
	}
	for _, file := range libraries {
		t.Copy(file, file)
	}
}

// Libraries lists what the loader of this machine would load for the files.
func Libraries(ctx context.Context, files ...string) ([]string, error) {
	var found []string
	for chunk := range slices.Chunk(files, 100) {
		// ldd fails when one of the files is static, and says so.
		out, err := exec.CommandContext(ctx, "ldd", chunk...).Output()
		if err != nil && len(out) == 0 {
			return nil, fmt.Errorf("run ldd: %w", err)
		}
		for _, m := range library.FindAllSubmatch(out, -1) {
			found = append(found, filepath.Clean(string(m[1])))
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
