package oci

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// LibrariesIn finds the loader of a program below root, and the libraries it would load. root
// has unpacked packages, maybe of another architecture, so nothing is run: elf(5), PT_INTERP
// and DT_NEEDED. triplet names the folder of libraries. The result has the files by their
// paths in the image.
func LibrariesIn(root, triplet, program string) (map[string]string, error) {
	found, place, loader := map[string]string{}, "", ""
	next := []string{filepath.Join(root, program)}
	for len(next) > 0 {
		file := next[0]
		next = next[1:]
		interpreter, needed, err := wanted(file)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for _, name := range needed {
			target := path.Join("/lib", triplet, name)
			if found[target] != "" {
				continue
			}
			if found[target], err = libraryIn(root, triplet, name); err != nil {
				return nil, fmt.Errorf("find what %s needs: %w", file, err)
			}
			next = append(next, found[target])
		}
		if interpreter != "" {
			if loader, err = libraryIn(root, triplet, path.Base(interpreter)); err != nil {
				return nil, fmt.Errorf("find the loader of %s: %w", file, err)
			}
			place = interpreter
		}
	}
	if place != "" { // libc needs it too, but it belongs only where the kernel looks
		delete(found, path.Join("/lib", triplet, path.Base(place)))
		found[place] = loader
	}
	return found, nil
}

// wanted returns the loader and the libraries that an ELF file names.
func wanted(file string) (interpreter string, libraries []string, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	for _, segment := range f.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(io.LimitReader(segment.Open(), 4096)) // PATH_MAX
		if err != nil {
			return "", nil, err
		}
		interpreter = string(bytes.TrimRight(name, "\x00"))
	}
	libraries, err = f.ImportedLibraries()
	return interpreter, libraries, err
}

func libraryIn(root, triplet, name string) (string, error) {
	for _, dir := range []string{"lib", "usr/lib"} {
		file := filepath.Join(root, dir, triplet, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	return "", errors.New("no " + name + " in lib/" + triplet + " or usr/lib/" + triplet + " of the packages")
}
