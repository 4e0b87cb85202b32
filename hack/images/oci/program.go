package oci

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// library matches the absolute paths in the output of ldd(1), after an arrow or alone (the
// loader).
var library = regexp.MustCompile(`(?m)(?:=> |^\s+)(/\S+) \(0x`)

// CopyProgram adds programs or shared objects of this machine, and every library that the
// loader finds for them, at their own paths.
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

// Libraries lists the libraries that the loader of this machine loads for the files.
func Libraries(ctx context.Context, files ...string) ([]string, error) {
	var found []string
	for chunk := range slices.Chunk(files, 100) {
		// ldd fails if one of the files is static, but still lists the others.
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
