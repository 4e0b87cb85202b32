package command

import (
	"context"
	"os"
	"path/filepath"
)

// Python is Debian's own: one of a version manager may be a script that starts other programs, and
// is linked to libraries in a home directory.
const Python = "/usr/bin/python3"

// NPM runs npm with a command and its arguments on the packages of dir. It runs no install scripts.
func NPM(ctx context.Context, dir string, args ...string) error {
	_, err := Output(ctx, "", "npm", append(args, "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")...)
	return err
}

// NodeModules returns the node_modules that the lock file in a folder names, installed in the cache
// by this run or by an earlier one.
func NodeModules(ctx context.Context, cache, folder string) (string, error) {
	files := []string{filepath.Join(folder, "package.json"), filepath.Join(folder, "package-lock.json")}
	key, err := Digest(files...)
	if err != nil {
		return "", err
	}
	dir, err := Installed(cache, filepath.Base(folder), key, func(dir string) error {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o644); err != nil {
				return err
			}
		}
		return NPM(ctx, dir, "ci", "--omit=dev")
	})
	return filepath.Join(dir, "node_modules"), err
}

// Pip installs the packages of a requirements file in dir, from wheels only.
func Pip(ctx context.Context, dir, requirements string, flags ...string) error {
	_, err := Output(ctx, "", Python, append([]string{"-m", "pip", "install", "--quiet", "--no-warn-script-location", "--only-binary=:all:",
		"--root-user-action=ignore", "--disable-pip-version-check", "--target", dir, "--requirement", requirements}, flags...)...)
	return err
}

// PythonPackages returns a folder with the packages of a requirements file, installed in the cache by
// this run or by an earlier one.
func PythonPackages(ctx context.Context, cache, requirements string) (string, error) {
	key, err := Digest(requirements)
	if err != nil {
		return "", err
	}
	return Installed(cache, "python", key, func(dir string) error { return Pip(ctx, dir, requirements) })
}
