// Package tree finds files of this repository for tests, whichever package they are in.
package tree

import (
	"os"
	"path/filepath"
)

// Path returns the absolute path of a file or directory by its path from the top of the repository: the directory
// with the file PROJECT, at or above the working directory. It panics outside the repository.
func Path(name string) string {
	here, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err == nil {
			return filepath.Join(dir, name)
		}
		if dir == filepath.Dir(dir) {
			panic("no file PROJECT at or above " + here)
		}
	}
}
